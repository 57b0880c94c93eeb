# SPDX-License-Identifier: Apache-2.0
#
# hash_test.sh - hash put, get, get-fields, get-all, cas, incr, delete, delete-fields.

test_put_and_get() {
    expect 0 hash put key b 2 a 1
    same output '' "$out$err"
    expect 0 hash get-all key
    same fields $'a\t1\nb\t2' "$out"
    expect 0 hash get key a
    same value 1 "$out"
    expect 0 hash get-all key --json
    same answer '{"key":"key","fields":[{"name":"a","value":"1"},{"name":"b","value":"2"}]}' "$out"
    expect 0 hash get key b --json
    same answer '{"key":"key","name":"b","value":"2"}' "$out"
}

test_fields_are_one_line_each() {
    expect 0 hash put key $'a\nb\\' $'\tx\001\r'
    expect 0 hash get-all key
    same fields 'a\nb\\'$'\t''\tx\x01\r' "$out"
    "$HOLDFAST" hash get --raw key $'a\nb\\' >out
    printf '\tx\001\r' | cmp - out || fail 'bytes differ'
}

test_put_merges_or_replaces() {
    expect 0 hash put key a 1 b 2
    expect 0 hash put key b 3 --json
    same answer '{"key":"key","put":true}' "$out"
    expect 0 hash get-all key
    same fields $'a\t1\nb\t3' "$out"
    expect 0 hash put key c 4 --replace
    expect 0 hash get-all key
    same fields $'c\t4' "$out"
}

is_gone() {
    ! "$HOLDFAST" hash get-all "$1" >/dev/null 2>&1
}

test_put_conditions_and_expiry() {
    local ttl

    ttl=$(slowed 700)
    expect 1 hash put key a 1 --xx
    expect 0 hash put key a 1 --nx --ttl "$ttl"
    expect 1 hash put key a 2 --nx
    expect 1 hash put key a 2 --nx --json
    same answer '{"key":"key","put":false}' "$out"
    expect 0 hash put key b 2 --xx
    expect 0 hash put kept a 1 --ttl "$ttl"
    expect 0 hash put kept a 2 --persist
    sleep "$ttl"
    eventually 1 is_gone key
    expect 1 hash get-all key
    expect 0 hash get kept a
}

test_missing_is_exit_code_1() {
    expect 1 hash get-all none
    expect 1 hash get-all none --json
    same answer '{"key":"none","fields":[]}' "$out"
    expect 0 hash put key a 1
    expect 1 hash get key b
    expect 1 hash get key b --json
    same answer '{"key":"key","name":"b","value":null}' "$out"
    expect 1 hash delete none
}

test_cas() {
    expect 0 hash cas --absent key f 1
    expect 1 hash cas --absent key f 1
    same 'present value' 1 "$out"
    expect 0 hash cas key f 1 2
    expect 1 hash cas key f 1 3 --json
    same answer '{"key":"key","name":"f","set":false,"current":"2"}' "$out"
    expect 1 hash cas key g 1 2
    expect 0 hash cas key f 2 3 --ttl 0.15
    sleep 0.2
    expect 1 hash get-all key
}

test_incr() {
    expect 0 hash incr key n --by 9223372036854775806 --ttl 100
    same result 9223372036854775806 "$out"
    expect 0 hash incr key n --json
    same answer '{"key":"key","name":"n","added":true,"value":9223372036854775807}' "$out"
    expect 1 hash incr key n
    same 'current number' 9223372036854775807 "$out"
    expect 1 hash incr key m --min 2 --json
    same answer '{"key":"key","name":"m","added":false,"value":0}' "$out"
    expect 0 hash put key text abc
    expect 65 hash incr key text
    expect 64 hash incr key
}

test_get_fields() {
    expect 1 hash get-fields key a b
    expect 0 hash put key a 1 b 2 c 3
    expect 0 hash get-fields key c none a
    same fields $'a\t1\nc\t3' "$out"
    expect 0 hash get-fields key b --json
    same answer '{"key":"key","fields":[{"name":"b","value":"2"}]}' "$out"
    expect 1 hash get-fields key none --json
    same answer '{"key":"key","fields":[]}' "$out"
    expect 64 hash get-fields key
}

test_fenced_put() {
    expect 0 hash put key a 1 --token 5 --ttl 100
    expect 1 hash put key a 2 --token 4 --json
    same answer '{"key":"key","put":false,"highest_token":5}' "$out"
    expect 0 hash put key b 2 --token 5 --replace
    expect 0 hash get-all key
    same fields $'b\t2' "$out"
    expect 64 hash put key b 3 --token 6 --nx
}

test_fields_expire() {
    expect 0 hash put key a 1 b 2
    "$HOLDFAST" hash ttl key a >out 2>err
    if [ $? = 78 ]; then
        case $HOLDFAST_STORE in
        redis*) contains "$(cat err)" HPTTL ;; # before Redis 7.4
        *) fail "$(cat err)" ;;
        esac
        return
    fi
    expect 0 hash expire-fields key a none --ttl 100
    same found 1 "$out"
    expect 0 hash ttl key a b none
    contains "$out" $'\nb\tnever'
    contains "$out" $'a\t'
    expect 0 hash expire-fields key a b --persist --json
    same answer '{"key":"key","fields_found":2}' "$out"
    expect 0 hash ttl key a none --json
    same answer '{"key":"key","fields":[{"name":"a","ttl_ms":-1},{"name":"none","ttl_ms":-2}]}' "$out"
    expect 0 hash put key b 3 --field-ttl 100
    expect 0 hash ttl key b
    contains "$out" $'b\t'
    expect 1 hash ttl key none
    expect 1 hash expire-fields key none --ttl 1 --json
    same answer '{"key":"key","fields_found":0}' "$out"
    expect 64 hash expire-fields key a
    expect 64 hash expire-fields key a --ttl 0
    expect 64 hash ttl key
}

test_delete_fields_or_all() {
    expect 0 hash put key a 1 b 2 c 3
    expect 0 hash delete-fields key a b none
    same deleted 2 "$out"
    expect 1 hash delete-fields key a --json
    same answer '{"key":"key","fields_deleted":0}' "$out"
    expect 0 hash delete key --json
    same answer '{"key":"key","deleted":true}' "$out"
    expect 1 hash get-all key
}

test_wrong_type_is_exit_code_65() {
    expect 0 value set text v
    expect 65 hash get-all text
    expect 65 hash put text a 1
    expect 65 hash delete-fields text a
    expect 65 hash delete text
    expect 0 value get text
}
