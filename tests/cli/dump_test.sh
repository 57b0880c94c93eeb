# SPDX-License-Identifier: Apache-2.0
#
# dump_test.sh - store dump and store load: between this kind of store and
# embedded ones, through files and pipes, and killed in the middle.

here_store=
there_store=

stores() {
    here_store=$HOLDFAST_STORE
    there_store=volatile:$PWD/there
}

# script STORE TEXT: its reply.
script() {
    "$HOLDFAST" --store "$1" script run --raw - <<<"$2" || fail "script: $2"
}

# fill STORE: keys of every type, small and large.
fill() {
    script "$1" "
        for i = 1, 500 do
            redis.call('set', 's' .. i, 'v' .. i)
            redis.call('hset', 'h' .. i, 'a', i, 'b', '')
        end
        redis.call('set', 'ttl', 'x', 'px', 3600000)" >/dev/null
    script "$1" "
        for i = 1, 5000 do
            redis.call('rpush', 'list', i)
            redis.call('zadd', 'zset', i / 7, i)
        end
        redis.call('pexpire', 'zset', 3600000)
        redis.call('set', 'big', string.rep('0123456789', 300000))
        redis.call('sadd', 'set', '', '\\0', '\\255\\n')" >/dev/null
}

# digest STORE: one line for all keys and their content.
digest() {
    script "$1" "
        local sums, keys = {}, redis.call('keys', '*')
        table.sort(keys)
        for i, key in ipairs(keys) do
            local kind, list = redis.call('type', key).ok, nil
            if kind == 'string' then
                list = {redis.call('get', key)}
            elseif kind == 'list' then
                list = redis.call('lrange', key, 0, -1)
            elseif kind == 'zset' then
                list = redis.call('zrange', key, 0, -1, 'withscores')
                for j = 2, #list, 2 do -- some servers write fewer digits
                    list[j] = string.format('%.17g', list[j])
                end
            elseif kind == 'set' then
                list = redis.call('smembers', key)
                table.sort(list)
            else
                list = redis.call('hgetall', key)
            end
            sums[i] = key .. kind .. redis.sha1hex(table.concat(list, ' '))
                .. tostring(redis.call('pttl', key) > 0)
        end
        return #keys .. ' ' .. redis.sha1hex(table.concat(sums, ' '))"
}

test_dump_and_load_through_a_file() {
    stores
    fill "$here_store"
    umask 022
    expect 0 store dump -o dump.hfd
    contains "$err" '1005 keys'
    same stdout '' "$out"
    same mode 600 "$(stat -c %a dump.hfd)"
    same files 'dump.hfd' "$(ls *hfd*)"
    expect 0 --store "$there_store" store load dump.hfd
    contains "$err" '1005 keys'
    same content "$(digest "$here_store")" "$(digest "$there_store")"
    expect 0 --store "$there_store" store dump --output back.hfd --json
    same json "{\"keys\":1005,\"bytes\":$(stat -c %s back.hfd),\"left_out\":0,\"changed\":0,\"complete\":true}" "$out"
    script "$here_store" "redis.call('flushdb')" >/dev/null
    expect 0 store load --json back.hfd
    contains "$out" '"keys":1005,'
    contains "$out" '"existing":0,"expired":0,'
    same content "$(digest "$there_store")" "$(digest "$here_store")"
}

test_dump_and_load_through_a_pipe() {
    local code

    stores
    fill "$here_store"
    "$HOLDFAST" store dump -o - 2>/dev/null |
        "$HOLDFAST" --store "$there_store" store load - 2>/dev/null
    code=${PIPESTATUS[*]}
    same codes '0 0' "$code"
    same content "$(digest "$here_store")" "$(digest "$there_store")"
}

test_existing_keys_are_refused_left_or_replaced() {
    stores
    expect 0 value set k old
    expect 0 store dump -o one
    expect 0 value set k new
    expect 1 store load one
    contains "$err" 'key "k" already exists'
    expect 0 store load --skip one
    contains "$err" '1 skipped'
    expect 0 value get k
    same value new "$out"
    expect 0 store load --replace one
    expect 0 value get k
    same value old "$out"
    expect 64 store load --replace --skip one
}

test_pattern_chooses_keys() {
    stores
    expect 0 value set a:1 x
    expect 0 value set b:1 x
    expect 0 store dump --match 'a:*' -o some
    expect 0 --store "$there_store" store load some
    expect 0 --store "$there_store" value get a:1
    expect 1 --store "$there_store" value get b:1
}

test_damaged_file_changes_nothing() {
    local size

    stores
    fill "$here_store"
    expect 0 store dump -o dump
    size=$(stat -c %s dump)
    head -c $((size - 1)) dump >cut
    expect 65 --store "$there_store" store load cut
    contains "$err" "at byte $((size - 1))"
    same keys 0 "$(script "$there_store" "return redis.call('dbsize')")"
    cp dump flipped
    printf '\377' | dd of=flipped bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
    expect 65 --store "$there_store" store load flipped
    contains "$err" 'damaged'
    same keys 0 "$(script "$there_store" "return redis.call('dbsize')")"
    echo 'this is text' >text
    expect 64 --store "$there_store" store load text
    contains "$err" 'not a dump'
    expect 66 store load ./missing
    expect 65 --store "$there_store" store load - < <(head -c 20000 dump)
    expect 64 --prefix p: store dump -o x
    [ ! -e x ] || fail 'a file was left'
}

test_dump_that_fails_leaves_the_old_file() {
    stores
    fill "$here_store"
    "$HOLDFAST" store dump -o - 2>err >/dev/full
    same code 71 $?
    contains "$(cat err)" 'standard output: No space left on device'
    expect 71 store dump -o ./no/folder/dump
    [ -n "$redis_pid" ] || return 0 # an embedded store needs large files, too
    echo old >dump
    (ulimit -f 4 && trap '' XFSZ && exec "$HOLDFAST" store dump -o dump) 2>err
    same code 71 $?
    contains "$(cat err)" 'dump: File too large'
    same content old "$(cat dump)"
    same files 'dump' "$(ls dump*)"
}

# A reader that stops half-way holds up the dump in the middle.
test_dump_stopped_by_a_signal_removes_its_file() {
    stores
    fill "$here_store"
    mkfifo pipe
    "$HOLDFAST" store dump -o - >pipe 2>err &
    pid=$!
    exec 5<pipe
    head -c 1000 <&5 >/dev/null
    kill -TERM $pid
    wait $pid
    same code 143 $?
    contains "$(cat err)" 'stopped by signal 15'
    exec 5<&-
}

# grown BYTES PID: the new file has that many, or the process has ended.
grown() {
    [ -n "$(find . -name 'dump.??????' -size "+$1c")" ] ||
        process_is Z "$2" || ! kill -0 "$2" 2>/dev/null
}

# At many sizes: the file is the old dump or a complete new one.
test_dump_killed_at_any_size_leaves_a_whole_file() {
    local size i

    stores
    fill "$here_store"
    expect 0 store dump -o first
    size=$(stat -c %s first)
    for i in 0 1 2 3 4 5 6 7; do
        cp first dump
        "$HOLDFAST" store dump -o dump 2>/dev/null &
        pid=$!
        eventually 20 grown $((size * i / 8)) $pid
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
        expect 0 --store "volatile:$PWD/try$i" store load dump
        contains "$err" '1005 keys'
        rm -f dump*
    done
}

# The first part of a dump, which ends within a key that is built in steps.
test_load_killed_in_the_middle_leaves_whole_keys_and_can_continue() {
    local size part left

    stores
    fill "$here_store"
    expect 0 store dump -o dump
    size=$(stat -c %s dump)
    mkfifo pipe
    for part in 10 50 90; do
        script "$here_store" "redis.call('flushdb')" >/dev/null
        "$HOLDFAST" store load - <pipe 2>/dev/null &
        pid=$!
        exec 5>pipe
        head -c $((size * part / 100)) dump >&5
        kill -9 $pid
        wait $pid 2>/dev/null
        exec 5>&-
        left=$(script "$here_store" "local n = 0
            for _, key in ipairs(redis.call('keys', 'hf:load:*')) do
                if redis.call('pttl', key) < 0 then n = n + 1 end
                redis.call('del', key)
            end return n")
        same 'keys without a time to live' 0 "$left"
        expect 0 store load --skip dump
        expect 0 --store "volatile:$PWD/whole$part" store load dump
        same content "$(digest "volatile:$PWD/whole$part")" \
            "$(digest "$here_store")"
    done
}

test_keys_that_no_dump_holds_are_named() {
    [ -n "$redis_pid" ] || return 0
    stores
    redis-cli -s "$work/redis" eval \
        "redis.call('set', string.rep('x', 524289), 'v')" 0 >/dev/null
    expect 0 value set k v
    expect 78 store dump -o dump
    contains "$err" '(key with too long a name)'
    expect 78 --store "$there_store" store load dump
    contains "$err" 'not complete'
    expect 0 --store "$there_store" value get k
}

# All or nothing, unless an option says otherwise.
test_server_whose_fields_do_not_expire() {
    [ -n "$redis_pid" ] || return 0
    [ -z "$(redis-cli -s "$work/redis" command info hpexpire)" ] || return 0
    stores
    script "$there_store" "
        redis.call('hset', 'h', 'a', 1, 'b', 2)
        redis.call('hpexpire', 'h', 3600000, 'fields', 1, 'a')
        redis.call('set', 'k', 'v')" >/dev/null
    expect 0 --store "$there_store" store dump -o dump
    expect 78 store load dump
    contains "$err" 'refused: h (a hash with fields that expire)'
    same keys 0 "$(script "$here_store" "return redis.call('dbsize')")"
    expect 78 store load --continue --json dump
    contains "$out" '"keys":1,'
    contains "$out" '"refused":1,'
    contains "$out" '"complete":false'
    expect 0 value get k
    same value v "$out"
    expect 0 store load --skip --drop-field-ttl dump
    expect 0 hash get h a
    same field 1 "$out"
}

test_terminal_gets_no_dump() {
    command -v script >/dev/null || return 0
    command script -qec "'$HOLDFAST' store dump" /dev/null >out </dev/null
    same code 64 $?
    contains "$(cat out)" 'a dump is binary'
    command script -qec "'$HOLDFAST' store load" /dev/null >out </dev/null
    same code 64 $?
    contains "$(cat out)" 'not read from a terminal'
}

# The dump has a pause in it, so that there is time to draw the line.
test_terminal_sees_progress() {
    local began

    command -v script >/dev/null || return 0
    stores
    fill "$here_store"
    expect 0 store dump -o dump
    same 'escapes without a terminal' 0 "$(grep -c $'\033' err)"
    mkfifo pipe
    command script -qec \
        "'$HOLDFAST' --store '$there_store' store load - <'$PWD/pipe'" \
        /dev/null >out </dev/null &
    pid=$!
    exec 5>pipe
    head -c 1000000 dump >&5
    began=$(now_ms)
    until [ $(($(now_ms) - began)) -gt 200 ]; do
        :
    done
    tail -c +1000001 dump >&5
    exec 5>&-
    wait $pid
    same code 0 $?
    contains "$(cat out)" 'keys/s'
    contains "$(cat out)" '1005 keys'
}

# The server dies during a load, and during a dump.
test_server_that_dies_ends_both_in_order() {
    local own size

    [ -n "$redis_pid" ] || return 0
    stores
    fill "$here_store"
    expect 0 store dump -o dump
    size=$(stat -c %s dump)
    redis-server --port 0 --unixsocket "$PWD/own" --save '' --appendonly no \
        --dir "$PWD" </dev/null >own.log 2>&1 &
    own=$!
    eventually 10 redis-cli -s "$PWD/own" ping >/dev/null 2>&1
    mkfifo pipe
    "$HOLDFAST" --store "redis+unix://$PWD/own" store load - <pipe 2>err &
    pid=$!
    exec 5>pipe
    head -c $((size / 2)) dump >&5
    kill -9 $own
    wait $own 2>/dev/null
    tail -c +$((size / 2 + 1)) dump >&5
    exec 5>&-
    wait $pid
    case $? in
    69 | 74) ;;
    *) fail "load ended with another code: $(cat err)" ;;
    esac
    expect 69 --store "redis+unix://$PWD/own" store dump -o other
    [ ! -e other ] || fail 'half a dump has its name'
}
