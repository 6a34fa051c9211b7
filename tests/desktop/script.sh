#!/bin/bash
# A person's steps on a desktop, in the order of the documentation. Runs inside the guest, as an ordinary user who may
# use sudo; main.rs reads what it says. Each part begins with a line `=== NAME` and ends with `=== STATUS`.
exec 2>&1
cd "$(dirname "$0")"
export COLUMNS=200 TERM=dumb
takt=$PWD/target/release/takt

say() {
    local name=$1 status=0
    shift
    echo "=== $name"
    "$@" </dev/null || status=$?
    echo "=== $status"
}

# The fix that the doctor prints for a rule, typed as it is printed; --yes, since nobody is there to be asked.
typed_fix() {
    local command
    command=$("$takt" doctor | sed -n '/socket-buffer-small/,/prove/s/^ *fix *//p' | head -n 1)
    echo "typed $command"
    sh -c "$command --yes"
}

owners() {
    find takt-runs -printf '%u %p\n'
}

what_is_left() {
    ls /sys/fs/cgroup | grep '^takt' || true
    ls /run/netns 2>/dev/null | grep '^takt' || true
    sudo "$takt" clean
}

say "cgroup tree" stat --file-system --format %T /sys/fs/cgroup
say "own group" cat /proc/self/cgroup
say "doctor" "$takt" doctor
say "check" "$takt" check --quick --file check.toml --json
say "check with sudo" sudo "$takt" check --quick --file check.toml --json
say "owners" owners
say "check again" "$takt" check --quick --file check.toml --json
say "quota" sudo "$takt" experiment run quota.toml
say "before the fix" /sbin/sysctl -n net.core.rmem_max
say "fix" typed_fix
say "after the fix" /sbin/sysctl -n net.core.rmem_max
say "undo" sudo "$takt" doctor --undo
say "after the undo" /sbin/sysctl -n net.core.rmem_max
say "left" what_is_left
echo "=== end"
