#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# interop.sh - our locks and those of other libraries, on one server.
#
#     tools/interop.sh
#
# A library that cannot be installed is skipped with a line that says so.
set -eu

cd "$(dirname "$0")/.."
peers=build/peers
ours=build/tests/interop
server=$(command -v redis-server || command -v valkey-server)

cmake --preset release >/dev/null
cmake --build --preset release --target driver_holdfast fleet_redisson
tools/peers.sh $peers
fleet="python3 -B tests/interop/fleet.py $server $ours/driver_holdfast
    --peers $peers"
$fleet
$fleet --each 2 --count 2000 --alone 15 --libraries holdfast,redsync
[ ! -e $peers/java/Fleet.class ] ||
    python3 -B tests/interop/redisson/fleet.py "$server" \
        $ours/fleet_redisson $peers --seconds 3
