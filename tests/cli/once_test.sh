# SPDX-License-Identifier: Apache-2.0
#
# once_test.sh - once: what a command leaves for the next one, and how it ends.

# Run a command that writes `ran` to the file `runs`.
once() {
    expect "$1" once "${@:2}" -- sh -c 'echo ran >>runs; echo "out $$"; exit 3'
}

runs() {
    wc -l <runs | tr -d ' '
}

test_it_runs_once_and_its_output_and_code_are_found() {
    once 3 k
    first=$out
    [[ "$first" =~ ^out\ [0-9]+$ ]] || fail "output: $first"
    once 3 k
    same output "$first" "$out"
    same runs 1 "$(runs)"
    expect 0 once k2 -- sh -c 'echo "$HOLDFAST_NAME"; printf "a\0b" | wc -c'
    contains "$out" k2
    expect 0 once --show --json k
    contains "$out" '"state":"done"'
    contains "$out" '"status":3'
    expect 0 once --delete k
    expect 1 once --show k
    once 3 k
    same runs 2 "$(runs)"
}

is_claimed() {
    out=$("$HOLDFAST" once --show --json "$1" 2>err)
    case $out in *'"state":"claimed"'*"\"waiters\":$2}"*) ;; *) return 1 ;; esac
}

test_another_waits_for_the_result_or_not_at_all() {
    start once k -- sh -c 'until [ -e go ]; do sleep 0.02; done; echo done; exit 4'
    first=$pid
    eventually 10 is_claimed k 0
    expect 1 once -n k -- true
    contains "$err" 'once: work "k" is held by'
    expect 9 once -w 0.05 -E 9 k -- true
    start once k -- echo other
    second=$pid
    eventually 10 is_claimed k 1
    : >go
    ends 4 "$first"
    ends 4 "$second"
}

test_a_command_that_is_killed_leaves_doubt() {
    expect 137 once --ttl 0.5 k -- sh -c 'echo ran >>runs; kill -KILL $$'
    contains "$err" 'in doubt'
    expect 74 once k -- sh -c 'echo ran >>runs'
    contains "$err" '--retry-doubt'
    same runs 1 "$(runs)"
    expect 0 once --show k
    contains "$out" 'state: in doubt'
    expect 0 once --retry-doubt k -- echo again
    expect 0 once k -- echo never
    same output again "$out"
}

test_a_holdfast_that_is_killed_leaves_doubt() {
    start once --ttl 0.5 k -- sleep 60
    eventually 10 is_claimed k 0
    kill -KILL "$pid"
    ends 137 "$pid"
    expect 74 once k -- true
}

test_what_did_not_run_may_run() {
    expect 127 once k -- ./no-such-command
    once 3 k
    same runs 1 "$(runs)"
}

test_a_failure_may_be_retried() {
    once 3 --on-failure retry k
    once 3 --on-failure retry k
    same runs 2 "$(runs)"
    expect 0 once --on-failure retry k -- echo well
    once 0 k
    same output well "$out"
    same runs 2 "$(runs)"
}

test_another_fingerprint_is_refused() {
    echo body >body
    expect 0 once --fingerprint-file body k -- echo a
    expect 0 once --fingerprint-file body k -- echo b
    same output a "$out"
    expect 65 once --fingerprint other k -- echo b
    contains "$err" '"k" was claimed with another fingerprint'
    expect 65 once k -- echo b
    expect 64 once --fingerprint a --fingerprint-file body k -- true
    expect 66 once --fingerprint-file none k -- true
}

# Two that start in the same tick, the second when the first has ended; ticks
# may begin between them, but not twenty times.
test_a_period_has_one_run() {
    for _ in $(seq 20); do
        expect 0 once --period 1h k -- sh -c 'echo ran >>runs'
    done
    same runs 1 "$(runs)"
    expect 0 once --show k
    contains "$out" 'tick: '
    expect 0 once --period 0.5 p -- sh -c 'echo ran >>ticks'
    ran_again() {
        expect 0 once --period 0.5 p -- sh -c 'echo ran >>ticks'
        [ "$(wc -l <ticks)" -ge 3 ]
    }
    eventually 20 ran_again
}

test_a_failure_may_be_retried_within_its_period() {
    once 3 --period 1h k
    expect 0 once --period 1h k -- echo well
    once 0 --period 1h k
    same output well "$out"
    same runs 1 "$(runs)"
}

test_signals_are_forwarded() {
    start once k -- sh -c 'trap "echo told; exit 5" TERM; echo >ready
        while :; do sleep 0.05; done'
    eventually 10 test -s ready
    kill -TERM "$pid"
    ends 5 "$pid"
    expect 5 once k -- true
    same output told "$out"
}
