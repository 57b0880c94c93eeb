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

test_all_that_the_command_writes_is_output() {
    local wanted=$'one\ntwo\nthree\nfour'

    expect 0 once k -- sh -c 'echo one; echo two >/dev/stdout
        echo three >>/dev/stdout; echo four >/proc/self/fd/1'
    same output "$wanted" "$out"
    expect 0 once k -- false
    same 'stored output' "$wanted" "$out"
    expect 0 once empty -- true
    expect 0 once empty -- false
    same 'empty output' '' "$out"
    "$HOLDFAST" once bytes -- printf 'a\0b' >out
    "$HOLDFAST" once bytes -- false >again
    same size 3 "$(stat -c %s out)"
    cmp out again || fail 'other bytes were stored'
}

test_of_a_large_output_the_first_mebibyte_is_stored() {
    "$HOLDFAST" once k -- head -c 5000000 /dev/zero >out 2>err
    same 'exit code' 0 $?
    same size 5000000 "$(stat -c %s out)"
    contains "$(cat err)" 'only the first 1048576 bytes are stored'
    "$HOLDFAST" once k -- false >out 2>err
    same 'exit code' 0 $?
    same 'stored size' 1048576 "$(stat -c %s out)"
}

# A process that the command leaves behind has its end of the pipe.
test_what_is_left_behind_holds_up_nothing() {
    expect 0 once k -- sh -c 'echo out; sleep 60 & echo $! >left'
    same output out "$out"
    kill "$(cat left)"
}

# Within a second: on a busy machine it may come later.
test_output_that_comes_a_moment_after_the_end_is_kept() {
    local key=k

    output_is_kept() {
        key+=k
        expect 0 once $key -- bash -c '
            exec > >(sed s/a/b/g >held; sleep 0.02; cat held)
            echo aaa'
        [ "$out" = bbb ]
    }
    eventually 10 output_is_kept
    expect 0 once $key -- false
    same 'stored output' bbb "$out"
}

test_an_output_that_never_ends_holds_up_nothing() {
    expect 0 once k -- sh -c 'while echo x; do sleep 0.02; done &'
    contains "$out" x
}

has_ended() {
    ! kill -0 "$1" 2>/dev/null || process_is Z "$1"
}

# holdfast takes output for another second.
test_a_signal_after_the_end_changes_nothing() {
    start once k -- sh -c 'while echo x; do sleep 0.02; done & echo $$ >leader'
    eventually 5 written leader
    eventually 5 has_ended "$(cat leader)"
    sleep 0.2
    kill -TERM "$pid"
    ends 0 "$pid"
    expect 0 once k -- false
    contains "$out" x
}

test_an_output_that_is_not_kept_leaves_doubt() {
    [ "$slower" = 1 ] || return 0 # a sanitizer needs more memory itself
    (ulimit -d 100000 && exec "$HOLDFAST" once --ttl "$(slowed 500)" k -- \
        head -c 300000000 /dev/zero) >/dev/null 2>err
    same 'exit code' 74 $?
    contains "$(cat err)" '"k" is in doubt: the output of its command was not'
    in_doubt k
}

test_a_full_standard_output_is_reported_once() {
    "$HOLDFAST" once k -- echo out >/dev/full 2>err
    same 'exit code' 71 $?
    same 'messages' 1 "$(wc -l <err)"
    contains "$(cat err)" 'holdfast: standard output: No space left'
    "$HOLDFAST" once k -- false >/dev/full 2>err
    same 'exit code' 71 $?
    same 'messages' 1 "$(wc -l <err)"
    "$HOLDFAST" once --show k >/dev/full 2>err
    same 'exit code' 71 $?
    same 'messages' 1 "$(wc -l <err)"
    expect 0 once k -- false
    same output out "$out"
}

test_to_look_at_a_key_excludes_a_command() {
    expect 0 once k -- echo out
    expect 64 once --show k -- touch ran
    contains "$err" 'once: --show and --delete exclude a command'
    expect 64 once --delete k -- touch ran
    expect 64 once --delete -c 'touch ran' k
    expect 64 once --show --delete k
    contains "$err" 'specify either --show or --delete'
    expect 0 once k -- touch ran
    same output out "$out"
    [ ! -e ran ] || fail 'the command was run'
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

test_a_key_or_an_option_that_is_invalid_is_wrong_usage() {
    expect 64 once '' -- true
    expect 64 once --keep 1m --period 1h k -- true
    expect 64 once --early 2h --period 1h k -- true
    expect 64 once --early 1m k -- true
    contains "$err" 'early_ms needs a period_ms'
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

# in_doubt KEY OPTION...: it is, and nothing is run.
in_doubt() {
    expect 74 once "${@:2}" "$1" -- sh -c 'echo ran >>runs'
    contains "$err" 'in doubt'
    [ ! -e runs ] || fail "$1 was run again"
}

# Start a command that exits with CODE when it is asked to end, with half of its
# work done: begin_half CODE OPTION... KEY
begin_half() {
    rm -f ready
    start once --ttl "$(slowed 1000)" "${@:2}" -- sh -c "trap 'exit $1' TERM HUP
        echo half | tee ready
        while :; do sleep 0.05; done"
    eventually 10 test -s ready
}

test_a_command_that_is_asked_to_end_leaves_doubt() {
    local code

    for code in 143 5 0; do
        begin_half $code "k$code"
        kill -TERM "$pid"
        ends $((code == 0 ? 74 : code)) "$pid"
        in_doubt "k$code"
    done
    same output half "$(tail -n 1 started)"
    begin_half 0 hup
    kill -HUP "$pid"
    ends 74 "$pid"
    in_doubt hup
}

test_a_command_that_is_asked_to_end_leaves_its_period_in_doubt() {
    local code

    for code in 143 0; do
        begin_half $code --period 24h "k$code"
        kill -TERM "$pid"
        ends $((code == 0 ? 74 : code)) "$pid"
        in_doubt "k$code" --period 24h
    done
}

test_a_command_that_is_ended_by_a_loss_leaves_doubt() {
    begin_half 0 --max-hold "$(slowed 300)" k
    ends 76 "$pid"
    in_doubt k
    begin_half 0 deleted
    expect 0 once --delete deleted
    ends 76 "$pid"
    expect 0 once deleted -- echo new
}

# What it has done by itself counts, however late that is found.
test_what_ends_while_holdfast_is_stopped_is_stored_later() {
    start once --ttl "$(slowed 1000)" k -- sh -c 'echo whole; echo >ready
        while [ ! -e stopped ]; do sleep 0.01; done'
    eventually 10 test -s ready
    kill -STOP "$pid"
    touch stopped
    in_doubt k
    kill -CONT "$pid"
    ends 0 "$pid"
    expect 0 once k -- false
    same output whole "$out"
}

# A claim that failed is not given to who waits for the lock that the key was:
# that is only woken.
test_a_waiter_for_a_lock_is_not_given_a_claim() {
    local second

    start run --ttl "$(slowed 1000)" k -- sleep 60
    first=$pid
    eventually 10 "$HOLDFAST" lock inspect k >/dev/null
    start run k -- echo had the lock
    second=$pid
    eventually 10 has_a_waiter k
    kill -STOP "$second"
    kill -KILL "$first"
    ends 137 "$first"
    claimed_and_failed() {
        "$HOLDFAST" once -n k -- sh -c 'exit 127' >out 2>err
        [ $? = 127 ]
    }
    eventually 10 claimed_and_failed
    same stderr '' "$(cat err)"
    expect 1 once --show k
    kill -CONT "$second"
    ends 0 "$second"
}

has_a_waiter() {
    "$HOLDFAST" lock inspect --json "$1" 2>err | grep -q '"waiters":1'
}
