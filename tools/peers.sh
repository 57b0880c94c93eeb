#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# peers.sh - libraries for Redis, for `make interop`, `make interop-serve` and
# `make bench-peers`.
#
#     tools/peers.sh FOLDER [SECONDS]
#
# Each language is built at the same time as the others. One whose programs are
# missing, or whose packages are not there or not compiled after SECONDS (200)
# each, is skipped with a line that says so. Nothing is installed outside FOLDER, except in the caches of
# go, cargo, npm, pip and Maven. Versions: requirements*.txt, node/package.json,
# go/go.mod, rust/Cargo.lock and java/pom.xml in tests/interop/drivers.
set -eu

[ $# = 1 ] || [ $# = 2 ] || {
    echo "usage: tools/peers.sh FOLDER [SECONDS]" >&2
    exit 2
}
mkdir -p "$1/node" "$1/bin" "$1/java"
folder=$(cd "$1" && pwd)
drivers=$(cd "$(dirname "$0")/../tests/interop/drivers" && pwd)
limit=${2:-200}

# LIBRARIES REASON: ends the language that calls it.
skip()
{
    echo "skipped: $1: $2"
    exit 0
}

# LIBRARIES PROGRAM...
need()
{
    libraries=$1
    shift
    for program; do
        command -v "$program" >/dev/null ||
            skip "$libraries" "$program is missing"
    done
}

# LIBRARIES COMMAND...: what asks a registry.
fetch()
{
    libraries=$1
    shift
    timeout "$limit" "$@" >"$folder/$1.log" 2>&1 ||
        skip "$libraries" "no packages: $(tail -n 1 "$folder/$1.log")"
}

# LIBRARIES COMMAND...: what compiles. An error of it is ours.
build()
{
    libraries=$1
    shift
    timeout "$limit" "$@" && return
    [ $? = 124 ] || exit 1
    skip "$libraries" "not compiled after $limit s"
}

python()
{
    rm -rf "$folder/python"
    need redis-py python3
    fetch redis-py python3 -m pip install -q --disable-pip-version-check \
        --target "$folder/python" -r "$drivers/requirements.txt"
}

python_queues()
{
    rm -rf "$folder/python-queues"
    need Celery python3
    fetch Celery python3 -m pip install -q --disable-pip-version-check \
        --target "$folder/python-queues" -r "$drivers/requirements-queues.txt"
}

programs="RQ, Celery, huey, dramatiq, django-redis, walrus, channels_redis"
python_programs()
{
    rm -rf "$folder/python-programs"
    need "$programs" python3
    fetch "$programs" python3 -m pip install -q --disable-pip-version-check \
        --target "$folder/python-programs" \
        -r "$drivers/requirements-programs.txt"
}

# redis-py's tests are in its source package.
python_tests()
{
    rm -rf "$folder/python-tests" "$folder/redis-py"
    need "redis-py's tests" python3 tar
    mkdir "$folder/redis-py"
    fetch "redis-py's tests" python3 -m pip download -q --no-deps \
        --disable-pip-version-check --no-binary redis --dest "$folder/redis-py" \
        -r "$drivers/requirements.txt"
    fetch "redis-py's tests" python3 -m pip install -q \
        --disable-pip-version-check --target "$folder/python-tests" \
        -r "$drivers/requirements-tests.txt"
    tar -xzf "$folder"/redis-py/*.tar.gz -C "$folder/redis-py" --strip-components 1
}

node_libraries="node-redlock, redis-semaphore, ioredis, node-redis, BullMQ"
node()
{
    rm -f "$folder"/node/*.mjs
    need "$node_libraries" node npm
    cp "$drivers/node/package.json" "$folder/node/"
    fetch "$node_libraries" npm install --prefix "$folder/node" \
        --no-package-lock --no-audit --no-fund --loglevel error
    cp "$drivers"/node/*.mjs "$folder/node/"
}

go_libraries="redsync, redislock, rueidislock, go-redis, asynq"
go_()
{
    rm -f "$folder"/bin/red* "$folder"/bin/rueidis* "$folder"/bin/contend* \
        "$folder"/bin/calls "$folder"/bin/queue*
    need "$go_libraries" go
    cd "$drivers/go"
    fetch "$go_libraries" go mod download
    build "$go_libraries" go build -o "$folder/bin/" ./...
}

java_libraries="redisson, Jedis, Lettuce, Spring"
java()
{
    rm -rf "$folder"/java/*.class "$folder/java/lib"
    need "$java_libraries" java javac mvn
    fetch "$java_libraries" mvn -q -B -f "$drivers/java/pom.xml" \
        dependency:copy-dependencies -DincludeScope=runtime \
        "-DoutputDirectory=$folder/java/lib"
    build "$java_libraries" javac -XDsuppressNotes -cp "$folder/java/lib/*" \
        -d "$folder/java" "$drivers"/java/*.java
}

rust()
{
    rm -f "$folder/bin/driver_rslock"
    need rslock cargo
    fetch rslock cargo fetch --locked --manifest-path "$drivers/rust/Cargo.toml"
    build rslock cargo build -q --release --offline --locked \
        --manifest-path "$drivers/rust/Cargo.toml" --target-dir "$folder/rust"
    cp "$folder/rust/release/driver_rslock" "$folder/bin/"
}

pids=
for language in python python_queues python_programs python_tests node go_ \
    java rust; do
    (
        $language
    ) &
    pids="$pids $!"
done
for pid in $pids; do
    wait "$pid"
done
