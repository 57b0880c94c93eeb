#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# demo.sh - what Holdfast does, in a minute, with real processes.
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
    # shellcheck disable=SC2046 # words
    kill $(jobs -p) 2>/dev/null
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
    awk '{ print "#   " $0 }' "$said"
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

    say "1. One lock: B is kept out while A holds it; when A is killed, B gets it"
    launch "holdfast run --ttl 1 job -- sh -c 'echo A holds it, token \$HOLDFAST_TOKEN >a; exec sleep 60'"
    try 'until [ -s a ]; do sleep 0.05; done; cat a' 'A holds it, token *'
    try 'holdfast run -n job -- true; echo "B did not wait: exit code $?"' \
        '*exit code 1'
    try 'kill -9 $!; killed=$(date +%s%3N)'
    try "holdfast run -w 10 job -- sh -c 'echo B holds it, token \$HOLDFAST_TOKEN'" \
        'B holds it, token *'
    try 'echo "$(($(date +%s%3N) - killed)) ms after the kill, with a lease of 1000 ms"'

    say "2. Three slots: six backups, at most three at a time"
    try 'for i in 1 2 3 4 5 6; do holdfast run --slots 3 backup -- sh -c "echo begin; sleep 0.4; echo end" & done >log; wait $(jobs -p)' ''
    try "awk '/begin/ { n++ } /end/ { n-- } n > most { most = n } END { print \"at most\", most, \"of\", NR / 2 }' log" \
        'at most 3 of 6'

    say "3. A leader, and the next one when it is killed"
    launch "holdfast lead --text host-a --ttl 1 scheduler -- sleep 60"
    try 'until holdfast election inspect --raw scheduler; do sleep 0.1; done; a=$!' \
        '*host-a'
    launch "holdfast lead --text host-b --ttl 1 scheduler -- sleep 60"
    try 'kill -9 $a; until holdfast election inspect --raw scheduler | grep host-b; do sleep 0.1; done' \
        host-b
    try 'kill $!' ''

    say "4. Items that expire, in the order of one of their attributes"
    try 'holdfast timeline add pending tx1 "from Ann" --ttl 43200 fee:=20' ''
    try 'holdfast timeline add pending tx2 "from Bob" --ttl 43200 fee:=50' ''
    try 'holdfast timeline add pending tx3 "from Eve" --ttl 43200 fee:=30' ''
    try 'holdfast timeline page pending --order-by fee --limit 2' '*from Bob*from Eve*'

    say "5. A cache: five processes miss at once, one of them computes"
    try 'for i in 1 2 3 4 5; do holdfast cache fill page --ttl 60 -- sh -c "echo >>fills; sleep 0.5; printf %s page" & done; wait $(jobs -p)' \
        'page
page
page
page
page'
    try 'wc -l <fills' 1

    say "6. The same store for clients of Redis, in any language"
    launch 'holdfast serve --listen unix:$PWD/socket >ready 2>log'
    server=$!
    try 'until [ -s ready ]; do sleep 0.05; done; holdfast value set greeting hello' ''
    command -v redis-cli >/dev/null &&
        try 'redis-cli -s socket GET greeting' hello
    redis_py=
    for python in python3 /usr/bin/python3; do
        $python -c 'import redis' 2>/dev/null && redis_py=$python && break
    done
    [ -n "$redis_py" ] &&
        try "holdfast run job -- $redis_py -c 'import redis; print(redis.Redis(unix_socket_path=\"socket\").lock(\"job\", timeout=9).acquire(blocking=False))'" \
            False
    kill $server
}
printf '\n# Demo done.\n'
