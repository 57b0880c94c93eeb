# SPDX-License-Identifier: Apache-2.0
#
# keep_test.sh - lock acquire, renew and release: a lock for a shell, which a
# keeper renews until it is released or the shell has ended.

# acquire CODE ARGUMENT...: as `expect`, but into $lock, and for this shell.
acquire() {
    local wanted=$1 shell=$BASHPID code
    shift

    lock=$("$HOLDFAST" lock acquire --keep-pid "$shell" "$@" 2>err)
    code=$?
    err=$(cat err)
    [ "$code" = "$wanted" ] || fail "exit code $code, not $wanted; stderr: $err"
}

is_free() {
    expect_any lock inspect "$1"
    [ "${out%%$'\n'*}" = 'held: no' ]
}

is_held() {
    ! is_free "$1"
}

expect_any() {
    out=$("$HOLDFAST" "$@" 2>err)
}

# The keeper of a lock, once it has registered, is $keeper.
keeper_of() {
    expect_any lock inspect --json "$1"
    keeper=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' <<<"$out")
    [ -n "$keeper" ]
}

# script TEXT: by a shell of its own.
script() {
    /bin/sh -c "$1" holdfast "$HOLDFAST"
}

test_a_handle_is_for_renew_and_release() {
    acquire 0 x
    [[ "$lock" =~ ^[1-9][0-9]+:k1:[0-9a-f]{32}$ ]] || fail "handle: $lock"
    expect 1 run -n x true
    expect 0 lock renew "$lock"
    same stdout '' "$out"
    expect 0 lock renew --json "$lock"
    json 'd["name"] == "x" and d["held"] and d["remaining_ms"] > 15000'
    json "d['token'] == ${lock%%:*}"
    expect 0 value set v 1 --token "${lock%%:*}"
    expect 0 lock release "$lock"
    is_free x || fail 'it is held'
    expect 76 lock release "$lock"
    contains "$err" 'lock release: the lock is not held'
    expect 76 lock renew "$lock"
}

test_it_is_renewed() {
    acquire 0 --ttl "$(slowed 300)" x
    sleep 1
    is_held x || fail 'it is free'
    expect 0 lock renew "$lock"
    expect 0 lock release "$lock"
}

test_refused() {
    acquire 0 x
    acquire 1 -n x
    contains "$err" 'lock acquire: lock "x" is held by'
    acquire 1 -q -n x
    same stderr '' "$err"
    same handle '' "$lock"
    acquire 5 -w 0.05 -E 5 --verbose x
    contains "$err" 'lock acquire: lock "x" is held by'
    acquire 0 --permits 2 s
    acquire 0 --permits 2 s
    acquire 1 --permits 2 -n s
}

test_it_ends_with_the_shell() {
    out=$(script 'lock=$("$1" lock acquire x 2>&1) && "$1" lock renew "$lock" &&
        "$1" lock inspect x | head -1')
    same 'in the script' 'held: yes' "$out"
    eventually 10 is_free x
    /bin/sh -c 'lock=`"$1" lock acquire x` && echo >held && exec sleep 60' \
        holdfast "$HOLDFAST" &
    pid=$!
    eventually 10 written held
    is_held x || fail 'it is free'
    kill -KILL "$pid"
    eventually 10 is_free x
}

# A subshell that ends with the command is not the shell.
test_substitutions_return_at_once() {
    local began=$(now_ms)

    out=$(script 'lock=$("$1" lock acquire x 2>&1; echo $?) &&
        "$1" lock renew "${lock%?0}" && echo "held, $(echo "$lock" | wc -l)"')
    within 3000 "$began"
    same output 'held, 2' "$out"
    eventually 10 is_free x
}

test_it_does_not_guess_which_process_is_the_shell() {
    script 'timeout 10 "$1" lock acquire x | cat' >out 2>err
    same output '' "$(cat out)"
    contains "$(cat err)" 'cannot tell which process is the shell'
    is_free x || fail 'it is held'
    setsid /bin/sh -c '(while kill -0 "$$" 2>/dev/null; do sleep 0.02; done
        exec "$1" lock acquire x) >handle 2>orphan &' holdfast "$HOLDFAST"
    eventually 10 written orphan
    same handle '' "$(cat handle)"
    contains "$(cat orphan)" 'cannot tell which process is the shell'
    expect 64 lock acquire --keep-pid 0 x
    expect 64 lock acquire --keep-pid 2147483647 x
    contains "$err" 'no process 2147483647'
}

test_keep_pid() {
    sleep 60 &
    pid=$!
    lock=$("$HOLDFAST" lock acquire --keep-pid "$pid" x)
    expect 0 lock renew "$lock"
    kill "$pid"
    eventually 10 is_free x
}

test_the_loss_of_the_lock() {
    trap 'echo >told' USR1
    acquire 0 --ttl "$(slowed 300)" --signal USR1 x
    expect 0 lock break x
    eventually 10 written told
    expect 76 lock renew "$lock"
    contains "$err" 'lock renew: lock "x" lost: '
    expect 0 run -n x true
    expect 76 lock release "$lock"
    acquire 64 --signal KILL x
}

test_max_hold() {
    acquire 0 --max-hold 0.1 x
    eventually 10 is_lost
    expect 76 lock release "$lock"
}

is_lost() {
    ! "$HOLDFAST" lock renew "$lock" 2>/dev/null
}

test_an_interrupted_wait_leaves_nothing() {
    acquire 0 x
    start lock acquire --keep-pid "$BASHPID" x
    eventually 10 one_waits
    kill -INT "$pid"
    ends 130 "$pid"
    eventually 10 no_one_waits
    expect 0 lock release "$lock"
    eventually 10 is_free x
}

one_waits() {
    expect_any lock inspect x
    contains_line 'waiters: 1'
}

no_one_waits() {
    expect_any lock inspect x
    contains_line 'waiters: 0'
}

contains_line() {
    grep -qxF "$1" <<<"$out"
}

# Its output cannot be written, so no one has the handle.
test_a_handle_that_no_one_reads() {
    [ -w /dev/full ] || fail 'no /dev/full'
    "$HOLDFAST" lock acquire --keep-pid "$BASHPID" x >/dev/full 2>err
    same 'exit code' 71 $?
    eventually 10 is_free x
}

test_the_keeper_has_nothing_of_ours() {
    local fd

    exec 7>mine
    acquire 0 x
    exec 7>&-
    eventually 10 keeper_of x
    same cwd / "$(readlink "/proc/$keeper/cwd")"
    for fd in /proc/"$keeper"/fd/*; do
        case $(readlink "$fd") in
        /dev/null | socket:* | anon_inode:* | /dev/shm/*store*) ;;
        *) fail "the keeper has $(readlink "$fd")" ;;
        esac
    done
    kill -TERM "$keeper"
    eventually 10 is_free x
}

test_a_keeper_that_was_killed() {
    acquire 0 --ttl "$(slowed 300)" x
    eventually 10 keeper_of x
    kill -KILL "$keeper"
    expect 76 lock renew "$lock"
    eventually 20 is_free x
}

test_bad_handles() {
    expect 64 lock release
    expect 64 lock release x
    expect 64 lock renew 1:k1:0123456789abcdef0123456789abcdeg
    expect 64 lock renew 1:k2:0123456789abcdef0123456789abcdef
    expect 76 lock renew 1:k1:0123456789abcdef0123456789abcdef
}
