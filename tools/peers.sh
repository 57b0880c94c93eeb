#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# peers.sh - other lock libraries, for `make interop` and `make bench-peers`.
#
#     tools/peers.sh FOLDER
#
# Needs node, npm, go, java and mvn, and network access; nothing is installed
# outside FOLDER, except in the caches of go and Maven. Versions:
# tests/interop/fleet/node/package.json, tests/interop/fleet/go/go.mod and
# tests/interop/contend/java/pom.xml.
set -eu

[ $# = 1 ] || { echo "usage: tools/peers.sh FOLDER" >&2; exit 2; }
for program in node npm go javac mvn; do
    command -v $program >/dev/null || {
        echo "peers.sh: $program is missing; install it" >&2
        exit 1
    }
done
mkdir -p "$1/node" "$1/bin" "$1/java"
folder=$(cd "$1" && pwd)
interop=$(cd "$(dirname "$0")/../tests/interop" && pwd)
fleet=$interop/fleet

cp "$fleet"/node/* "$folder/node/"
npm install --prefix "$folder/node" --no-package-lock --no-audit --no-fund \
    --loglevel error
cd "$fleet/go"
go build -o "$folder/bin/" ./redsync ./rueidislock ./contend_redsync \
    ./contend_rueidislock

mvn -q -B -f "$interop/contend/java/pom.xml" dependency:copy-dependencies \
    -DincludeScope=runtime "-DoutputDirectory=$folder/java/lib"
javac -cp "$folder/java/lib/*" -d "$folder/java" \
    "$interop/contend/java/Contend.java"
javac -cp "$folder/java/lib/*" -d "$folder/java" \
    "$interop/redisson/Fleet.java"
