# SPDX-License-Identifier: Apache-2.0
#
# timeline_test.sh - timeline add, get, remove, count, page, range, update,
# trim.

# The items of the third article.
add_items() {
    expect 0 timeline add ptxlist key1 data1 --at 1540458292 --ttl 43200
    expect 0 timeline add ptxlist key2 data2 --at 1540458293 --ttl 43200
    expect 0 timeline add ptxlist key3 data3 --at 1540458294 --ttl 43200
    expect 0 timeline add ptxlist key5 data5 --at 1540458294 --ttl 43200
    expect 0 timeline add ptxlist key4 data4 --at 1540458293 --ttl 43200
}

test_pages() {
    add_items
    expect 0 timeline page ptxlist --limit 2
    same page $'key5\tdata5\nkey3\tdata3' "$out"
    expect 0 timeline page ptxlist --oldest
    same page $'key1\tdata1\nkey2\tdata2\nkey4\tdata4\nkey3\tdata3\nkey5\tdata5' \
        "$out"
    expect 0 timeline page ptxlist --offset 3
    same page $'key2\tdata2\nkey1\tdata1' "$out"
    expect 0 timeline page ptxlist --offset 5
    same page '' "$out"
    expect 0 timeline range ptxlist --from 1540458293 --to 1540458293.5
    same range $'key2\tdata2\nkey4\tdata4' "$out"
    expect 0 timeline count ptxlist
    same count 5 "$out"
}

test_get_and_remove() {
    expect 0 timeline add key id $'pay\nload' --ttl 60 --at 1.5 \
        price:=-12.5 state=open 'odd=a=b' --json
    same answer '{"key":"key","id":"id","added":true}' "$out"
    expect 0 timeline get key id
    same payload $'pay\nload' "$out"
    expect 0 timeline get key id --json
    same answer \
        '{"key":"key","id":"id","payload":"pay\nload","at_ms":1500,"ttl_ms":N,"attributes":[{"name":"price","number":-12.5},{"name":"state","text":"open"},{"name":"odd","text":"a=b"}]}' \
        "$(sed 's/"ttl_ms":[0-9]*/"ttl_ms":N/' out)"
    expect 0 timeline page key
    same page $'id\tpay\\nload' "$out"
    expect 0 timeline remove key id --json
    same answer '{"key":"key","id":"id","removed":true}' "$out"
    expect 1 timeline remove key id --json
    same answer '{"key":"key","id":"id","removed":false}' "$out"
    expect 1 timeline get key id --json
    same answer '{"key":"key","id":"id","payload":null}' "$out"
    expect 0 timeline count key --json
    same answer '{"key":"key","count":0}' "$out"
}

test_orders_and_filters() {
    expect 0 timeline add key a 1 --ttl 60 --at 1 price:=5 state=open
    expect 0 timeline add key b 2 --ttl 60 --at 2 price:=-1 state=done
    expect 0 timeline add key c 3 --ttl 60 --at 3 price:=10 state=open
    expect 0 timeline page key --order-by price
    same page $'c\t3\na\t1\nb\t2' "$out"
    expect 0 timeline page key --order-by price --ascending --from -1 --to 5
    same page $'b\t2\na\t1' "$out"
    expect 0 timeline page key --where state=open
    same page $'c\t3\na\t1' "$out"
    expect 0 timeline page key --where price:=5
    same page $'a\t1' "$out"
    expect 0 timeline count key --where state=open
    same count 2 "$out"
    expect 0 timeline count key --order-by price --from 5 --json
    same count '{"key":"key","count":2}' "$out"
    expect 0 timeline count key --to 2
    same count 2 "$out"
    expect 64 timeline count key --from x
}

test_update() {
    expect 0 timeline add key id old --ttl 60 --at 1 a:=1 b:=2
    expect 0 timeline update key id --payload new --at 2 b:=3 --json
    same answer '{"key":"key","id":"id","updated":true}' "$out"
    expect 0 timeline page key --where b:=3 --from 2
    same page $'id\tnew' "$out"
    expect 0 timeline page key --where a:=1
    same page $'id\tnew' "$out"
    expect 0 timeline update key id --replace c:=1
    expect 0 timeline page key --order-by a
    same page '' "$out"
    expect 1 timeline update key other --json
    same answer '{"key":"key","id":"other","updated":false}' "$out"
}

# As by ZREMRANGEBYSCORE in the article.
test_trim() {
    add_items
    expect 0 timeline trim ptxlist --to 1540458293
    same removed 3 "$out"
    expect 0 timeline page ptxlist --oldest
    same page $'key3\tdata3\nkey5\tdata5' "$out"
    expect 0 timeline trim ptxlist --keep 1 --json
    same answer '{"key":"ptxlist","removed":1}' "$out"
    expect 0 timeline get ptxlist key5
    same payload data5 "$out"
    expect 64 timeline trim ptxlist
    contains "$err" 'specify --to UNIXSEC or --keep COUNT'
    expect 0 timeline delete ptxlist --json
    same answer '{"key":"ptxlist","deleted":true}' "$out"
    expect 1 timeline delete ptxlist
}

test_cursor() {
    local next

    add_items
    expect 0 timeline page ptxlist --limit 2 --json
    next=$(sed 's/.*"next":"\(.*\)"}/\1/' out)
    expect 0 timeline page ptxlist --limit 3 --cursor "$next"
    same page $'key4\tdata4\nkey2\tdata2\nkey1\tdata1' "$out"
    expect 0 timeline page ptxlist --json
    contains "$out" '"next":null}'
}

test_nx_and_stdin() {
    printf 'a\0b' >payload
    expect 0 timeline add key id --nx --ttl 60 --stdin n:=1 <payload
    expect 1 timeline add key id other --nx --ttl 60
    "$HOLDFAST" timeline get --raw key id | cmp - payload || fail 'bytes differ'
}

test_bad_input() {
    expect 64 timeline add key id payload
    contains "$err" 'missing --ttl SEC'
    expect 64 timeline add key id --ttl 5
    contains "$err" 'missing argument PAYLOAD'
    expect 64 timeline add key id payload --ttl 5 price
    contains "$err" '"price" is neither NAME=TEXT nor NAME:=NUMBER'
    expect 64 timeline add key id payload --ttl 5 price:=12x
    expect 64 timeline add key id payload --ttl 0
    expect 64 timeline add key id payload --ttl 5 --at -1
    expect 64 timeline add key id payload --ttl 5 price:=nan
    contains "$err" 'attribute "price" is not a finite number'
    expect 64 timeline add key '' payload --ttl 5
    contains "$err" 'id has 0 bytes; it must have 1..512'
    expect 64 timeline page key --offset 10001
    expect 64 timeline page key --from today
    contains "$err" '--from takes seconds of Unix time, not "today"'
    expect 64 timeline page key --order-by price --from low
    contains "$err" '--from takes a number, not "low"'
    expect 64 timeline page key --cursor abc
    expect 0 timeline count key
    same count 0 "$out"
}
