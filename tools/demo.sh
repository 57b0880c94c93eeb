#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# demo.sh - the main job, on the embedded store, with real processes.
#
#     tools/demo.sh [path of the holdfast command]      default: build/holdfast
#
# Everything below is printed by the commands shown; a step whose outcome is not
# the expected one ends the demo with 1.
set -eu

holdfast=${1:-build/holdfast}
[ -x "$holdfast" ] || {
    echo "demo.sh: no command at $holdfast; run make build" >&2
    exit 1
}
here=$(mktemp -d "${TMPDIR:-/tmp}/holdfast-demo.XXXXXX")
name=demo-$$
HOLDFAST_STORE=volatile:$name
export HOLDFAST_STORE

cleanup()
{
    rm -rf "$here" "/dev/shm/holdfast-$(id -u)/$name"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

say()
{
    printf '\n\033[1m%s\033[0m\n' "$*"
}

# show CODE OUTPUT ARGUMENTS...: run the command, print it, what it said and its
# exit code; both must be as expected.
show()
{
    expected_code=$1 expected=$2 code=0
    shift 2
    said=$("$holdfast" "$@" 2>&1) || code=$?
    printf '  $ holdfast %s\n    %s\n' "$*" "${said:-(exit code $code)}"
    [ "$code $said" = "$expected_code $expected" ] ||
        fail "expected: $expected_code $expected"
}

fail()
{
    echo "demo.sh: $*" >&2
    exit 1
}

ms()
{
    date +%s%3N
}

wait_for()
{
    tries=0
    until [ -e "$1" ]; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || fail "$2"
        sleep 0.05
    done
}

say "1. One lock, two processes: the second waits and is woken"
"$holdfast" run job -- sh -c '
    echo "  A holds the lock, token $HOLDFAST_TOKEN"
    touch "$0/a"; sleep 1; echo "  A is done"' "$here" &
a=$!
wait_for "$here/a" "the first process did not get the lock"
if "$holdfast" run -n job -- true 2>/dev/null; then
    fail "two processes hold one lock"
else
    echo "  B tried without waiting: exit code $?"
fi
"$holdfast" run -w 10 job -- sh -c '
    echo "  B waited, and holds it now, token $HOLDFAST_TOKEN"'
wait $a

say "2. A holder killed with -9: its lock frees itself, its child is gone"
"$holdfast" run --ttl 1 job -- sh -c 'touch "$0/victim"; exec sleep 60' \
    "$here" &
victim=$!
wait_for "$here/victim" "the victim did not get the lock"
kill -9 $victim
killed=$(ms)
wait $victim 2>/dev/null || true
"$holdfast" run -w 10 job -- sh -c '
    echo "  the next one holds it, token $HOLDFAST_TOKEN"'
echo "  $(($(ms) - killed)) ms after the kill, with a lease of 1000 ms"

say "3. A hash written together with its expiry"
show 0 '' hash put key field1 value1 field2 value2 --ttl 1000
show 0 value2 hash get key field2

say "4. Compare-and-set: 1 -> not 3 if 2 -> 4 if 1"
show 0 '' value set test:String:cas 1
show 1 "holdfast: value cas: the present value is another
1" value cas test:String:cas 2 3
show 0 '' value cas test:String:cas 1 4
show 0 4 value get test:String:cas

say "5. A time-ordered list, by a script of one's own"
cat >"$here/list.lua" <<'LUA'
redis.call('zadd', KEYS[1], 1540458292, 'key1', 1540458293, 'key2',
    1540458294, 'key3', 1540458294, 'key5', 1540458293, 'key4')
redis.call('zremrangebyscore', KEYS[1], 0, 1540458293)
return redis.call('zrevrange', KEYS[1], 0, 1)
LUA
show 0 '1) "key5"
2) "key3"' script run "$here/list.lua" ptxlist

say "6. A cache that forgets, and SET with its options"
show 0 '' value set page '<html>' --ttl 0.2
show 1 'holdfast: value set: the key exists' value set page other --nx
sleep 0.3
show 0 '' value set page '<html>' --nx --px 60000
show 0 '<html>' value set page '<html><body>' --xx --keepttl --get

say "7. Who holds the lock?"
"$holdfast" run --ttl 30 job -- "$holdfast" lock inspect job
echo
echo "Demo done."
