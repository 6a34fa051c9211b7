# All tests, built for aarch64 and executed by QEMU's user emulation: each, and each program that it starts. Sourced by ./test.
#
# QEMU translates one program. That what a program starts is translated too is the kernel's doing (binfmt_misc), which user
# namespaces have of their own since Linux 6.7: the machine itself does not learn of it, and nothing outlives the run.

aarch64=aarch64-unknown-linux-gnu
# Tests that are left out, one by one, with the reason. All others must pass.
left_out=$PWD/tests/gate/aarch64-left-out

# How cargo builds for it. The linker is the compiler's own.
for_aarch64() {
    local linker
    linker=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/gcc-ld
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    [ ! -d "$linker" ] || export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS="-Clink-arg=-B$linker -Clink-arg=-fuse-ld=lld"
    export CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0
}

# Everything takt has, and its tests.
build_aarch64() {
    for_aarch64
    build_tests "$logs/binaries.aarch64" --workspace --target $aarch64
}

# emulated COMMAND...: the command where a program for aarch64 runs, with the same standard input.
emulated() {
    local inside
    if [ "$(id -u)" != 0 ]; then
        unshare --map-root-user --mount --net tests/gate/inside.sh \
            unshare --map-user="$(id -u)" --map-group="$(id -g)" "$@"
        return
    fi
    # It waits for its user's number in the namespace: without one it would have no rights there.
    unshare --user --mount --net bash -c 'until grep -q . /proc/self/gid_map; do sleep 0.05; done; exec "$@"' emulated \
        tests/gate/inside.sh "$@" <&0 &
    inside=$!
    while [ "$(readlink /proc/self/ns/user)" = "$(readlink /proc/$inside/ns/user)" ]; do sleep 0.05; done
    # All users are there whom this one sees, by the same numbers.
    awk '{ print $1, $1, $3 }' /proc/self/uid_map >/proc/$inside/uid_map &&
        awk '{ print $1, $1, $3 }' /proc/self/gid_map >/proc/$inside/gid_map || kill $inside
    wait $inside
}

# Environment of the tests there: libraries, a processor that there is (as in a Raspberry Pi 4). Real-time priority is nothing
# that a user namespace gives, and QEMU knows neither BPF nor io_uring: tests that need them are skipped, on record.
emulated_env() {
    emulated env --unset=TAKT_NO_SKIP QEMU_LD_PREFIX=/usr/aarch64-linux-gnu QEMU_CPU=cortex-a72 \
        binary_limit_s="${TAKT_BINARY_LIMIT_S:-3600}" "$@"
}

# Lines of `binaries` less what is left out: all binaries of a crate or a whole one by `*`, a test by its name.
not_left_out() {
    awk 'FNR == NR { if (/^[^#]/ && NF) { if ($2 == "*") whole[$1]; else skip[$1] = skip[$1] " --skip " $2 }; next }
        { crate = $1; sub(".*/", "", crate); key = crate "/" $2 }
        !(key in whole) && !(crate "/*" in whole) { print $0 skip[key] }' "$left_out" "$@"
}

# left_out_is_true BINARIES: each line of the list is about a binary and a test that there is. A renamed test would be left out no
# more, or for nothing.
left_out_is_true() {
    local at test reason bad=0 file
    while read -r at test reason; do
        file=$(awk -v at="$at" '{ crate = $1; sub(".*/", "", crate) }
            crate "/" $2 == at || crate "/*" == at { print $3; exit }' "$1")
        if [ -z "$file" ]; then echo "error: $left_out: there is no $at"
        elif [ -z "$reason" ]; then echo "error: $left_out: $at $test has no reason"
        elif [ "$test" = '*' ] || grep -qF -- "$test" <<<"$("$file" --list 2>/dev/null)"; then continue
        else echo "error: $left_out: $at has no test $test"; fi
        bad=1
    done < <(grep '^[^#]' "$left_out")
    return $bad
}
export -f left_out_is_true
export left_out

# Translated, radios and nodes answer too late beside others, and no slot of a study counts: they are alone, too.
waits_for_others=(-e ' alone /' -e '/cli radio /' -e '/cli cluster /' -e '/cli waveform /' -e '/cli paper /')

all_emulated() {
    local bad=0
    emulated_env bash -c 'left_out_is_true "$0"' "$logs/binaries.aarch64" || return 1
    run_emulated "$beside" 4 < <(grep -v "${waits_for_others[@]}" "$logs/binaries.aarch64" | not_left_out -) || bad=1
    run_emulated 1 1 < <(grep "${waits_for_others[@]}" "$logs/binaries.aarch64" | not_left_out -) || bad=1
    by_crate
    return $bad
}

# run_emulated JOBS THREADS < lines of `binaries`
run_emulated() {
    mkdir -p "$part_logs"
    export part_logs
    emulated_env xargs --no-run-if-empty -P "$1" -L 1 bash -c 'run_binary "$0" "$@"' "$2"
}

# A row a crate: tests that passed, that were skipped on record, that are left out by name, that failed. Nobody knows how many there
# are in a binary that is left out whole.
by_crate() {
    local crate of_crate
    for crate in $(sed 's| .*||; s|.*/||' "$logs/binaries.aarch64" | sort -u); do
        # crate-target-hash.log: neither of the last two has a hyphen, and the name of a crate may have one.
        mapfile -t of_crate < <(find "$part_logs" -regex ".*/$crate-[^-/]+-[^-/]+\.log")
        # The last result of a log is the binary's own; those before it are of programs that it started.
        awk -v crate="$crate" '
            match($0, /SKIPPED: [^ ]+/) { skipped[substr($0, RSTART, RLENGTH)] }
            /^test result:/ { last[FILENAME] = $0 }
            END {
                for (log_of in last) {
                    words = split(last[log_of], word, " ")
                    passed += word[4]; failed += word[6]
                    for (n = 1; n < words; n++) if (word[n + 1] == "filtered") left_out += word[n]
                }
                printf "| %s | %d | %d | %d | %d |\n", crate, passed - length(skipped), length(skipped), left_out, failed
            }' "${of_crate[@]}" /dev/null
    done
}
