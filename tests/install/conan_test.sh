#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# conan_test.sh - the recipe of Conan makes a package of the checkout, shared
# with the command, and static; each time packaging/conan/test_package is built
# with it and runs. The libraries that it needs have to be there.
#
# usage: conan_test.sh CONAN ROOT
set -eu

conan=$1
root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
export CONAN_HOME="$work/home"

fail() {
    echo "conan_test: $*" >&2
    exit 1
}

# create OPTION...
create() {
    echo "-- conan create $*"
    "$conan" create "$root/packaging/conan" "$@" \
        -c tools.system.package_manager:mode=check \
        -c tools.cmake.cmake_layout:test_folder="$work/test" \
        >"$work/log" 2>&1 || { cat "$work/log"; fail "failed: $*"; }
}

"$conan" profile detect >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
find "$root/packaging" | sort >"$work/before"
create -o 'holdfast/*:shared=True' -o 'holdfast/*:command=True'
create -o 'holdfast/*:shared=False'
find "$root/packaging" | sort >"$work/after"
diff "$work/before" "$work/after" || fail "it left something in the checkout"
