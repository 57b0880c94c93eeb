#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# redis_cli.sh - what redis-cli does besides sending single commands.
#
#     redis_cli.sh PORT
#
# Prints what does not depend on time, memory or versions.
set -eu

cli="redis-cli -p $1"

# STEP: before each line.
say() { sed "s/^/$1 /"; }

# Of two keys of one size, one is the biggest.
fill()
{
    seq 1 500 | sed 's/.*/SET key:& value/' | $cli -n "$1" >/dev/null
    $cli -n "$1" SET big "$(printf '%1000s' x)" >/dev/null
    seq 1 50 | sed 's/^/RPUSH list /' | $cli -n "$1" >/dev/null
    seq 1 40 | sed 's/^/SADD set /' | $cli -n "$1" >/dev/null
    seq 1 30 | sed 's/.*/HSET hash & &/' | $cli -n "$1" >/dev/null
    seq 1 20 | sed 's/.*/ZADD zset & &/' | $cli -n "$1" >/dev/null
    seq 1 10 | sed 's/.*/XADD stream &-1 a b/' | $cli -n "$1" >/dev/null
}

for n in 0 3; do
    fill $n
    $cli -n $n --bigkeys | grep -E 'Sampled|^Biggest|^[0-9]' | say bigkeys
    $cli -n $n --memkeys | grep -oE 'Sampled.*|Biggest +string.*"big"' |
        say memkeys
    $cli -n $n --scan --pattern 'key:1*' | sort | say scan
    $cli -n $n --scan | sort | cksum | say scan
    $cli -n $n DBSIZE | say dbsize
done
$cli --hotkeys 2>&1 | grep -i 'policy' | say hotkeys
# The number of keys of all databases.
timeout 3 stdbuf -oL $cli --stat -i 0.1 | awk '/^[0-9]/ { print $1; exit }' |
    say stat

$cli FLUSHALL | say pipe
seq 1 20000 | sed 's/.*/SET piped:& &/' | $cli --pipe | say pipe
awk 'BEGIN { for (i = 0; i < 5000; i++)
    printf "*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n" }' | $cli --pipe | say pipe
printf 'SET s text\r\nINCR s\r\nLPUSH s 1\r\nNONE\r\nGET s\r\n' |
    $cli --pipe 2>&1 | say pipe
$cli DBSIZE | say pipe

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fill 2
$cli SET late 1 EX 10000 | say rdb
$cli --rdb "$folder/rdb" 2>&1 | grep -o 'with success' | say rdb
redis-check-rdb "$folder/rdb" | grep -oE '[0-9]+ (keys|expires|already).*|looks OK' |
    say rdb

$cli -r 3 -i 0.01 INCR repeated | say repeat
printf 'text of a pipe' | $cli -x SET piped | say stdin
printf 'some' | $cli -X word EVAL 'return {KEYS[1], ARGV[1]}' 1 word b |
    say stdin
$cli -n 9 SET nine 9 | say database
$cli -n 9 INFO keyspace | grep -o 'db9:keys=1' | say database
$cli -u "redis://127.0.0.1:$1/9" GET nine | say url
$cli -3 HGETALL none | say resp3
$cli --csv RPUSH csv 'a "b"' c | say csv
$cli --csv LRANGE csv 0 -1 | say csv
$cli --json -3 LRANGE csv 0 -1 | say json
$cli -e NONE 2>&1 | say error || true
printf 'MULTI\nINCR m\nINCR m\nEXEC\nSELECT 4\nGET m\n' | $cli | say multi
echo 'return {KEYS[1], ARGV[1], redis.call("dbsize") > 0}' >"$folder/lua"
$cli --eval "$folder/lua" key , argument | say eval

timeout 20 $cli SUBSCRIBE channel >"$folder/heard" &
until [ "$($cli PUBLISH channel text)" = 1 ]; do
    sleep 0.05
done
until [ "$(wc -l <"$folder/heard")" -ge 6 ]; do
    sleep 0.05
done
kill $!
say subscribe <"$folder/heard"
