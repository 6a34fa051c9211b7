# The test binaries: built once, then run several side by side, or alone. Sourced by ./test.

# Tests that count, trace or time something of the whole process or machine live in the target `alone` of their crate. All
# others wait or compute, and bear company.
beside=$(($(nproc) + 1))
# A binary that runs longer hangs: by then what waits for an event has given it up (crates/testing/src/wait.rs). Those that drive
# other programs, guests and clusters one after another may take longer.
export binary_limit_s=${TAKT_BINARY_LIMIT_S:-400}
long_limit_s=900
features=takt/full

# builds_program: whether this turn needs a release build: turn 1 for a desktop that QEMU executes, turn 2 for rates.
builds_program() { [[ $turn = every || $turn = [12] ]]; }

# The program that others drive. Where no release build is needed, it is that of the tests.
program_under_test() {
    if builds_program; then echo "$PWD/target/release/takt"; else echo "$PWD/target/debug/takt"; fi
}

# build_tests LIST ARGUMENT...: compiles the tests of these packages, and what they need, in one go, and lists each test binary:
# folder of its crate, target, file.
build_tests() {
    local list=$1 artifacts=$1.json
    cargo test --features $features --no-run "${@:2}" \
        --message-format=json-render-diagnostics >"$artifacts" || return 1
    sed -n '/"test":true},"features"/s|.*"manifest_path":"\(.*\)/Cargo.toml","target":{.*"name":"\([^"]*\)","src_path".*"executable":"\([^"]*\)".*|\1 \2 \3|p' \
        "$artifacts" >"$list"
    # The longest first, so that the end is not one of them alone: those that call the program.
    { grep '/crates/cli ' "$list"; grep -e '/crates/load ' -e '/crates/udp ' -e '/crates/lab ' "$list"
      grep -v -e '/crates/cli ' -e '/crates/load ' -e '/crates/udp ' -e '/crates/lab ' "$list"; } >"$list.sorted"
    mv "$list.sorted" "$list"
    [ -s "$list" ]
}

# run_binary THREADS FOLDER TARGET FILE [ARGUMENT...]: one binary, its output in a log of its own, its end in a line. $runner is
# the program that executes it, if this machine can't.
run_binary() {
    local threads=$1 folder=$2 target=$3 file=$4 log status=0 began=$SECONDS end=ok
    log=$part_logs/${folder##*/}-${file##*/}.log
    (cd "$folder" && exec timeout --kill-after=10 "$binary_limit_s" ${runner:-} "$file" --test-threads="$threads" "${@:5}") >"$log" 2>&1 || status=$?
    case $status in
        0 | 101) ;; # libtest's own: all passed, some failed
        124) echo "${folder##*/}/$target ran past its limit of $binary_limit_s s" ;;
        *) echo "${folder##*/}/$target ended with status $status$( ((status < 128)) || echo ", signal $((status - 128))")" ;;
    esac >>"$log"
    case $status in 101 | 124) ! failed_once "$@" || status=0 ;; esac
    [ $status = 0 ] || end=FAILED
    printf '%-6s %4d s  %s/%s\n' $end $((SECONDS - began)) "${folder##*/}" "$target"
    [ $status = 0 ] || echo "$log" >>"$part_logs/failed"
    [ $status = 0 ] || { sed -n '/^failures:$/,$p' "$log" | grep -v '^test result' | head -n 100; return 1; }
}

# failed_once: runs again, one at a time, the tests that failed in run_binary, or hung, three at most. If they pass now, the machine
# may have made the difference: the summary says REPEATED with their names, and the log of the first time stays beside, as LOG.first.
# A run with more than repeated_max of them is red (parts.sh): so many are no accident.
failed_once() {
    local names
    if [ $status = 124 ]; then mapfile -t names < <(hung "$log"); else mapfile -t names < <(failed "$log"); fi
    ((${#names[@]} > 0 && ${#names[@]} <= 3)) || return 1
    (cd "$folder" && exec timeout --kill-after=10 "$binary_limit_s" ${runner:-} "$file" --test-threads=1 --exact "${names[@]}") \
        >"$log.again" 2>&1 || { cat "$log.again" >>"$log"; rm "$log.again"; return 1; }
    mv "$log" "$log.first"
    mv "$log.again" "$log"
    passed_first "$log.first" >>"$log"
    printf 'REPEATED: %s (%s/%s): failed once, passed alone\n' "${names[*]}" "${folder##*/}" "$target" >>"$TAKT_TEST_RECORD"
}

# failed LOG: names of the tests that libtest lists as failed.
failed() {
    sed -n '/^failures:$/h; //!H; ${x; p}' "$1" | sed -n 's/^    \([^ ]*\)$/\1/p'
}

# hung LOG: names of the tests that libtest said run long, and that have not ended. Tests that had to wait for them may never have
# begun, so there are none where a test is missing.
hung() {
    awk '/^running [0-9]+ test/ { all = $2 }
        /^test .* has been running for over/ { long[$2] = 1; next }
        /^test .* \.\.\. / { ended++; delete long[$2] }
        END { for (name in long) hung++; if (ended + hung == all) for (name in long) print name }' "$1"
}

# passed_first LOG: a line of libtest with the number of tests that passed the first time. A log of what hung has none: there they
# are counted.
passed_first() {
    sed -n 's/^test result: FAILED\. \([0-9]*\) passed; [0-9]* failed/test result: ok. \1 passed; 0 failed/p' "$1" | grep . ||
        echo "test result: ok. $(grep -c '^test .* \.\.\. ok$' "$1") passed; 0 failed"
}
export -f run_binary failed_once failed hung passed_first
# The tests of a procedural macro are linked with the standard library as the compiler has it.
LD_LIBRARY_PATH=$(rustc --print target-libdir)
export LD_LIBRARY_PATH

# run_binaries JOBS THREADS < lines of `binaries`
run_binaries() {
    mkdir -p "$part_logs"
    export part_logs
    xargs -P "$1" -L 1 bash -c 'run_binary "$0" "$@"' "$2"
}

side_by_side() {
    grep -v -e ' alone /' -e ' peers /' -e ' desktop /' -e ' aarch64 /' -e ' browser /' "$logs/binaries" | run_binaries "$beside" 4
}

# Guests and clusters take minutes of the program's tests alone: each kind has a part of its own.
guests='guest:: stopped_guest::'
clusters='cluster:: failures:: metrics:: ptp:: two_nodes::'

one_at_a_time() {
    sed -n "/ alone \//{\|/cli |s/\$/$(printf ' --skip %s' $guests $clusters)/; p}" "$logs/binaries" | run_binaries 1 1
}

guests_alone() {
    sed -n "\|/cli alone /|s/\$/ $guests/p" "$logs/binaries" | binary_limit_s=$long_limit_s run_binaries 1 1
}

clusters_alone() {
    sed -n "\|/cli alone /|s/\$/ $clusters/p" "$logs/binaries" | binary_limit_s=$long_limit_s run_binaries 1 1
}

# Other people's programs before the release build. Rates and latencies are measured, so they are alone; so is what drives an
# X310, since UHD's threads for one spin, and several programs at real-time priority keep each other from the processors.
peers_side_by_side() {
    sed -n '/ peers \//s/$/ --skip alone:: --skip x310/p' "$logs/binaries" | TAKT_PROGRAM=$(program_under_test) binary_limit_s=$long_limit_s run_binaries 1 3
}

# A Debian with systemd in a guest, which is executed in software: nothing it says is a time.
desktop() {
    grep ' desktop /' "$logs/binaries" | TAKT_PROGRAM=$(program_under_test) binary_limit_s=$long_limit_s run_binaries 1 1
}

peers_alone() {
    sed -n '/ peers \//s/$/ alone:: x310 --skip field:: --skip calibration:: --skip share::/p' "$logs/binaries" | TAKT_PROGRAM=$(program_under_test) binary_limit_s=$long_limit_s run_binaries 1 1
}

# Before slow radios: UHD's calibration programs fix rates that two cores don't carry.
peers_calibrate() {
    sed -n '/ peers \//s/$/ calibration::alone::/p' "$logs/binaries" | TAKT_PROGRAM=$(program_under_test) binary_limit_s=$long_limit_s run_binaries 1 1
}

# Eight programs before one front end, whose time passes slower.
peers_share() {
    sed -n '/ peers \//s/$/ share::alone::/p' "$logs/binaries" | TAKT_PROGRAM=$(program_under_test) binary_limit_s=$long_limit_s run_binaries 1 1
}

# Cases that people reported elsewhere.
peers_of_the_field() {
    sed -n '/ peers \//s/$/ field::alone::/p' "$logs/binaries" | TAKT_PROGRAM=$(program_under_test) binary_limit_s=$long_limit_s run_binaries 1 2
}
