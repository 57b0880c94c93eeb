#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# peers.sh - other lock libraries, for `make interop`.
#
#     tools/peers.sh FOLDER
#
# Needs node, npm and go, and network access; nothing is installed outside
# FOLDER, except in the cache of go. Versions: tests/interop/fleet/node/
# package.json and tests/interop/fleet/go/go.mod.
set -eu

[ $# = 1 ] || { echo "usage: tools/peers.sh FOLDER" >&2; exit 2; }
for program in node npm go; do
    command -v $program >/dev/null || {
        echo "peers.sh: $program is missing; install it" >&2
        exit 1
    }
done
mkdir -p "$1/node" "$1/bin"
folder=$(cd "$1" && pwd)
fleet=$(cd "$(dirname "$0")/../tests/interop/fleet" && pwd)

cp "$fleet"/node/* "$folder/node/"
npm install --prefix "$folder/node" --no-package-lock --no-audit --no-fund \
    --loglevel error
cd "$fleet/go"
go build -o "$folder/bin/" ./redsync ./rueidislock
