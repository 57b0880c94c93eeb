# SPDX-License-Identifier: Apache-2.0
#
# script_test.sh - script run.

test_reply_is_shown_as_redis_cli_shows_it_on_a_terminal() {
    echo "return {1, 'a\"b', {2, false, redis.status_reply('FINE')},
        KEYS[1], ARGV[1], {}, redis.error_reply('ERR bad')}" >x.lua
    on_terminal script run x.lua key -- -argument
    same reply '1) (integer) 1
2) "a\"b"
3) 1) (integer) 2
   2) (nil)
   3) FINE
4) "key"
5) "-argument"
6) (empty array)
7) (error) ERR bad' "$out"
    echo 'return 42' >x.lua
    on_terminal script run x.lua
    same reply '(integer) 42' "$out"
    echo 'return nil' >x.lua
    on_terminal script run x.lua
    same reply '(nil)' "$out"
}

test_numbers_of_a_long_array_are_aligned() {
    echo 'local t = {} for i = 1, 10 do t[i] = i end return t' >x.lua
    on_terminal script run x.lua
    same 'first line' ' 1) (integer) 1' "${out%%$'\n'*}"
    same 'last line' '10) (integer) 10' "${out##*$'\n'}"
}

test_reply_is_raw_in_a_pipe() {
    expect 0 script run - <<<"return {-5, 'a\"b'}"
    same reply $'-5\na"b' "$out"
}

test_json_and_raw_replies() {
    echo "return {1, 'a', {false}, redis.error_reply('ERR bad')}" >x.lua
    expect 0 script run x.lua --json
    same reply '{"reply":[1,"a",[null],{"error":"ERR bad"}]}' "$out"
    expect 0 script run --raw x.lua
    same reply $'1\na\n\nERR bad' "$out"
}

test_keys_and_arguments_arrive() {
    echo "redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
        return #KEYS * 10 + #ARGV" >x.lua
    expect 0 script run x.lua k1 k2 -- value 10000 --json
    same reply 23 "$out"
    expect 0 value get k1
    same value value "$out"
}

test_errors_have_their_codes() {
    expect 65 script run - <<<'return +'
    same 'lines of stderr' 1 "$(wc -l <err)"
    expect 65 script run - <<<"return redis.error_reply('ERR of my own')"
    contains "$err" 'of my own'
    expect 66 script run ./missing.lua
    contains "$err" './missing.lua: No such file or directory'
    expect 64 script run - </dev/null
    expect 64 script run - < <(head -c 1048577 /dev/zero | tr '\0' ' ')
    contains "$err" 'longer than 1048576 bytes'
}

test_loop_is_stopped_and_undone() {
    # A server lets a script continue, and replies BUSY to all other clients.
    [ -z "$redis_pid" ] || return 0
    expect 65 script run --budget 0.05 - key <<<"redis.call('set', KEYS[1], 'x')
        while true do end"
    contains "$err" 'budget of 50 ms'
    expect 1 value get key
}

test_budget_outside_its_range_is_refused() {
    for budget in 0 -1 3600.001 2h 1x ''; do
        expect 64 script run --budget "$budget" - <<<'return 1'
        contains "$err" 0.001
        contains "$err" 3600
    done
    expect 0 script run --budget 3600 - <<<'return 1'
    expect 64 value get --budget 1 key
    "$HOLDFAST" help script run | grep -q -- '--budget SEC' ||
        fail 'no --budget in the help'
}

test_budget_of_the_store_can_be_in_its_url() {
    [ -z "$redis_pid" ] || return 0
    expect 65 --store "$HOLDFAST_STORE?script_budget_ms=40" script run - \
        <<<'while true do end'
    contains "$err" 'budget of 40 ms'
    expect 64 --store "$HOLDFAST_STORE?script_budget_ms=no" script run - \
        <<<'return 1'
    contains "$err" script_budget_ms
}
