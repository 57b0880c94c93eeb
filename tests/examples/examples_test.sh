# SPDX-License-Identifier: Apache-2.0
#
# examples_test.sh - each example prints what it should, on every kind of store.

: "${EXAMPLES:?the folder of the examples}"
: "${EXAMPLES_BUILT:?the folder of the programs}"

# prints PROGRAM LINE...: it ends with 0 and prints exactly these lines.
prints() {
    local program=$1
    shift

    "$EXAMPLES_BUILT/$program" "$HOLDFAST_STORE" >out 2>err ||
        fail "$program ended with $?: $(cat err)"
    same "what $program prints" "$(printf '%s\n' "$@")" "$(cat out)"
}

test_article_1_hash() {
    prints article_1_hash "field1 = value1" "field2 = value2" \
        "expires in 1000 s"
}

test_article_2_cas() {
    prints article_2_cas "value: not 2, it is 1" "value: 1 became 4" \
        "field: not 2, it is 1" "field: 1 became 4"
}

test_article_3_timeline() {
    prints article_3_timeline "the two newest: data5 data3" \
        "by fee: data3 data4 data1 data5 data2" "3 were older" \
        "the rest: data5 data3" "without key5: data3"
}

test_article_4_set() {
    prints article_4_set "cached: value" "SET NX under our lock: CONFLICT" \
        "our lock under its lock: HELD"
}

test_article_5_lock() {
    prints article_5_lock "after three leases: still held" \
        "another client: HELD" \
        "after the release: held by the other, with a greater token"
}

test_loop_epoll() {
    prints loop_epoll "counted to 1"
    prints loop_epoll "counted to 2"
}

test_loop_uv() {
    prints loop_uv "greeting: hello from libuv"
}

test_loop_glib() {
    prints loop_glib "greeting: hello from GLib"
}

test_loop_event() {
    prints loop_event "greeting: hello from libevent"
}

# One worker is killed in the middle of a job, which another does then. Each job
# is done once.
test_job_queue() {
    local queue=$EXAMPLES_BUILT/job_queue killed other

    "$queue" "$HOLDFAST_STORE" add 12 || fail "add"
    "$queue" "$HOLDFAST_STORE" work 100000 >killed &
    killed=$!
    eventually 10 "$HOLDFAST" lock inspect '{jobs}:lock:1' >/dev/null
    "$queue" "$HOLDFAST_STORE" work 20 >first &
    other=$!
    eventually 10 written first
    kill -KILL "$killed"
    "$queue" "$HOLDFAST_STORE" work 20 >second || fail "the second worker"
    wait "$other" || fail "the first worker"
    same "what the killed worker finished" "" "$(cat killed)"
    same "what was done" "$(for i in {1..12}; do echo "done: $i"; done)" \
        "$(sort -k2n first second)"
    expect 0 value get '{jobs}:done'
    same "the count" 12 "$out"
    expect 0 timeline count '{jobs}'
    same "what is left" 0 "$out"
    expect 0 command --no-raw HLEN '{jobs}:results'
    same "the results" '(integer) 12' "$out"
}

# A worker is stopped until another one has done its job.
test_job_queue_counts_a_job_once() {
    local queue=$EXAMPLES_BUILT/job_queue stopped

    "$queue" "$HOLDFAST_STORE" add 1 || fail "add"
    "$queue" "$HOLDFAST_STORE" work 500 >late &
    stopped=$!
    eventually 10 "$HOLDFAST" lock inspect '{jobs}:lock:1' >/dev/null
    kill -STOP "$stopped"
    "$queue" "$HOLDFAST_STORE" work 1 >done || fail "the other worker"
    kill -CONT "$stopped"
    wait "$stopped" || fail "the stopped worker"
    same "what was done" "done: 1" "$(cat done)"
    same "what was done late" "" "$(cat late)"
    expect 0 value get '{jobs}:done'
    same "the count" 1 "$out"
}

# Two workers, and a job that is due later.
test_queue_worker() {
    local worker=$EXAMPLES_BUILT/queue_worker

    "$worker" "$HOLDFAST_STORE" put later 300 || fail "put"
    for id in a b c; do
        "$worker" "$HOLDFAST_STORE" put "$id" || fail "put"
    done
    "$worker" "$HOLDFAST_STORE" work >first &
    "$worker" "$HOLDFAST_STORE" work >second || fail "the second worker"
    wait $! || fail "the first worker"
    same "what was done" "$(printf 'done: %s\n' a b c later)" \
        "$(sort first second)"
    expect 0 hash get-all '{mail}:sent'
    same "the results" 4 "$(wc -l <out | tr -d ' ')"
    expect 1 key type '{mail}'
}

test_worker_pool() {
    local pool

    "$EXAMPLES_BUILT/worker_pool" "$HOLDFAST_STORE" >out &
    pool=$!
    sleep 1
    kill "$pool"
    wait "$pool" || fail "ended with $?"
    same "what it prints" "many turns, at most 3 at a time" "$(cat out)"
}

# Ten processes miss together: one queries. Then the value is cached.
test_sqlite_cache() {
    local program=$EXAMPLES_BUILT/sqlite_cache i

    "${HF_TEST_PYTHON:-python3}" - <<'PYTHON'
import sqlite3
database = sqlite3.connect("users.db")
database.execute("CREATE TABLE users (id TEXT, name TEXT)")
database.execute("INSERT INTO users VALUES ('7', 'Ada')")
database.commit()
PYTHON
    for i in 1 2 3 4 5 6 7 8 9 10; do
        "$program" "$HOLDFAST_STORE" users.db 7 >"out.$i" 2>"err.$i" &
    done
    wait
    same "how often it was queried" 1 "$(grep -l querying err.* | wc -l)"
    same "what they print" 10 "$(grep -l '^7: Ada (' out.* | wc -l)"
    rm users.db # the value comes from the cache
    "$program" "$HOLDFAST_STORE" users.db 7 >out 2>err || fail "$(cat err)"
    same "the cached value" "7: Ada (cached)" "$(cat out)"
}

test_cron() {
    local first

    PATH=$(dirname "$HOLDFAST"):$PATH
    STEP_S=1 "$EXAMPLES/cron.sh" >first &
    first=$!
    eventually 10 written first
    ! "$EXAMPLES/cron.sh" >second 2>&1 || fail "it ran twice at a time"
    same "what the second prints" "nightly runs already" "$(tail -n 1 second)"
    wait "$first" || fail "the first ended with $?"
    same "what the first does" "dump compress upload" \
        "$(tr '\n' ' ' <first | sed 's/ $//')"
    expect 0 value get nightly:last
    same "what the first wrote" "done" "$out"
    STEP_S=0 "$EXAMPLES/cron.sh" >third || fail "the next run: $?"
}
