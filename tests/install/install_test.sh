#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# install_test.sh - install a build into a new directory and use it from there
# as another project would: by pkg-config, shared and static, and as a CMake
# package. Also: only the public header is installed, the shared library exports
# its functions and no more, and the header stands alone in C99 and C++11.
#
# usage: install_test.sh BUILD_DIRECTORY SOURCE_DIRECTORY CMAKE CC [CXX]
set -eu

build=$1
source=$2
cmake=$3
cc=$4
cxx=${5:-}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
prefix=$work/prefix

fail() {
    echo "install_test: $*" >&2
    exit 1
}

say() {
    echo "-- $*"
}

# Run a consumer on a new store; the loader finds the installed library.
try() {
    say "running $(basename "$1")"
    LD_LIBRARY_PATH=$libdir "$1" "file:$work/store?max_size=4M" ||
        fail "$1 failed"
    rm -rf "$work/store"
}

say "installing"
"$cmake" --install "$build" --prefix "$prefix" >"$work/log" 2>&1 ||
    { cat "$work/log"; fail "cmake --install failed"; }
header=$(find "$prefix" -name holdfast.h)
includedir=$(dirname "$header")
pc=$(find "$prefix" -name holdfast.pc)
libdir=$(dirname "$(dirname "$pc")")
so=$libdir/libholdfast.so

say "headers: only the public one"
[ "$(ls -A "$includedir")" = holdfast.h ] ||
    fail "installed under include: $(ls -A "$includedir")"
[ "$(find "$prefix" -name '*.h' -o -name '*.hpp' | wc -l)" = 1 ] ||
    fail "more than one header is installed"

say "symbols: the functions of the header, and no more"
"$cc" -E -P "$header" | tr '\n' ' ' |
    grep -o 'visibility("default")))[^;{]*' | grep -o 'hf_[a-z_0-9]*(' |
    tr -d '(' | sort -u >"$work/declared"
[ "$(wc -l <"$work/declared")" -gt 30 ] || fail "the header was not understood"
nm -D --defined-only "$so" | awk '$2 != "A" { print $3 }' |
    sed 's/@.*//' | sort -u >"$work/exported"
diff "$work/declared" "$work/exported" ||
    fail "declared (<) and exported (>) functions differ"

say "header alone: C99, C11, C++11, C++17"
for std in c99 c11; do
    printf '#include <holdfast.h>\n#include <holdfast.h>\nint unused;\n' |
        "$cc" -std=$std -Wall -Wextra -pedantic -Werror -I "$includedir" \
            -fsyntax-only -x c - || fail "the header is not $std"
done
if [ -n "$cxx" ]; then
    for std in c++11 c++17; do
        printf '#include <holdfast.h>\nint main() {\n%s\n%s\n}\n' \
            'hf_client_options o = HF_CLIENT_OPTIONS_INIT;' \
            'return static_cast<int>(hf_str("x").size + o.struct_size) & 0;' |
            "$cxx" -std=$std -Wall -Wextra -pedantic -Werror \
                -I "$includedir" -fsyntax-only -x c++ - || fail "the header is not $std"
    done
fi

# The prefix given at installation is not the one in the file.
say "pkg-config, shared"
export PKG_CONFIG_PATH="$libdir/pkgconfig"
flags() {
    pkg-config "--define-variable=prefix=$prefix" \
        "--define-variable=libdir=$libdir" \
        "--define-variable=includedir=$includedir" "$@" holdfast
}
# shellcheck disable=SC2046 # the flags are words
"$cc" -std=c99 -Wall -Wextra -pedantic -Werror -o "$work/pc_shared" \
    "$source/consumer.c" $(flags --cflags --libs) || fail "does not build"
try "$work/pc_shared"

say "pkg-config, static"
# Only our library statically: those below it stay as the system has them.
# shellcheck disable=SC2046
"$cc" -std=c99 -Wall -Wextra -pedantic -Werror -o "$work/pc_static" \
    "$source/consumer.c" $(flags --cflags) "$libdir/libholdfast.a" \
    $(flags --static --libs | sed 's/-lholdfast//') || fail "does not build"
if ldd "$work/pc_static" | grep -q libholdfast; then
    fail "the static program needs the shared library"
fi
try "$work/pc_static"

say "CMake package"
{
    "$cmake" -S "$source/package" -B "$work/package" \
        "-DCMAKE_PREFIX_PATH=$prefix" "-DCMAKE_C_COMPILER=$cc" &&
        "$cmake" --build "$work/package"
} >"$work/log" 2>&1 || { cat "$work/log"; fail "the package cannot be used"; }
try "$work/package/consumer_shared"
try "$work/package/consumer_static"

say "the command, where it was put"
command=$(find "$prefix" -type f -name holdfast -path '*bin*')
if [ -n "$command" ]; then
    HOLDFAST_STORE="file:$work/store?max_size=4M" "$command" run name true ||
        fail "the installed command does not run"
fi
say "all good"
