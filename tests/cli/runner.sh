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
        --appendonly no --dir "$work" </dev/null >"$work/redis.log" 2>&1 &
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

unset HOLDFAST_NAME HOLDFAST_TOKEN HOLDFAST_OWNER HOLDFAST_PASSWORD
unset HOLDFAST_PASSWORD_FILE HOLDFAST_PREFIX
export HOLDFAST SHELL=/bin/sh LC_ALL=C

. "$here/harness.sh"
. "$here/$file"

[ $# -gt 0 ] || set -- $(declare -F | sed -n 's/^declare -f \(test_.*\)/\1/p')
[ $# -gt 0 ] || exit 1
failed=0
for name in "$@"; do
    began=$(now_ms)
    mkdir "$work/$name"
    fresh_store "$name"
    if (cd "$work/$name" && "$name") 2>"$work/$name.log"; then
        echo "ok $name ($(($(now_ms) - began)) ms)"
    else
        echo "not ok $name"
        sed 's/^/    /' "$work/$name.log"
        failed=1
    fi
done
exit $failed
