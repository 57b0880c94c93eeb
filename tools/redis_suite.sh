#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# redis_suite.sh - Redis's own tests, against `holdfast serve`.
#
#     tools/redis_suite.sh [--holdfast COMMAND] [OPTION OF run.py]...
#
# The tests are those of the Debian 12 source package of Redis, also on later
# releases. It is fetched with the machine's apt, once, without a change of its
# sources and lists; where that is impossible, put the file named below there.
# Takes five minutes on two cores, and the first time twice that.
set -eu

cd "$(dirname "$0")/.."
version=7.0.15
archive=redis_$version.orig.tar.gz
sum=4b1dc4ee6d622a09fff9c6777191209750fb5e5a725ef78ea012d6eef4c22982
folder=build/redis-suite
suite=$folder/redis-$version
work=

# Source packages of Debian 12, from the mirror that the packages come from.
# shellcheck disable=SC2016 # apt has its own $
source_list()
{
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' \
        'Label: Debian' | head -n 1)
    echo "Types: deb-src"
    echo "URIs: ${mirror:-http://deb.debian.org/debian}"
    echo "Suites: bookworm"
    echo "Components: main"
    echo "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg"
}

download()
{
    command -v apt-get >/dev/null || return
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    mkdir "$work/lists"
    source_list >"$work/redis.sources"
    set -- -q -o Dir::State::Lists="$work/lists" \
        -o Dir::Etc::SourceList="$work/redis.sources" \
        -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
        -o APT::Sandbox::User=root -o APT::Update::Error-Mode=any \
        -o Acquire::Retries=1 -o Acquire::http::Timeout=20
    (cd "$work" && apt-get "$@" update && apt-get "$@" --only-source \
        --download-only source redis) >"$folder/apt.log" 2>&1 || return
    mv "$work/$archive" "$folder/"
}

fetch()
{
    mkdir -p $folder
    [ -e $folder/$archive ] || download || {
        [ ! -e $folder/apt.log ] || tail -n 3 $folder/apt.log >&2
        echo "redis_suite.sh: no source package of Redis $version; put" \
            "$archive of Debian 12 into $folder/" >&2
        exit 1
    }
    echo "$sum  $folder/$archive" | sha256sum -c --quiet
    rm -rf $suite
    tar -xzf $folder/$archive -C $folder
    # The last file that the suite's client loads.
    echo 'source $::env(SUITE_AMEND)' >>$suite/tests/support/util.tcl
}

holdfast=
if [ "${1-}" = --holdfast ]; then
    holdfast=$2
    shift 2
fi
for program in tclsh redis-server python3; do
    command -v $program >/dev/null || {
        echo "redis_suite.sh: needs $program" >&2
        exit 1
    }
done
[ -e $suite/tests/test_helper.tcl ] || fetch
if [ -z "$holdfast" ]; then
    cmake --preset release >/dev/null
    cmake --build --preset release --target holdfast_command
    holdfast=build/holdfast
fi
python3 -B tests/redis_suite/run.py $suite "$(realpath "$holdfast")" \
    redis-server --log $folder/failures.txt "$@"
