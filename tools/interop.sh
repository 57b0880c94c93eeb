#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# interop.sh - our locks and those of other libraries, on one server.
#
#     tools/interop.sh [--short]
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
cmake --build --preset release --target driver_holdfast fleet_redisson
tools/peers.sh $peers $limit
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
