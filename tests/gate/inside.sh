#!/usr/bin/env bash
# Executes a command where programs for aarch64 run, in new namespaces. Called by `emulated` in aarch64.sh, as root there.
set -euo pipefail

ip link set lo up
# The ports of a software radio are among those that sockets are given: at any address, such a port is taken at every one.
echo 49150-49200 >/proc/sys/net/ipv4/ip_local_reserved_ports
# Named namespaces and takt's records are this run's own. They end with it.
for own in /run/netns /run/takt; do
    # An ordinary user can't make the folder: tests then find no such rights either.
    mkdir -p $own 2>/dev/null || continue
    mount -t tmpfs tmpfs $own
done
# Interfaces are those of the new network namespace; control groups are this machine's.
groups=$(mktemp -d)
mount --rbind /sys/fs/cgroup "$groups"
mount -t sysfs sysfs /sys
mount --rbind "$groups" /sys/fs/cgroup
umount -l "$groups"
rmdir "$groups"

if ! mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc; then
    echo "error: no emulator can be registered in a user namespace" >&2
    echo "  fix   Linux 6.7 or newer, with CONFIG_BINFMT_MISC (modprobe binfmt_misc)" >&2
    exit 1
fi
# Magic and mask of a 64-bit, little-endian program or library for EM_AARCH64 (183). F: QEMU is found in every file system;
# P: argv[0] is what it was.
program='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf '%s' ":takt-aarch64:M::$program:$mask:$(command -v qemu-aarch64):FP" >/proc/sys/fs/binfmt_misc/register

exec "$@"
