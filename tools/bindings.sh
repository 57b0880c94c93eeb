#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# bindings.sh - build and test the bindings of other languages with the library
# in build/, on an embedded store and on Redis, as their users would get them.
#
#     tools/bindings.sh [cpp] [python] [go] [rust]
#
# By default those whose tools are there. Everything is made in build/bindings/.
# Python's tools (cffi, pytest, mypy, build) come from its package index into a
# virtual environment there.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
build=$root/build
work=$build/bindings/make

say() {
    echo "-- bindings: $*"
}

has() {
    command -v "$1" >/dev/null
}

by_ctest() {
    ctest --preset all -R "^bindings\.$1\."
}

prepare() {
    cmake --preset release >/dev/null
    cmake --build --preset release --target holdfast holdfast_command "$@"
}

# The library as it is installed, in a folder.
install_library() {
    cmake --preset release >/dev/null
    cmake --build --preset release --target holdfast holdfast_static \
        holdfast_serve holdfast_serve_static holdfast_command manual
    cmake --install build --prefix "$work/prefix" >/dev/null
}

on_store() {
    python3 -B bindings/on_store.py "$@"
}

python_tools() {
    [ -x "$work/venv/bin/pytest" ] || python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install -q --disable-pip-version-check \
        'cffi>=1.16' 'setuptools>=70' build pytest mypy types-cffi
}

test_python() {
    install_library
    python_tools
    say "python: a wheel with the libraries inside"
    rm -rf "$work/wheel" "$work/empty" "$work/source"
    cp -R bindings/python "$work/source"
    HOLDFAST_DIR=$work/prefix "$work/venv/bin/python" -m build -q --wheel \
        --outdir "$work/wheel" "$work/source"
    say "python: types"
    (cd bindings/python && "$work/venv/bin/mypy" --cache-dir "$work/mypy")
    say "python: the wheel in an empty environment"
    python3 -m venv "$work/empty"
    "$work/empty/bin/pip" install -q --disable-pip-version-check \
        "$work"/wheel/holdfast-*.whl pytest
    # Nothing but the wheel provides the library, and OpenSSL, which is loaded
    # when a store with TLS is opened; unless Python has loaded one, which its
    # ssl does, and asyncio with it.
    maps=$("$work/empty/bin/python" -c 'import sys
sys.modules["_ssl"] = sys.modules["_hashlib"] = None
import holdfast
print(holdfast.version())
try:
    holdfast.Client("rediss://127.0.0.1:1")
except holdfast.RetryError:
    pass
print(open("/proc/self/maps").read())')
    echo "$maps" | head -n 1
    for library in libholdfast liblmdb liblua5 libssl libcrypto; do
        echo "$maps" | grep -q "holdfast/_libs/$library" || {
            say "python: $library is not that of the wheel"
            exit 1
        }
    done
    for store in embedded redis; do
        on_store $store "$work/empty/bin/python" -B -m pytest -q \
            -p no:cacheprovider bindings/python/tests
    done
}

[ $# -gt 0 ] || for language in cpp python go rust; do
    case $language in
    cpp) has c++ || continue ;;
    go) has go || continue ;;
    rust) has cargo || continue ;;
    esac
    set -- "$@" $language
done

for language; do
    case $language in
    cpp)
        prepare cpp_tests cpp_coroutine_tests cpp_first cpp_jobs cpp_job_queue
        by_ctest cpp
        ;;
    python) test_python ;;
    go | rust)
        prepare
        by_ctest "$language"
        ;;
    *)
        echo "usage: tools/bindings.sh [cpp] [python] [go] [rust]" >&2
        exit 2
        ;;
    esac
done
