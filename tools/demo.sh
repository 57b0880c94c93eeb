#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# demo.sh - the main features, on the embedded store, with real processes.
#
#     tools/demo.sh [path of the holdfast command]      default: build/holdfast
#
# Every printed line is a command, run just then, or a comment with its output:
# the lines can be pasted into a shell one by one. A command whose output is not
# the expected one ends the demo with status 1.
set -u

holdfast=${1:-build/holdfast}
[ -x "$holdfast" ] || {
    echo "demo.sh: no command at $holdfast; run make demo" >&2
    exit 1
}
bin=$(cd "$(dirname "$holdfast")" && pwd)
here=
said=$(mktemp "${TMPDIR:-/tmp}/holdfast-said.XXXXXX") || exit 1

cleanup()
{
    wait
    rm -rf "$said" ${here:+"$here"}
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

bold=
plain=
if [ -t 1 ]; then
    bold=$(printf '\033[1m')
    plain=$(printf '\033[0m')
fi

say()
{
    printf '\n%s# %s%s\n' "$bold" "$*" "$plain"
}

# try LINE [PATTERN]: print the line, run it in this shell and print its output
# as comments; it must match.
try()
{
    printf '%s\n' "$1"
    eval "$1" >"$said" 2>&1
    sed 's/^/#   /' "$said"
    # shellcheck disable=SC2254 # a pattern on purpose
    case $(cat "$said") in
    ${2-*}) ;;
    *)
        echo "demo.sh: expected: $2" >&2
        exit 1
        ;;
    esac
}

# The same, in the background.
launch()
{
    printf '%s &\n' "$1"
    eval "$1 &"
}

try "PATH=$bin:\$PATH"
# shellcheck disable=SC2016 # these are for eval
{
    try 'cd "$(mktemp -d)"'
    here=$PWD
    try 'export HOLDFAST_STORE=volatile:$PWD/store'

    say "1. One lock, two processes: the second waits and is woken"
    launch "holdfast run job -- sh -c 'echo A holds the lock, token \$HOLDFAST_TOKEN >a; until [ -e go ]; do sleep 0.1; done'"
    try 'until [ -s a ]; do sleep 0.05; done; cat a' 'A holds the lock, token *'
    try 'holdfast run -n job -- true; echo "B tried without waiting: exit code $?"' \
        '*exit code 1'
    launch 'sleep 1 && touch go'
    try "holdfast run -w 10 job -- sh -c 'echo B waited, and holds it now, token \$HOLDFAST_TOKEN'" \
        'B waited, and holds it now, token *'

    say "2. A holder killed with -9: its lock frees itself, its child is gone"
    launch "holdfast run --ttl 1 job -- sh -c 'echo \$\$ >child; exec sleep 60'"
    try 'until [ -s child ]; do sleep 0.05; done; kill -9 $!; killed=$(date +%s%3N)'
    try "holdfast run -w 10 job -- sh -c 'echo the next one holds it, token \$HOLDFAST_TOKEN'" \
        'the next one holds it, token *'
    try 'echo "$(($(date +%s%3N) - killed)) ms after the kill, with a lease of 1000 ms"'
    try 'grep -qs "^State:.[^Z]" "/proc/$(cat child)/status" || echo its child is gone' \
        'its child is gone'

    say "3. A hash written together with its expiry"
    try 'holdfast hash put key field1 value1 field2 value2 --ttl 1000' ''
    try 'holdfast hash get key field2' value2

    say "4. Compare-and-set: 1 -> not 3 if 2 -> 4 if 1"
    try 'holdfast value set test:String:cas 1' ''
    try 'holdfast value cas test:String:cas 2 3; echo "exit code $?"' \
        '*exit code 1'
    try 'holdfast value cas test:String:cas 1 4' ''
    try 'holdfast value get test:String:cas' 4

    say "5. A time-ordered list, by your own script"
    try "echo \"redis.call('zadd', KEYS[1], 1540458292, 'key1', 1540458293, 'key2', 1540458294, 'key3', 1540458294, 'key5', 1540458293, 'key4')\" >list.lua" ''
    try "echo \"redis.call('zremrangebyscore', KEYS[1], 0, 1540458293)\" >>list.lua" ''
    try "echo \"return redis.call('zrevrange', KEYS[1], 0, 1)\" >>list.lua" ''
    try 'holdfast script run list.lua ptxlist' '1) "key5"
2) "key3"'

    say "6. A cache that forgets, and SET with its options"
    try "holdfast value set page '<html>' --ttl 0.2" ''
    try 'sleep 0.3; holdfast value get page; echo "exit code $?"' '*exit code 1'
    try "holdfast value set page '<html>' --nx --px 60000" ''
    try 'holdfast value set page other --nx; echo "exit code $?"' '*exit code 1'
    try "holdfast value set page '<html><body>' --xx --keepttl --get" '<html>'

    say "7. Who holds the lock?"
    launch "holdfast run --ttl 30 job -- sh -c 'until [ -e enough ]; do sleep 0.1; done'"
    try 'until holdfast lock inspect job | grep -q holder:; do sleep 0.1; done'
    try 'holdfast lock inspect job' '*holder: sh (pid *'
    try 'holdfast run -n --verbose job -- true; touch enough' '*held by sh (pid *'
}
printf '\n# Demo done.\n'
