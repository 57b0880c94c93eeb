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
    local i

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

# The same as a timeline.
fill_timeline() {
    expect 0 timeline add ptxlist key1 data1 --at 1540458292 --ttl 43200 fee:=30
    expect 0 timeline add ptxlist key2 data2 --at 1540458293 --ttl 43200 fee:=10
    expect 0 timeline add ptxlist key3 data3 --at 1540458294 --ttl 43200 fee:=50
    expect 0 timeline add ptxlist key5 data5 --at 1540458294 --ttl 43200 fee:=20
    expect 0 timeline add ptxlist key4 data4 --at 1540458293 --ttl 43200 fee:=40
}

# payloads PAYLOAD... of the last page
payloads() {
    same payloads "$*" "$(cut -f 2 <<<"$out" | tr '\n' ' ' | sed 's/ $//')"
}

test_timeline_two_newest_are_data5_and_data3() {
    fill_timeline
    expect 0 timeline page ptxlist --limit 2
    payloads data5 data3
    expect 0 timeline page ptxlist --limit 2 --offset 2
    payloads data4 data2
}

test_timeline_item_is_read_and_removed_by_its_key() {
    fill_timeline
    expect 0 timeline get ptxlist key3
    same payload data3 "$out"
    expect 0 timeline remove ptxlist key3
    expect 1 timeline get ptxlist key3
    expect 0 timeline page ptxlist
    payloads data5 data4 data2 data1
}

test_timeline_removal_by_time_leaves_key3_and_key5() {
    fill_timeline
    expect 0 timeline trim ptxlist --to 1540458293
    same removed 3 "$out"
    expect 0 timeline page ptxlist --oldest
    payloads data3 data5
}

test_timeline_order_by_a_value() {
    fill_timeline
    expect 0 timeline page ptxlist --order-by fee --limit 3
    payloads data3 data4 data1
}

has_one_item() {
    expect 0 timeline count ptxlist
    [ "$out" = 1 ]
}

test_timeline_item_expires_with_its_payload() {
    expect 0 timeline add ptxlist key1 data1 --ttl 0.03
    expect 0 timeline add ptxlist key3 data3 --ttl 43200
    eventually 5 has_one_item
    expect 0 timeline page ptxlist
    payloads data3
    expect 1 timeline get ptxlist key1
}
