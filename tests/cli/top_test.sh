# SPDX-License-Identifier: Apache-2.0
#
# top_test.sh - top --once and --json: what is in a sample, what is counted
# between two.

# hold NAME [OPTION...]: in the background, until the test ends or releases it;
# waits until its holder is known.
hold() {
    local name=$1
    shift

    [ -p gate ] || mkfifo gate
    start run --ttl 60 "$@" "$name" -- sh -c 'read x <gate'
    sleep 0.12 # a holder registers after 0.1 s
    eventually 10 is_known "$name"
}

is_known() {
    "$HOLDFAST" lock inspect --json "$1" | grep -q '"pid"'
}

# waits NAME COUNT
waits() {
    "$HOLDFAST" lock inspect --json "$1" | grep -q "\"waiters\":$2}"
}

release_all() {
    : >gate
    wait
}

test_a_sample_has_each_lock_with_holder_and_waiters() {
    hold one
    hold several --slots 3
    start run --ttl 60 one -- true
    eventually 10 waits one 1
    expect 0 value set 'no lock' 1
    expect 0 top --once --json
    json 'd["locks_held"] == 2 and d["waiters"] == 1 and
        d["hand_overs_per_s"] is None and
        [l["name"] for l in d["locks"]] == ["one", "several"] and
        d["locks"][0]["waiters"] == 1 and d["locks"][0]["pid"] > 0 and
        d["locks"][0]["held_ms"] >= 100 and d["locks"][0]["host"] and
        d["locks"][0]["description"] == "sh" and
        d["locks"][1]["mode"] == "permits"'
    expect 0 top --once 'o*' --json
    contains "$out" '"locks_held":1,"waiters":1,'
    release_all
}

test_the_table_is_sorted() {
    hold b
    hold a
    same names 'b a' "$("$HOLDFAST" top --once | names)"
    same names 'a b' "$("$HOLDFAST" top --once --sort name | names)"
    start run --ttl 60 a -- true
    eventually 10 waits a 1
    same names 'a b' "$("$HOLDFAST" top --once --sort waiters | names)"
    expect 0 top --once
    contains "$out" 'locks 2  waiters 1'
    contains "$out" "sh (pid "
    release_all
}

# The names in a table.
names() {
    sed '1,/^ *HELD/d' | awk '{ print $4 }' | xargs
}

test_any_name_is_shown() {
    hold $'\xff\n'
    hold $'\xc3\xa4\e[1m'
    expect 0 top --once
    contains "$out" '  \xff\x0a '
    contains "$out" '  \xc3\xa4\x1b[1m '
    LC_ALL=C.UTF-8 expect 0 top --once
    contains "$out" '  ä\x1b[1m '
    expect 0 top --once --json
    json '[l["name"] for l in d["locks"]] == ["ä\x1b[1m", {"base64": "/wo="}]'
    release_all
}

# A line for each sample, into the file `samples`.
watch_samples() {
    "$HOLDFAST" top --json --interval 0.1 >samples 2>err &
    watcher=$!
    eventually 10 written samples
}

sampled() {
    tail -n 2 samples | grep -q "$1"
}

# In both of the last two samples: the older one may be from before.
sampled_twice() {
    [ "$(tail -n 2 samples | grep -c "$1")" = 2 ]
}

# `turns` is handed over from one holder to the next, which a sample has seen.
hand_over() {
    hold turns
    eventually 10 sampled '"description":"sh"'
    start run turns -- env sh -c 'until [ -e seen ]; do sleep 0.02; done'
    eventually 10 waits turns 1
    : >gate
    eventually 10 sampled '"description":"env"'
    : >seen
    ends 0 "$pid"
    rm seen
    eventually 10 sampled_twice '"locks_held":0'
}

# Once in 10 s a release leaves a lock free for 110 ms, for other libraries: a
# sample sees it free then, and the hand-over is not counted (ADR 0086).
test_changes_are_counted() {
    watch_samples
    hand_over
    sampled '"hand_overs":1' || hand_over
    eventually 10 sampled '"hand_overs":1,"losses":0'
    # A loss counts if a sample was taken in the second half of the lease: 1 s.
    "$HOLDFAST" lock acquire --ttl "$(slowed 2000)" --keep-pid $$ killed >handle
    eventually 10 is_known killed
    eventually 10 sampled '"killed"'
    kill -9 "$(keeper_of killed)"
    eventually 10 sampled '"hand_overs":1,"losses":1'
    kill "$watcher"
    wait
}

keeper_of() {
    "$HOLDFAST" lock inspect --json "$1" | sed 's/.*"pid":\([0-9]*\),.*/\1/'
}

test_one_sample_has_rates_by_two() {
    expect 0 top --once --interval 0.1 --json
    contains "$out" '"hand_overs_per_s":0,"hand_overs":0,"losses":0,'
    expect 64 top --once --interval 0
    expect 64 top --once --sort age
}

test_registrations_that_may_not_be_read_are_left_out() {
    [ -n "$redis_pid" ] || return 0
    hold one
    redis-cli -s "$work/redis" acl setuser reader on '>word' '+@all' '&*' \
        '~one' '~hf:wait:*' '~hf:token' >acl
    expect 0 top --once --json --store "redis+unix://reader:word@$work/redis"
    contains "$out" '"name":"one"'
    lacks "$out" '"pid"'
    release_all
}
