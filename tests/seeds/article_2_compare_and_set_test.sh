# SPDX-License-Identifier: Apache-2.0
#
# article_2_compare_and_set_test.sh - the second article's two test cases, by its
# scripts, by cas and by transactions.

. "$(dirname "${BASH_SOURCE[0]}")/articles.sh"

test_string_compare_and_exchange_by_its_script() {
    echo 'if redis.call("get", KEYS[1]) == ARGV[1] then
        redis.call("set", KEYS[1], ARGV[2])
        return 1
    else
        return 0
    end' >cas.lua
    expect 0 value set test:String:cas 1
    expect 0 script run --no-raw cas.lua test:String:cas -- 2 3
    same answer '(integer) 0' "$out"
    says '"1"' GET test:String:cas
    expect 0 script run --no-raw cas.lua test:String:cas -- 1 4
    same answer '(integer) 1' "$out"
    says '"4"' GET test:String:cas
    says '(integer) 1' DEL test:String:cas
}

test_string_compare_and_exchange() {
    expect 0 value set test:String:cas 1
    expect 1 value cas test:String:cas 2 3
    same 'current value' 1 "$out"
    expect 0 value cas test:String:cas 1 4
    expect 0 value get test:String:cas
    same value 4 "$out"
    expect 0 value delete test:String:cas
}

test_string_compare_and_exchange_by_transaction() {
    expect 0 value set test:String:cas 1
    expect 1 txn - <<<$'if value test:String:cas 2\nSET test:String:cas 3'
    says '"1"' GET test:String:cas
    expect 0 txn - <<<$'if value test:String:cas 1\nSET test:String:cas 4'
    says '"4"' GET test:String:cas
}

test_hash_compare_and_exchange_by_transaction() {
    expect 0 hash put test:Hash:cas testField 1
    expect 1 txn - <<<$'if field test:Hash:cas testField 2
        HSET test:Hash:cas testField 3'
    says '"1"' HGET test:Hash:cas testField
    expect 0 txn - <<<$'if field test:Hash:cas testField 1
        HSET test:Hash:cas testField 4'
    says '"4"' HGET test:Hash:cas testField
}

test_hash_compare_and_exchange_by_its_script() {
    echo 'if redis.call("hget", KEYS[1], ARGV[1]) == ARGV[2] then
        redis.call("hset", KEYS[1], ARGV[1], ARGV[3])
        return 1
    else
        return 0
    end' >cas.lua
    expect 0 hash put test:Hash:cas testField 1
    expect 0 script run --no-raw cas.lua test:Hash:cas -- testField 2 3
    same answer '(integer) 0' "$out"
    says '"1"' HGET test:Hash:cas testField
    expect 0 script run --no-raw cas.lua test:Hash:cas -- testField 1 4
    same answer '(integer) 1' "$out"
    says '"4"' HGET test:Hash:cas testField
    says '(integer) 1' DEL test:Hash:cas
}

test_hash_compare_and_exchange() {
    expect 0 hash put test:Hash:cas testField 1
    expect 1 hash cas test:Hash:cas testField 2 3
    same 'current value' 1 "$out"
    expect 0 hash cas test:Hash:cas testField 1 4
    expect 0 hash get test:Hash:cas testField
    same value 4 "$out"
    expect 0 hash delete test:Hash:cas
}
