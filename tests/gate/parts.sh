# Parts of a run: each has a name, a log, a time and an end; the summary says them all in the last lines.
# Sourced by ./test. Needs nothing but bash and awk.

logs=$PWD/target/test-logs
# Skips and outcomes that were not judged; see crates/testing.
export TAKT_TEST_RECORD=$logs/record
# More than this is a machine that decides the outcome, not the code.
not_judged_max=${TAKT_NOT_JUDGED_MAX:-6}

begin_run() {
    rm -rf "$logs"
    mkdir -p "$logs"
    : >"$TAKT_TEST_RECORD"
    : >"$logs/parts"
    run_began=$SECONDS
}

# part NAME COMMAND...: runs the command with its output in a log, and shows which tests it runs and how they end. The
# logs of its test binaries lie in a folder beside it, $part_logs.
part() {
    local name=$1 began=$SECONDS state=ok
    part_logs=$logs/$(tr -cs 'a-zA-Z0-9\n' '-' <<<"$name")
    shift
    printf '== %s\n' "$name"
    if ! "$@" 2>&1 | tee "$part_logs.log" | { grep --line-buffered -E '^(ok|FAILED) |^fuzz: |^test result' || true; }; then
        state=FAILED
        printf -- '-- %s failed; %s.log ends with\n' "$name" "$part_logs"
        tail -n 80 "$part_logs.log"
    fi
    printf '%s|%s|%s|%s\n' "$name" $((SECONDS - began)) "$state" "$part_logs" >>"$logs/parts"
    printf '   %s, %s\n' "$state" "$(clock $((SECONDS - began)))"
    [ "$state" = ok ]
}

# needs_room GIB: what a run from nothing writes; what an earlier one wrote is written over. A full disk fails part after
# part, each with another reason.
needs_room() {
    local free_kib there_kib=0
    free_kib=$(df --output=avail -k . | tail -n 1)
    [ "$free_kib" -lt $(($1 << 20)) ] || return 0
    there_kib=$(du -sck target fuzz/target 2>/dev/null | tail -n 1 | cut -f 1) || true
    [ $((free_kib + there_kib)) -lt $(($1 << 20)) ] || return 0
    echo "error: $((free_kib >> 20)) GiB are free in $PWD; a run takes $1 GiB" >&2
    echo "  fix   free $(($1 - (free_kib + there_kib >> 20))) GiB there, or run it on another disk" >&2
    return 1
}

clock() {
    printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# Passed and failed tests in these logs, as libtest counts them.
counts() {
    cat "$@" /dev/null 2>/dev/null | awk '/^test result:/ { passed += $4; failed += $6 } END { print passed + 0, failed + 0 }'
}

# The logs of a part: its own, and those of the test binaries that it ran.
logs_of() {
    find "$1.log" "$1" -name '*.log' 2>/dev/null
}

# The logs of a part that say why it failed: those of the test binaries that failed, else its own.
logs_of_failed() {
    local failed=()
    [ ! -s "$1/failed" ] || mapfile -t failed <"$1/failed"
    if [ ${#failed[@]} -gt 0 ]; then printf '%s\n' "${failed[@]}"; else echo "$1.log"; fi
}

# Where each failed test of these logs stopped, and what it says: two lines each.
assertions() {
    awk '
        FNR == 1 { show = 0 }
        /panicked at / { sub(/^.*thread /, "thread "); print "  " $0; show = 1; next }
        show && NF { print "    " $0; show = 0 }
        /^error(\[|:)/ { print "  " $0 }
        /ran past its limit|ended with status/ { print "  " $0 }
    ' "$@"
}

# What ran, how long each part took, what failed with its assertion, what was skipped or not judged. Ends with the answer.
summary() {
    local name seconds state logs_at file passed failed all_passed=0 all_failed=0 bad=0 skipped not_judged
    printf '\n%-44s %7s %7s %7s\n' part took passed failed
    while IFS='|' read -r name seconds state logs_at; do
        mapfile -t files < <(logs_of "$logs_at")
        read -r passed failed < <(counts "${files[@]}")
        all_passed=$((all_passed + passed)) all_failed=$((all_failed + failed))
        [ "$state" = ok ] || bad=$((bad + 1))
        printf '%-44s %7s %7s %7s  %s\n' "$name" "$(clock "$seconds")" "$passed" "$failed" "${state#ok}"
    done <"$logs/parts"
    printf '%-44s %7s %7s %7s\n' all "$(clock $((SECONDS - run_began)))" $all_passed $all_failed
    skipped=$(grep -c '^SKIPPED' "$TAKT_TEST_RECORD" || true)
    not_judged=$(grep -c '^NOT JUDGED' "$TAKT_TEST_RECORD" || true)
    for name in SKIPPED 'NOT JUDGED' REPEATED; do
        { grep "^$name" "$TAKT_TEST_RECORD" || true; } | sort -u | cut -c 1-200
    done
    while IFS='|' read -r name seconds state logs_at; do
        [ "$state" = ok ] && continue
        printf 'FAILED: %s   (%s)\n' "$name" "$logs_at.log"
        mapfile -t files < <(logs_of_failed "$logs_at")
        for file in "${files[@]}"; do
            assertions "$file" | tail -n 8 | grep . || tail -n 4 "$file"
        done | cut -c 1-300 | head -n 24
    done <"$logs/parts"
    if [ "$not_judged" -gt "$not_judged_max" ]; then
        printf 'FAILED: %s outcomes were not judged, at most %s may be: this machine is too busy to say anything\n' \
            "$not_judged" "$not_judged_max"
        bad=$((bad + 1))
    fi
    printf '%s of %s parts failed, %s outcomes were not judged\n' "$bad" "$(wc -l <"$logs/parts")" "$not_judged"
    printf '%s passed, %s failed, %s skipped\n' $all_passed $all_failed "$skipped"
    [ "$bad" = 0 ]
}
