# SPDX-License-Identifier: Apache-2.0
#
# key_test.sh - key list, ttl, expire, type, rename.

test_list_shows_names_that_match() {
    expect 0 --prefix list: value set a:1 v
    expect 0 --prefix list: value set a:2 v
    expect 0 --prefix list: value set $'b\n\t\x01' v
    expect 0 --prefix list: key list 'a:*'
    same list $'a:1\na:2' "$(sort <<<"$out")"
    expect 0 --prefix list: key list 'b*'
    same list 'b\n\t\x01' "$out"
    expect 0 --prefix list: key list --json 'a:1'
    same list '{"key":"a:1"}' "$out"
    expect 0 --prefix list: key list none
    same list '' "$out"
}

test_ttl_and_expire() {
    expect 0 value set k v
    expect 0 key ttl k
    same ttl never "$out"
    expect 0 key ttl --json k
    same ttl '{"key":"k","ttl_ms":null}' "$out"
    expect 0 key expire k --ttl 600
    expect 0 key ttl k
    case $out in
    5[0-9][0-9]* | 600) ;;
    *) fail "ttl is $out" ;;
    esac
    expect 0 key expire --json --persist k
    same expire '{"key":"k","set":true}' "$out"
    expect 0 key ttl k
    same ttl never "$out"
    expect 1 key ttl none
    expect 1 key expire none --px 5
    expect 64 key expire k
    contains "$err" '--persist'
    expect 64 key expire k --ttl 0
    expect 64 key expire k --ttl -1
}

test_type_of_every_type() {
    expect 0 command SET s v
    expect 0 command RPUSH l v
    expect 0 command SADD e v
    expect 0 command ZADD z 1 v
    expect 0 command HSET h f v
    for pair in s:string l:list e:set z:zset h:hash; do
        expect 0 key type "${pair%:*}"
        same type "${pair#*:}" "$out"
    done
    expect 0 key type --json h
    same type '{"key":"h","type":"hash"}' "$out"
    expect 1 key type none
}

test_rename_keeps_the_value() {
    expect 0 value set '{t}a' v --ttl 600
    expect 0 key rename '{t}a' '{t}b'
    expect 1 value get '{t}a'
    expect 0 value get '{t}b'
    same value v "$out"
    expect 0 key ttl '{t}b'
    lacks "$out" never
    expect 0 value set '{t}a' w
    expect 1 key rename --nx '{t}a' '{t}b'
    expect 1 key rename --nx --json '{t}a' '{t}b'
    same rename '{"key":"{t}a","renamed":false}' "$out"
    expect 1 key rename '{t}none' '{t}c'
    expect 64 key rename '{t}a' ''
    expect 0 value get '{t}b'
    same value v "$out"
}

test_copy_and_delete_take_the_whole_object() {
    expect 0 timeline add '{t}line' id data --ttl 600 'price:=7'
    expect 0 key type '{t}line'
    same type timeline "$out"
    expect 0 key copy '{t}line' '{t}copy'
    expect 1 key copy '{t}line' '{t}copy'
    expect 1 key copy --json '{t}line' '{t}copy'
    same copy '{"key":"{t}line","copied":false}' "$out"
    expect 0 key copy --replace '{t}line' '{t}copy'
    expect 0 timeline get '{t}copy' id
    same copy data "$out"
    expect 0 key list '*{t}line*'
    same list '{t}line' "$out"
    expect 0 key list --all '*{t}line*'
    same list 5 "$(wc -l <<<"$out")"
    expect 0 key delete --json '{t}line'
    same delete '{"key":"{t}line","deleted":true}' "$out"
    expect 0 key list --all '*{t}line*'
    same list '' "$out"
    expect 1 key delete '{t}line'
}

test_held_lock_is_left_alone() {
    expect 0 run held -- "$HOLDFAST" key type held
    same type lock "$out"
    expect 1 run held -- "$HOLDFAST" key delete held
    contains "$err" 'a lock that is held'
    expect 1 run held -- "$HOLDFAST" value delete held
    contains "$err" 'a lock that is held'
}
