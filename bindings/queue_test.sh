#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# queue_test.sh - the job queue of each language: each job is done, by three
# workers of which one is killed at its work. A job is done at least once: the
# one that the killed worker had may have run twice, no other. `PROGRAM put JOB
# PAYLOAD` and `PROGRAM work SECONDS` are its commands.
#
# usage: queue_test.sh HOLDFAST PROGRAM...
set -eu
holdfast=$1
shift
jobs=30

get() {
    "$holdfast" value get "$1" 2>/dev/null || true
}

# Jobs in these states, together.
count() {
    "$holdfast" queue inspect "{jobs}" |
        awk -v states=" $* " 'index(states, " " $1 " ") { sum += $2 }
                              END { print sum + 0 }'
}

for job in $(seq $jobs); do
    "$@" put "job$job" "abc$job"
done
[ "$(count ready:)" = $jobs ] || { echo "queue_test: not all were put"; exit 1; }
"$@" work 120 >/dev/null & first=$!
second='' third=''
trap 'kill $first $second $third 2>/dev/null || true' EXIT
for _ in $(seq 600); do
    [ "$(count ready:)" = $jobs ] || break
    sleep 0.05
done
kill -9 $first
early=$(count ready: taken:)
"$@" work 120 >/dev/null & second=$!
"$@" work 120 >/dev/null & third=$!
for _ in $(seq 600); do
    left=$(count ready: taken: delayed: behind: dead:)
    [ "$left" != 0 ] || break
    sleep 0.1
done
[ "$left" = 0 ] || { echo "queue_test: $left jobs are left"; exit 1; }
twice=0
for job in $(seq $jobs); do
    runs=$(get "{jobs}:runs:job$job")
    result=$(get "{jobs}:result:job$job")
    case $runs in
    1) ;;
    2) twice=$((twice + 1)) ;;
    *) echo "queue_test: job$job ran ${runs:-0} times"; exit 1 ;;
    esac
    [ "$result" = "$(printf abc%s "$job" | rev)" ] ||
        { echo "queue_test: job$job has the result $result"; exit 1; }
done
[ $twice -le 1 ] || { echo "queue_test: $twice jobs ran twice"; exit 1; }
echo "queue_test: $jobs jobs ran, $early of them after a worker was killed," \
    "$twice twice"
