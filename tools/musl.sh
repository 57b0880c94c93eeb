#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# musl.sh [BUILD] - compile both libraries with musl, by Debian's musl-gcc
# (musl-tools), into static libraries below BUILD (default build-musl). Of other
# libraries it uses the headers of the system, which name types that are the
# same in both C libraries; a program would need those libraries built with
# musl, too, so none is linked.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build-musl}
mkdir -p "$build"
build=$(cd "$build" && pwd)

# musl-gcc does not look into /usr/include, and all of it would be too much.
headers=$build/headers
rm -rf "$headers"
mkdir -p "$headers"
cp "$(find /usr/include -name lmdb.h | head -n 1)" "$headers"
multiarch=/usr/include/$(gcc -print-multiarch)
for header in /usr/include/openssl /usr/include/linux \
    /usr/include/asm-generic "$multiarch/openssl" "$multiarch/asm" \
    "$multiarch/lua5.1-deb-multiarch.h"; do
    [ ! -e "$header" ] || cp -r "$header" "$headers"
done

cmake -G Ninja -S . -B "$build" -DCMAKE_C_COMPILER=musl-gcc -DHF_WERROR=ON \
    -DCMAKE_BUILD_TYPE=Debug \
    -DHF_TESTS=OFF -DHF_COMMAND=OFF \
    -DCMAKE_C_FLAGS="-isystem $headers" >/dev/null
cmake --build "$build" ${JOBS:+-j"$JOBS"} \
    --target holdfast_static holdfast_serve_static
