#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# queue_test.sh - the job queue of each language: each job runs once, in three
# workers of which one is killed. `PROGRAM put JOB PAYLOAD` and `PROGRAM work
# SECONDS` are its commands.
#
# usage: queue_test.sh HOLDFAST PROGRAM...
set -eu
holdfast=$1
shift
jobs=30

get() {
    "$holdfast" value get "$1" 2>/dev/null || true
}

for job in $(seq $jobs); do
    "$@" put "job$job" "abc$job"
done
"$@" work 120 >/dev/null & first=$!
"$@" work 120 >/dev/null & second=$!
"$@" work 120 >/dev/null & third=$!
trap 'kill $second $third 2>/dev/null || true' EXIT
sleep 0.1
kill -9 $first
for _ in $(seq 600); do
    left=$("$holdfast" timeline count "{jobs}")
    [ "$left" != 0 ] || break
    sleep 0.1
done
[ "$left" = 0 ] || { echo "queue_test: $left jobs are left"; exit 1; }
for job in $(seq $jobs); do
    runs=$(get "{jobs}:runs:job$job")
    result=$(get "{jobs}:result:job$job")
    [ "$runs" = 1 ] || { echo "queue_test: job$job ran $runs times"; exit 1; }
    [ "$result" = "$(printf abc%s "$job" | rev)" ] ||
        { echo "queue_test: job$job has the result $result"; exit 1; }
done
echo "queue_test: $jobs jobs ran once each"
