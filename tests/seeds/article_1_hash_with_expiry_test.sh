# SPDX-License-Identifier: Apache-2.0
#
# article_1_hash_with_expiry_test.sh - the first article by command: a hash and
# its expiry by two commands, a script, a transaction, a placeholder, and ours.

. "$(dirname "${BASH_SOURCE[0]}")/articles.sh"

the_script="local fieldIndex=3;local valueIndex=4;local key=KEYS[1];local \
fieldCount=ARGV[1];local expired=ARGV[2];for i=1,fieldCount,1 do \
redis.pcall('HSET',key,ARGV[fieldIndex],ARGV[valueIndex]) \
fieldIndex=fieldIndex+2 valueIndex=valueIndex+2 \
end;redis.pcall('EXPIRE',key,expired);"

has_the_dictionary() {
    expect 0 hash get-all key
    same fields $'field1\tvalue1\nfield2\tvalue2' "$(sort <<<"$out")"
    lives 1000 key
}

test_set_with_ex_and_nx() {
    says OK SET key value EX 60 NX
    lives 60 key
    says '(nil)' SET key value EX 60 NX
    says "(integer) 1" DEL key
    expect 0 value set key value --ttl 60 --nx
    lives 60 key
    expect 1 value set key value --ttl 60 --nx
}

test_setex() {
    says OK SETEX key 60 value
    lives 60 key
    expect 0 value set key value --ttl 60
    lives 60 key
}

test_hset_and_expire_can_be_separated() {
    says '(integer) 1' HSET key field value
    lasts key # here a client can die
    says '(integer) 1' EXPIRE key 60
    lives 60 key
}

test_script_writes_fields_and_expiry() {
    echo "$the_script" >HSET.lua
    expect 0 script run --no-raw HSET.lua key -- 2 1000 field1 value1 field2 value2
    same reply '(nil)' "$out"
    has_the_dictionary
}

test_script_has_the_printed_sha1() {
    echo 'return redis.sha1hex(ARGV[1])' >sha1.lua
    expect 0 script run --raw sha1.lua -- "$the_script"
    same SHA-1 e03e7868920b7669d1c8c8b16dcee86ebfac650d "$out"
}

test_write_async_is_one_put() {
    expect 0 hash put key field1 value1 field2 value2 --ttl 1000
    has_the_dictionary
}

test_write_async_by_transaction() {
    printf '%s\n' 'HSET key field1 value1' 'HSET key field2 value2' \
        'EXPIRE key 1000' >tranc
    expect 0 txn tranc
    has_the_dictionary
    says OK SET key 'a string'
    expect 65 txn tranc
    says '"a string"' GET key
    lasts key
}

# Four steps; a client that dies after the first leaves a key that never expires.
test_placeholder() {
    expect 0 hash put key expiryPlaceHolder expiryPlaceHolder
    lasts key
    says '(integer) 1' EXPIRE key 1000
    expect 0 hash put key field1 value1 field2 value2
    expect 0 hash get key expiryPlaceHolder # what a reader must ignore
    expect 0 hash delete-fields key expiryPlaceHolder
    has_the_dictionary
}
