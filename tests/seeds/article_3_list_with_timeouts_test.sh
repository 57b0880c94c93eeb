# SPDX-License-Identifier: Apache-2.0
#
# article_3_list_with_timeouts_test.sh - the third article by command: a list and
# separate values, which drift apart; a sorted set and separate values; ours.

. "$(dirname "${BASH_SOURCE[0]}")/articles.sh"

# The list of keys keeps what has expired.
test_list_and_values_drift_apart() {
    local i

    for i in 1 2 3; do
        says "(integer) $i" LPUSH ptxList "$i"
        says OK SET "ptx$i" "data$i" EX 43200
    done
    says $'1) "data3"\n2) "data2"\n3) "data1"' \
        SORT ptxList BY not-exist-key GET 'ptx*'
    says '"data2"' GET ptx2
    says '(integer) 1' LREM ptxList 0 2
    says '(integer) 1' DEL ptx2
    says '(integer) 1' PEXPIRE ptx1 1
    eventually 2 is_gone ptx1
    says $'1) "data3"\n2) (nil)' SORT ptxList BY not-exist-key GET 'ptx*'
}

fill_ptxlist() {
    says '(integer) 1' ZADD ptxlist 1540458292 key1
    says '(integer) 1' ZADD ptxlist 1540458293 key2
    says '(integer) 1' ZADD ptxlist 1540458294 key3
    says '(integer) 1' ZADD ptxlist 1540458294 key5
    says '(integer) 1' ZADD ptxlist 1540458293 key4
    for i in 1 2 3 4 5; do
        says OK SET "ptx:key$i" "data$i"
    done
}

test_sorted_set_is_ordered_by_time() {
    fill_ptxlist
    says $'1) "key1"\n2) "key2"\n3) "key4"\n4) "key3"\n5) "key5"' \
        ZRANGE ptxlist 0 -1
}

test_two_newest_are_data5_and_data3() {
    fill_ptxlist
    says $'1) "data5"\n2) "data3"' \
        SORT ptxlist LIMIT 0 2 DESC BY not-exist-key GET 'ptx:*'
}

test_removal_by_time_leaves_key3_and_key5() {
    fill_ptxlist
    says '(integer) 3' ZREMRANGEBYSCORE ptxlist 0 1540458293
    says $'1) "key3"\n2) "key5"' ZRANGE ptxlist 0 -1
}
