# SPDX-License-Identifier: Apache-2.0
#
# value_test.sh - value set, get, delete, cas, expire, incr.

test_set_and_get() {
    expect 0 value set key 'a value'
    same output '' "$out$err"
    expect 0 value get key
    same value 'a value' "$out"
    expect 0 value get key --json
    same answer '{"key":"key","value":"a value"}' "$out"
}

test_missing_value_is_exit_code_1() {
    expect 1 value get none
    same stdout '' "$out"
    contains "$err" 'holdfast: value get: '
    expect 1 value get none --json
    same answer '{"key":"none","value":null}' "$out"
    expect 1 value delete none
    expect 1 value delete none --json
    same answer '{"key":"none","deleted":false}' "$out"
}

test_every_byte_passes() {
    local i

    for ((i = 0; i < 256; i++)); do
        printf "\\x$(printf %x $i)"
    done >bytes
    expect 0 value set bytes --stdin <bytes
    "$HOLDFAST" value get --raw bytes | cmp - bytes || fail 'bytes differ'
    "$HOLDFAST" value get bytes >out
    same 'size with its newline' 257 "$(wc -c <out)"
    expect 0 value set big --stdin < <(head -c 300000 /dev/zero)
    same 'size of a big value' 300000 "$("$HOLDFAST" value get --raw big |
        wc -c)"
}

test_empty_value() {
    expect 0 value set empty ''
    expect 0 value get empty --json
    same answer '{"key":"empty","value":""}' "$out"
    expect 0 value set empty --stdin </dev/null
    "$HOLDFAST" value get --raw empty >out
    [ ! -s out ] || fail 'the empty value is not'
}

test_json_escapes_text_and_encodes_bytes() {
    expect 0 value set odd $'"\\\n\t\001\177\xc3\xa9\xf0\x9f\x94\x92'
    expect 0 value get odd --json
    same answer \
        $'{"key":"odd","value":"\\"\\\\\\n\\t\\u0001\\u007f\xc3\xa9\xf0\x9f\x94\x92"}' \
        "$out"
    printf '\377\000a' >bytes
    expect 0 value set odd --stdin <bytes
    expect 0 value get odd --json
    same answer '{"key":"odd","value":{"base64":"/wBh"}}' "$out"
    # An overlong slash, a surrogate, a truncated sequence.
    printf '\300\257' >bytes
    expect 0 value set odd --stdin <bytes
    expect 0 value get odd --json
    same answer '{"key":"odd","value":{"base64":"wK8="}}' "$out"
    printf '\355\240\200\342\202' >bytes
    expect 0 value set odd --stdin <bytes
    expect 0 value get odd --json
    same answer '{"key":"odd","value":{"base64":"7aCA4oI="}}' "$out"
}

test_nx_and_xx() {
    expect 1 value set once 1 --xx
    expect 0 value set once 1 --nx
    expect 1 value set once 2 --nx
    contains "$err" 'holdfast: value set: '
    expect 1 value set once 2 --nx --get --json
    same answer '{"key":"once","set":false,"previous":"1"}' "$out"
    expect 0 value set once 3 --xx --get
    same previous 1 "$out"
    expect 0 value get once
    same value 3 "$out"
}

# brief OPTION...: with these the value exists, and soon expires.
brief() {
    expect 0 value set brief v "$@"
    expect 1 value set brief v "$@" --nx --get
    same 'value before its expiry' v "$out"
    eventually 3 is_gone brief
}

is_gone() {
    ! "$HOLDFAST" value get "$1" >/dev/null 2>&1
}

test_expiry_options() {
    local now slow

    slow=$(slowness)
    brief --ttl="$(slowed 500)"
    brief --ex="$(slowed 500)"
    brief --px=$((500 * slow))
    brief --pxat $(($(now_ms) + 700 * slow))
    expect 0 value set kept v --px 600000
    expect 0 value set kept w --keepttl
    expect 0 key ttl kept
    [ "$out" != never ] || fail "the value that keeps its expiry has none"
    now=$(($(now_ms) / 1000))
    expect 0 value set long v --exat $((now + 100))
    expect 0 value get long
    expect 0 value set long v --exat $((now - 100))
    expect 1 value get long
}

test_get_sets_an_expiry() {
    expect 0 value set key v
    expect 0 value get key --ttl 100 --json
    same answer '{"key":"key","value":"v"}' "$out"
    expect 0 value expire key --if v --persist
    expect 0 value get key --pxat 1
    same value v "$out"
    expect 1 value get key --persist
    expect 64 value get key --ttl 1 --persist
    expect 64 value get key --ttl 0
}

test_expire_if() {
    expect 1 value expire key --if v --ttl 1
    expect 0 value set key v
    expect 1 value expire key --if w --ttl 0.001
    same 'present value' v "$out"
    expect 1 value expire key --if w --persist --json
    same answer '{"key":"key","expiry_set":false,"current":"v"}' "$out"
    expect 0 value expire key --if v --exat 1 --json
    same answer '{"key":"key","expiry_set":true}' "$out"
    expect 1 value get key
    expect 64 value expire key --ttl 1
    contains "$err" 'specify --if and a new expiry'
    expect 64 value expire key --if v
}

test_cas() {
    expect 1 value cas count 1 2
    expect 0 value cas --absent count 1
    expect 1 value cas --absent count 1
    same 'present value' 1 "$out"
    expect 0 value cas count 1 2
    same output '' "$out$err"
    expect 1 value cas count 1 3 --json
    same answer '{"key":"count","set":false,"current":"2"}' "$out"
    expect 0 value cas count 2 3 --ttl 0.15 --json
    same answer '{"key":"count","set":true}' "$out"
    sleep 0.2
    expect 1 value get count
}

# add_five: adds one five times, by compare-and-set. A lost try prints the value
# to continue from.
add_five() {
    local done=0 tries n=0

    for ((tries = 0; tries < 200 && done < 5; tries++)); do
        if seen=$("$HOLDFAST" value cas sum "$n" $((n + 1)) 2>/dev/null); then
            n=$((n + 1))
            done=$((done + 1))
        else
            n=$seen
        fi
    done
}

test_cas_loops_lose_no_update() {
    local i pids=

    expect 0 value set sum 0
    for i in 1 2 3 4; do
        add_five &
        pids="$pids $!"
    done
    wait $pids
    expect 0 value get sum
    same sum 20 "$out"
}

test_versions() {
    local version

    expect 1 value get doc --versioned --json
    same answer '{"key":"doc","version":null,"value":null}' "$out"
    expect 0 value cas --versioned --absent doc one
    version=$out
    expect 0 value get doc --versioned
    same 'version and value' "$version"$'\none' "$out"
    expect 0 value cas --versioned doc "$version" two --json
    json 'd["set"] and len(d["version"]) == 40'
    expect 1 value cas --versioned doc "$version" three
    expect 0 value cas --versioned doc "$out" three
    expect 1 value delete doc --versioned --if "$version"
    expect 0 value delete doc --versioned --if "$out"
    expect 1 value cas --versioned doc "$version" four
    expect 64 value cas --versioned doc two four
    contains "$err" 'version is 3 bytes'
    expect 64 value get doc --versioned --ttl 1
}

test_revisions() {
    local first second

    expect 1 value get conf --revision --json
    same answer '{"key":"conf","revision":null,"value":null}' "$out"
    expect 1 value cas --revision conf 7 a
    same output '' "$out"
    expect 1 value cas --revision conf 7 a --json
    same answer '{"key":"conf","set":false,"revision":null}' "$out"
    expect 0 value cas --revision --absent conf a --ttl 100
    first=$out
    expect 0 value get conf --revision
    same 'revision and value' "$first"$'\n''a' "$out"
    expect 1 value cas --revision --absent conf b
    same 'current revision' "$first" "$out"
    contains "$err" "the value has revision $first"
    expect 0 value cas --revision conf "$first" b
    second=$out
    [ "$second" -gt "$first" ] || fail "$second follows $first"
    expect 0 key ttl conf
    [ "$out" != -1 ] || fail 'the time to live is gone'
    # The bytes are those of the first again.
    expect 0 value set conf a --revision
    second=$out
    expect 1 value cas --revision conf "$first" c --json
    same answer '{"key":"conf","set":false,"revision":'"$second"'}' "$out"
    expect 1 value delete conf --revision --if "$first"
    same 'current revision' "$second" "$out"
    expect 1 value set conf c --revision --nx --json
    same answer '{"key":"conf","set":false,"revision":'"$second"'}' "$out"
    expect 0 value get conf --revision --json
    same answer '{"key":"conf","revision":'"$second"',"value":"a"}' "$out"
    expect 0 value delete conf --revision --if "$second"
    [ "$out" -gt "$second" ] || fail "the deletion has $out"
    expect 1 value delete conf --revision --json
    same answer '{"key":"conf","deleted":false,"revision":null}' "$out"
    expect 0 value set conf d --revision --nx --json
    json 'd["set"] and d["revision"] > 0'
    expect 0 value delete conf --revision --json
    json 'd["deleted"] and d["revision"] > 0'
}

test_revisions_are_checked() {
    local word

    for word in 0 -1 1.5 '' any 99999999999999999999; do
        expect 64 value delete conf --revision --if "$word"
        contains "$err" 'a revision is a number of at least 1'
    done
    expect 64 value cas --revision conf one two
    contains "$err" 'a revision is a number of at least 1'
    expect 64 value cas --revision conf 9007199254740992 two
    contains "$err" 'revision is 9007199254740992'
    for word in --xx --get '--token 1'; do
        # shellcheck disable=SC2086 # two words
        expect 64 value set conf a --revision $word
        contains "$err" '--revision excludes'
    done
    expect 64 value get conf --revision --ttl 1
    contains "$err" '--revision sets no expiry'
    expect 64 value get conf --revision --versioned
    contains "$err" 'versioned'
    expect 1 value get conf
}

test_fenced_set() {
    expect 0 value set key a --token 5 --ttl 100
    expect 0 value set key b --token 7 --keepttl --json
    same answer '{"key":"key","set":true}' "$out"
    expect 1 value set key c --token 6
    contains "$err" 'the higher fencing token 7'
    expect 1 value set key c --token 6 --json
    same answer '{"key":"key","set":false,"highest_token":7}' "$out"
    expect 0 value delete key
    expect 1 value set key d --token 6
    expect 0 value set key d --token 7
    expect 64 value set key e --token 8 --nx
    expect 64 value set key e --token 0
    expect 64 value set key e --token 9007199254740992
    expect 0 value get key
    same value d "$out"
}

test_incr() {
    expect 0 value incr n
    same result 1 "$out"
    expect 0 value incr n --by -5 --json
    same answer '{"key":"n","added":true,"value":-4}' "$out"
    expect 1 value incr n --by 7 --max 2
    same 'current number' -4 "$out"
    expect 1 value incr n --by=-7 --min -10 --json
    same answer '{"key":"n","added":false,"value":-4}' "$out"
    expect 0 value set n 9007199254740993
    expect 0 value incr n --by 9214364837600034814
    same result 9223372036854775807 "$out"
    expect 1 value incr n
    expect 0 value set n -9223372036854775807
    expect 0 value incr n --by -1
    same result -9223372036854775808 "$out"
}

test_incr_refuses_bad_input() {
    expect 0 value set text abc
    expect 65 value incr text
    contains "$err" 'is not a 64-bit integer'
    expect 64 value incr n --by 9223372036854775808
    contains "$err" 'not "9223372036854775808"'
    expect 64 value incr n --by 1.5
    expect 64 value incr n --by -
    expect 64 value incr n --min 2 --max 1
    contains "$err" 'min 2 is greater than max 1'
    expect 1 value get n
}

test_incr_sets_the_ttl_of_a_new_counter() {
    expect 0 value incr n --px 1
    eventually 3 is_gone n
    expect 0 value incr n
    expect 0 value incr n --px 1
    expect 0 value get n
    same number 2 "$out"
}

test_append_prints_the_size() {
    expect 0 value set key ab --ttl 600
    expect 0 value append key cd
    same size 4 "$out"
    printf 'e\0' | "$HOLDFAST" value append key --stdin >out
    same size 6 "$(cat out)"
    expect 0 value append --json key ''
    same size '{"key":"key","size":6}' "$out"
    expect 0 key ttl key
    lacks "$out" never
    expect 64 value append key
}

test_delete_if() {
    expect 0 value set key a
    expect 1 value delete key --if b
    same 'present value' a "$out"
    expect 0 value delete key --if a --json
    same answer '{"key":"key","deleted":true}' "$out"
    expect 0 value set key a
    expect 0 value delete key
    expect 1 value get key
}

test_wrong_type_is_exit_code_65() {
    expect 0 hash put table f v
    expect 65 value get table
    same stdout '' "$out"
    expect 65 value get table --json
    json 'd["error"]["culprit"] == "table"'
    expect 65 value cas table a b
}

test_prefix_is_put_before_the_key() {
    expect 0 value set --prefix app: key v
    expect 0 value get app:key
    same value v "$out"
    expect 0 --prefix app: value get key
    same value v "$out"
}

test_changes() {
    local first last

    first=$("$HOLDFAST" value set first v --revision)
    expect 1 value changes '*' "$first" -w 0
    "$HOLDFAST" value set a 1 --revision >/dev/null
    "$HOLDFAST" value set b 1 --revision >/dev/null
    last=$("$HOLDFAST" value set a 2 --revision)
    expect 0 value changes '?' "$first" -w 0
    same names "$(printf 'b\na')" "$(cut -f2 <<<"$out")"
    same last "$last" "$(tail -n1 <<<"$out" | cut -f1)"
    # The expiry of b ends the wait.
    last=$("$HOLDFAST" value set b 2 --ttl 200ms --revision)
    expect 0 value changes '*' "$last" -w 20 --json
    json 'd["key"] == "b" and d["revision"] > '"$last"
    # All that is kept, and that there may have been more.
    expect 0 value changes '*' 0
    same gap "" "$(head -n1 <<<"$out" | cut -sf2)"
    expect 64 value changes '*' x
}
