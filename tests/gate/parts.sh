# Parts of a run: each has a name, a budget, a log, a time and an end; the summary says them all in the last lines.
# Sourced by ./test. Needs nothing but bash and awk. tests/gate/try tests it.

logs=$PWD/target/test-logs
# Skips and outcomes that were not judged (see crates/testing), and what could not be asked.
export TAKT_TEST_RECORD=$logs/record
# A tenth of the tests that may leave their outcome open. Beyond it the machine decides, not the code.
not_judged_max=${TAKT_NOT_JUDGED_MAX:-12}
# Tests that failed and then passed alone. More than this is a fault of the tests, or of takt.
repeated_max=6
# Parts are listed, and nothing runs.
listing=${listing:-false}

# All parts together take too long for each landing, so some run in one of four turns. This file holds the number of the landing.
# Raise it by one with each landing: four numbers in a row then run every part. The count of commits can't promise that, since a
# landing has many, and a shallow clone counts fewer. A number in the tree is the same in every clone.
turn_file=$PWD/tests/gate/turn
turns=4
# The turn that runs, or `every`.
turn=${turn:-}

# turn_of_landing: the turn that the file says, or an error.
turn_of_landing() {
    local landing
    landing=$(cat "$turn_file") || return 1
    if ! [[ $landing =~ ^[1-9][0-9]{0,8}$ ]]; then
        echo "error: $turn_file says \"$landing\", and a landing has a number from 1 on" >&2
        echo "  fix   write the number of the last landing there, plus one" >&2
        return 1
    fi
    echo $(((landing - 1) % turns + 1))
}

# begin_run [BUDGET]: the budget is that of the whole run.
begin_run() {
    run_budget=${1:-}
    run_began=$SECONDS
    ! $listing || return 0
    rm -rf "$logs"
    mkdir -p "$logs"
    : >"$TAKT_TEST_RECORD"
    : >"$logs/parts"
}

# part BUDGET NAME COMMAND...: runs the command with its output in a log, and shows which tests it runs and how they end. The
# logs of its test binaries lie in a folder beside it, $part_logs. The budget is minutes:seconds.
part() {
    local budget=$1 name=$2 began=$SECONDS state=ok
    part_logs=$logs/$(tr -cs 'a-zA-Z0-9\n' '-' <<<"$name")
    shift 2
    if $listing; then
        printf '%-7s %6s  %s\n' "${of_turn:-always}" "$budget" "$name"
        return 0
    fi
    printf '== %s\n' "$name"
    if ! "$@" 2>&1 | tee "$part_logs.log" | { grep --line-buffered -E '^(ok|FAILED) |^fuzz: |^test result' || true; }; then
        state=FAILED
        printf -- '-- %s failed; %s.log ends with\n' "$name" "$part_logs"
        tail -n 80 "$part_logs.log"
    fi
    note_part "$name" $((SECONDS - began)) "$budget" "$state" "$part_logs"
    printf '   %s, %s\n' "$state" "$(clock $((SECONDS - began)))"
    [ "$state" = ok ]
}

# in_turn TURN BUDGET NAME COMMAND...: a part if it is its turn. Otherwise it waits, and the summary says for which one.
in_turn() {
    local of_turn="turn $1"
    if [ "$turn" = every ] || [ "$turn" = "$1" ]; then
        part "${@:2}"
    elif ! $listing; then
        note_part "$3" 0 "$2" "waits for turn $1" ''
    fi
}

# note_part NAME SECONDS BUDGET STATE LOGS
note_part() {
    (IFS='|' && printf '%s\n' "$*") >>"$logs/parts"
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

# The seconds of minutes:seconds.
seconds_of() {
    echo $((10#${1%:*} * 60 + 10#${1#*:}))
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

# Place and message of each failed test in these logs: two lines each.
assertions() {
    awk '
        FNR == 1 { show = 0 }
        /panicked at / { sub(/^.*thread /, "thread "); print "  " $0; show = 1; next }
        show && NF { print "    " $0; show = 0 }
        /^error(\[|:)/ { print "  " $0 }
        /ran past its limit|ended with status|has been running for over/ { print "  " $0 }
        /^fuzz: .* FAILED|^SUMMARY: |ERROR: libFuzzer/ { print "  " $0 }
    ' "$@"
}

# say_over_budget NAME SECONDS BUDGET: a line if the part took longer. It is not red for that: machines differ.
say_over_budget() {
    [ "$2" -le "$(seconds_of "$3")" ] || printf 'over budget: %s %s of %s\n' "$1" "$(clock "$2")" "$3"
}

# The turn that ran, and the number to write for the next.
say_turn() {
    case $turn in
        '') return 0 ;;
        every) echo "every turn ran"; return 0 ;;
    esac
    local landing next
    landing=$(cat "$turn_file")
    if [ "$(turn_of_landing)" != "$turn" ]; then
        echo "turn $turn of $turns ran, by request: tests/gate/turn is $landing, which is turn $(turn_of_landing)"
        return 0
    fi
    next=$((landing + 1))
    echo "turn $turn of $turns ran, since tests/gate/turn is $landing: write $next there for the next landing, turn $(((next - 1) % turns + 1))"
}

# Parts that ran, how long each took and might take, those that wait for their turn, failures with their assertions, and tests that
# were skipped or not judged. Ends with the answer.
summary() {
    local name seconds budget state logs_at file passed failed all_passed=0 all_failed=0 ran=0 waiting=0 bad=0 skipped not_judged took
    local row='%-44s %7s %7s %7s %7s  %s\n'
    ! $listing || return 0
    took=$((SECONDS - run_began))
    # shellcheck disable=SC2059 # the format is a row of the table
    {
        printf "\n$row" part took budget passed failed ''
        while IFS='|' read -r name seconds budget state logs_at; do
            if [[ $state == waits* ]]; then
                waiting=$((waiting + 1))
                printf "$row" "$name" - "$budget" - - "$state"
                continue
            fi
            mapfile -t files < <(logs_of "$logs_at")
            read -r passed failed < <(counts "${files[@]}")
            all_passed=$((all_passed + passed)) all_failed=$((all_failed + failed)) ran=$((ran + 1))
            [ "$state" = ok ] || bad=$((bad + 1))
            printf "$row" "$name" "$(clock "$seconds")" "$budget" "$passed" "$failed" "${state#ok}"
        done <"$logs/parts"
        printf "$row" all "$(clock $took)" "$run_budget" $all_passed $all_failed ''
    }
    skipped=$(grep -c '^SKIPPED' "$TAKT_TEST_RECORD" || true)
    not_judged=$(grep -c '^NOT JUDGED' "$TAKT_TEST_RECORD" || true)
    while IFS='|' read -r name seconds budget state logs_at; do
        [ "$state" = FAILED ] || continue
        printf 'FAILED: %s   (%s)\n' "$name" "$logs_at.log"
        mapfile -t files < <(logs_of_failed "$logs_at")
        for file in "${files[@]}"; do
            assertions "$file" | tail -n 8 | grep . || tail -n 4 "$file"
        done | cut -c 1-300 | head -n 24
    done <"$logs/parts"
    for name in SKIPPED 'NOT JUDGED' 'NOT ASKED' REPEATED; do
        { grep "^$name" "$TAKT_TEST_RECORD" || true; } | sort -u | cut -c 1-200
    done
    if [ "$not_judged" -gt "$not_judged_max" ]; then
        printf 'FAILED: %s outcomes were not judged, at most %s may be: this machine is too busy to say anything\n' \
            "$not_judged" "$not_judged_max"
        bad=$((bad + 1))
    fi
    repeated=$(grep -c '^REPEATED: .*failed once, passed alone$' "$TAKT_TEST_RECORD" || true)
    if [ "$repeated" -gt "$repeated_max" ]; then
        printf 'FAILED: %s binaries passed only at their second attempt, at most %s may\n' "$repeated" "$repeated_max"
        bad=$((bad + 1))
    fi
    while IFS='|' read -r name seconds budget state logs_at; do
        say_over_budget "$name" "$seconds" "$budget"
    done <"$logs/parts"
    [ -z "$run_budget" ] || say_over_budget all "$took" "$run_budget"
    say_turn
    printf '%s of %s parts failed, %s wait for another turn, %s outcomes were not judged\n' "$bad" "$ran" "$waiting" "$not_judged"
    printf '%s passed, %s failed, %s skipped\n' $all_passed $all_failed "$skipped"
    [ "$bad" = 0 ]
}
