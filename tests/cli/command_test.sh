# SPDX-License-Identifier: Apache-2.0
#
# command_test.sh - holdfast command WORD...

test_replies_are_shown_as_redis_cli_shows_them_on_a_terminal() {
    on_terminal command SET k v EX 60
    same reply OK "$out"
    on_terminal command GET k
    same reply '"v"' "$out"
    on_terminal command get none
    same reply '(nil)' "$out"
    on_terminal command rpush l a 'b"c'
    same reply '(integer) 2' "$out"
    on_terminal command LRANGE l 0 -1
    same reply $'1) "a"\n2) "b\\"c"' "$out"
    on_terminal command LPOP none 1
    same reply '(nil)' "$out"
    on_terminal command SMEMBERS none
    same reply '(empty array)' "$out"
}

# Strings as they are, for $(...) and the next program.
test_replies_are_raw_in_a_pipe() {
    expect 0 command RPUSH l a 'b"c'
    same reply 2 "$out"
    expect 0 command LRANGE l 0 -1
    same reply $'a\nb"c' "$out"
    expect 0 command GET none
    same reply '' "$out"
}

test_json_and_raw_replies() {
    expect 0 command --json RPUSH l a b
    same reply '{"reply":2}' "$out"
    expect 0 command --json LRANGE l 0 -1
    same reply '{"reply":["a","b"]}' "$out"
    expect 0 command --raw LRANGE l 0 -1
    same reply $'a\nb' "$out"
    expect 0 command --json GET none
    same reply '{"reply":null}' "$out"
}

test_options_end_at_the_first_word() {
    expect 0 command SET k --json
    same reply OK "$out"
    expect 0 command GET k
    same reply --json "$out"
    expect 0 command -- SET k -1
    expect 0 command INCRBY k -1
    same reply -2 "$out"
}

test_errors_are_printed_whole_and_have_their_codes() {
    expect 0 command RPUSH l a
    expect 65 command GET l
    same stderr 'holdfast: command: WRONGTYPE Operation against a key holding the wrong kind of value' "$err"
    same stdout '' "$out"
    expect 64 command GET
    same stderr "holdfast: command: ERR wrong number of arguments for 'get' command" "$err"
    expect 65 command --json GET l
    same reply '{"reply":{"error":"WRONGTYPE Operation against a key holding the wrong kind of value"}}' "$out"
    expect 78 command NOSUCH a
    contains "$err" "ERR unknown command 'NOSUCH', with args beginning with: 'a'"
    expect 64 command
    contains "$err" 'missing argument WORD'
    expect 64 command ''
    contains "$err" 'the name of the command is empty'
}

test_commands_that_bind_a_connection_are_refused() {
    expect 78 command SUBSCRIBE c
    contains "$err" '"SUBSCRIBE" changes the state of its connection'
    expect 78 command WAIT 1 0
    expect 78 command MULTI
}

test_integers_are_exact() {
    local n

    for n in 9007199254740991 9007199254740993 9007199254740994 \
        9223372036854775807 -9223372036854775808; do
        expect 0 command SET n $n
        expect 0 command INCRBY n 0
        same reply "$n" "$out"
        expect 0 command --json INCRBY n 0
        same reply "{\"reply\":$n}" "$out"
    done
}

test_bytes_go_through_unchanged() {
    head -c 3000 /dev/urandom >bytes
    printf 'a\0b\xff' >>bytes
    expect 0 command --stdin SET k <bytes
    "$HOLDFAST" command --raw GET k >back
    printf '\n' >>bytes
    cmp bytes back || fail 'other bytes came back'
    expect 0 command --stdin SET k </dev/null
    expect 0 command STRLEN k
    same reply 0 "$out"
}

test_prefix_is_kept() {
    expect 0 command --prefix p: MSET {t}a 1 {t}b 2
    expect 0 command GET 'p:{t}b'
    same reply 2 "$out"
    expect 0 command --prefix p: DEL {t}a {t}b
    same reply 2 "$out"
    expect 78 command --prefix p: KEYS '*'
    contains "$err" "\"KEYS\" reaches keys without the client's prefix"
}

# Run `holdfast command` in the background; its output is in the file popped.
pop_in_background() {
    env --default-signal=INT "$HOLDFAST" command "$@" >popped 2>err &
    pid=$!
}

# How many elements of the list are left.
is_left() {
    expect 0 command LLEN "$1"
    test "$out" = "$2"
}

test_a_wait_gets_an_element() {
    pop_in_background BLPOP list 0
    expect 0 command RPUSH list a
    ends 0 "$pid"
    same reply $'list\na' "$(cat popped)"
    expect 0 command BLPOP list 0.05
    same reply '' "$out"
}

# What comes later is for others.
test_a_signal_ends_a_wait() {
    local signal code

    for signal in INT TERM; do
        pop_in_background BLMOVE list other LEFT RIGHT 0
        sleep 0.3
        kill -0 "$pid" || fail 'it did not wait'
        kill -"$signal" "$pid"
        code=$((128 + $(kill -l "$signal")))
        ends "$code" "$pid"
        same stdout '' "$(cat popped)"
        same stderr '' "$(cat err)"
        expect 0 command RPUSH list a
        eventually 10 is_left list 1
        expect 0 command DEL list
    done
}

# Then the element may have been taken.
test_a_second_signal_ends_it_at_once() {
    local began

    [ -n "$redis_pid" ] || return 0
    pop_in_background BLPOP list 0
    sleep 0.3
    kill -STOP "$redis_pid"
    began=$(now_ms)
    kill -INT "$pid"
    sleep 0.2
    kill -0 "$pid" || fail 'it did not ask the server'
    kill -TERM "$pid"
    ends 143 "$pid"
    within 1500 "$began"
    kill -CONT "$redis_pid"
    same stdout '' "$(cat popped)"
    same stderr 'holdfast: command: ended by signal 15; the outcome is unknown' \
        "$(cat err)"
}

# In the moment of the signal: it is printed, or still in the list.
test_a_signal_loses_no_element() {
    local round

    for round in 1 2 3 4 5 6; do
        pop_in_background BLPOP list 0
        sleep 0.1
        expect 0 command RPUSH list a
        kill -INT "$pid" 2>/dev/null || :
        wait "$pid" || :
        if grep -qx a popped; then
            is_left list 0 || fail 'taken twice'
        else
            is_left list 1 || fail 'lost'
            expect 0 command DEL list
        fi
    done
}
