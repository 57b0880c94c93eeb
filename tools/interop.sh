#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# interop.sh - our locks and those of other libraries, on one server.
#
#     tools/interop.sh [--short | --serve | --programs]
#
# --programs: the work of programs such as RQ, BullMQ and Sidekiq on a
# redis-server and on `holdfast serve`; 6 minutes.
#
# --serve: on `holdfast serve`; first client libraries on it and on a redis-server,
# whose replies must be equal, the tests of redis-py on both, and hand-overs
# between a process on the store and one on its server.
#
# A library that cannot be installed is skipped with a line that says so. Takes
# 5 minutes on two cores, and --short 2, once the packages are in the caches of
# their tools; without a registry --short gives up after 120 s a language, all at
# the same time.
set -eu

cd "$(dirname "$0")/.."
peers=build/peers
ours=build/tests/interop
server=$(command -v redis-server || command -v valkey-server)
limit=200
increments=20000
seconds=4
least=0.2
if [ "${1-}" = --short ]; then
    limit=120
    increments=2000
    seconds=1
    least=0.02
fi

cmake --preset release >/dev/null
cmake --build --preset release --target driver_holdfast fleet_redisson \
    holdfast_command calls_hiredis handover_worker
tools/peers.sh $peers $limit
if [ "${1-}" = --programs ]; then
    exec python3 -B tests/interop/programs.py "$server" build/holdfast $peers
fi
if [ "${1-}" = --serve ]; then
    python3 -B tests/interop/clients.py "$server" build/holdfast \
        $ours/calls_hiredis $peers
    for protocol in 2 3; do
        echo
        echo "redis-py's tests, RESP$protocol"
        python3 -B tests/interop/redis_py_suite.py "$server" build/holdfast \
            $peers --protocol $protocol
    done
    echo
    python3 -B tests/interop/handover.py build/holdfast \
        $ours/handover_worker $peers
    server=build/holdfast
fi
python3 -B tests/interop/libraries.py "$server" $ours/driver_holdfast $peers

fleet()
{
    echo
    python3 -B tests/interop/fleet.py "$server" $ours/driver_holdfast \
        --peers $peers "$@"
}

fleet --count $increments
[ "${1-}" = --short ] ||
    fleet --each 2 --count 2500 --hold-us 10000 --pause-us 0 --alone 12 \
        --libraries holdfast,redis-py,redsync,redis-semaphore
if [ -e $peers/java/Fleet.class ]; then
    echo
    python3 -B tests/interop/redisson/fleet.py "$server" \
        $ours/fleet_redisson $peers --seconds $seconds --least $least
fi
