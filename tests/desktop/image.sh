#!/bin/sh
# A small Debian with systemd, a user and sudo, as an archive that a kernel unpacks: image.sh FILE
# Needs mmdebstrap, cpio and zstd, and root or user namespaces; takes a minute, and 90 MB.
set -eu
image=$1
# takt is linked with the C library of this machine, so the guest's must be as new.
suite=$(. /etc/os-release && [ "$ID" = debian ] && echo "$VERSION_CODENAME" || echo stable)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mmdebstrap --quiet --variant=minbase \
    --include=systemd,systemd-sysv,dbus,libpam-systemd,sudo,kmod,procps,iproute2 \
    --customize-hook='chroot "$1" useradd --create-home --shell /bin/bash user' \
    --customize-hook='echo "user ALL=(ALL) NOPASSWD: ALL" >"$1/etc/sudoers.d/user"' \
    --customize-hook='echo desktop >"$1/etc/hostname"; echo "127.0.0.1 localhost desktop" >"$1/etc/hosts"' \
    --customize-hook='rm -rf "$1"/usr/share/doc "$1"/usr/share/man "$1"/usr/share/locale "$1"/usr/share/zoneinfo' \
    --customize-hook='ln -s /lib/systemd/systemd "$1/init"' \
    --customize-hook='(cd "$1" && find . -xdev -print0 | cpio --null --create --format=newc --quiet) >"'"$tree"'/cpio"' \
    --format=null "$suite"
zstd -q -3 "$tree/cpio" -o "$tree/zst"
mv "$tree/zst" "$image"
