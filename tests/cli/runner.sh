#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# runner.sh - run the tests of one file against one kind of store.
#
#     HOLDFAST=build/holdfast tests/cli/runner.sh embedded|redis|own FILE [TEST...]
#
# FILE defines functions test_<claim>. Each runs in a subshell with a store that
# only this runner uses, and fails by calling `fail`. Exit code 77: there is no
# server to test with.

set -u

here=$(cd "$(dirname "$0")" && pwd)
: "${HOLDFAST:?must be the path of the command}"
HOLDFAST=$(realpath -e "$HOLDFAST") || exit 1
kind=$1
file=$2
shift 2

# In memory if possible: a durable store would only test the disk.
work=$(mktemp -d -p /dev/shm holdfast-cli.XXXXXX 2>/dev/null) ||
    work=$(mktemp -d) || exit 1
redis_pid=

finish() {
    # A child that is killed as soon as it is forked still has this trap.
    [ "$BASHPID" = $$ ] || return
    if [ -n "$redis_pid" ]; then
        kill -CONT "$redis_pid" 2>/dev/null
        kill "$redis_pid" 2>/dev/null
        wait "$redis_pid" 2>/dev/null
    fi
    rm -rf "$work"
}
trap finish EXIT

start_redis() {
    local try

    command -v redis-server >/dev/null && command -v redis-cli >/dev/null ||
        exit 77
    redis-server --port 0 --unixsocket "$work/redis" --save '' \
        --appendonly no --jemalloc-bg-thread no --dir "$work" </dev/null >"$work/redis.log" 2>&1 &
    redis_pid=$!
    for ((try = 0; try < 200; try++)); do
        redis-cli -s "$work/redis" ping >/dev/null 2>&1 && return
        sleep 0.02
    done
    cat "$work/redis.log" >&2
    exit 1
}

case $kind in
embedded) ;;
redis) start_redis ;;
own) # servers that a test starts; see topology.c
    command -v "${HF_TEST_SERVER:-redis-server}" >/dev/null || exit 77
    TOPOLOGY=$(realpath -e "${TOPOLOGY:?must be the path of cli_topology}") ||
        exit 1
    ;;
*)
    echo "runner.sh: unknown kind of store: $kind" >&2
    exit 64
    ;;
esac

# Each test finds its store empty.
fresh_store() {
    if [ -n "$redis_pid" ]; then
        redis-cli -s "$work/redis" flushall >/dev/null
        export HOLDFAST_STORE=redis+unix://$work/redis
    else
        export HOLDFAST_STORE=volatile:$work/$1.store
    fi
}

# What a failed test said: at most 40 lines, none of them long.
shortened() {
    awk 'length > 600 {
            $0 = substr($0, 1, 400) " ... " substr($0, length - 180) }
        { line[NR] = $0 }
        END { for (i = 1; i <= NR; i++)
                if (NR <= 40 || i <= 20 || i > NR - 19)
                    print "    " line[i]
                else if (i == 21)
                    print "    (" NR - 39 " more lines)" }' "$@"
}

# No test takes so long, not even under ASan on a machine with a load of 35.
longest_s=600
mkfifo "$work/never"

# Kill what the running test waits for, if it waits too long: it fails then. Its
# process id is in $work/running. If the runner itself was killed, its folder may
# be gone and process ids belong to others: end.
watch_over() {
    local self=$BASHPID test children

    until read -r -t "$longest_s" _ <>"$work/never"; do
        [ "$(ps -o ppid= -p "$self")" -eq $$ ] || return
        children=
        read -r test <"$work/running"
        read -r children <"/proc/$test/task/$test/children"
        [ -n "$children" ] || continue
        echo "$1 has waited $longest_s s for: $(ps -o pid=,args= -p \
            "${children// /,}")"
        kill -KILL $children
    done
}

unset HOLDFAST_NAME HOLDFAST_TOKEN HOLDFAST_OWNER HOLDFAST_PASSWORD
unset HOLDFAST_PASSWORD_FILE HOLDFAST_PREFIX HOLDFAST_LOG
export HOLDFAST SHELL=/bin/sh LC_ALL=C XDG_CONFIG_HOME=$work

. "$here/harness.sh"
. "$here/$file"

[ $# -gt 0 ] || set -- $(declare -F | sed -n 's/^declare -f \(test_.*\)/\1/p')
[ $# -gt 0 ] || exit 1
failed=0
for name in "$@"; do
    began=$(now_ms)
    mkdir "$work/$name"
    fresh_store "$name"
    watch_over "$name" >"$work/$name.hang" 2>&1 &
    watcher=$!
    if (echo "$BASHPID" >"$work/running" && cd "$work/$name" && "$name") \
        2>"$work/$name.log"; then
        echo "ok $name ($(($(now_ms) - began)) ms)"
    else
        echo "not ok $name"
        shortened "$work/$name.log" "$work/$name.hang"
        failed=1
    fi
    kill "$watcher"
    wait "$watcher" 2>/dev/null
done
exit $failed
