#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# install_test.sh - install a build into a new directory and use it from there
# as another project would, after the tree was moved: by pkg-config, shared,
# static and with every library static, and as a CMake package; libholdfast
# without the server, and libholdfast-serve. Also: only the public headers are
# installed, the shared libraries export their functions and no more, and each
# header and its example compile alone in C and C++; a libholdfast of another
# version is refused by the loader; what is installed has its protections and is
# stripped; and debian/tests, which the Debian packages bring, pass.
#
# usage: install_test.sh BUILD_DIRECTORY SOURCE_DIRECTORY CMAKE CC FORTIFIED
#        [CXX]
set -eu

build=$1
source=$2
cmake=$3
cc=$4
fortified=$5
cxx=${6:-}

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

# The same of a program that serves the store.
try_server() {
    say "running $(basename "$1")"
    LD_LIBRARY_PATH=$libdir "$1" "file:$work/store?max_size=4M" \
        "unix:$work/socket" || fail "$1 failed"
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
serve_so=$libdir/libholdfast-serve.so

say "protections, and no debug information"
command=$(find "$prefix" -type f -name holdfast -path '*bin*')
serve_program=$(find "$prefix" -type f -name holdfast-serve)
top_program=$(find "$prefix" -type f -name holdfast-top)
sh "$source/hardening_test.sh" "$so" "$libdir/libholdfast.a" "$command" \
    "$fortified" || fail "protections are missing"
sh "$source/hardening_test.sh" "$serve_so" "$libdir/libholdfast-serve.a" \
    "$serve_program" "$fortified" || fail "protections of the server are missing"
sections() {
    readelf -SW "$1" | grep -q ' \.debug_info ' && echo debug
    readelf -SW "$1" | grep -q ' \.symtab ' && echo symtab
}
for file in "$(readlink -f "$so")" "$(readlink -f "$serve_so")" "$command" \
    "$serve_program" "$top_program"; do
    debug=$(dirname "$file")/.debug/$(basename "$file").debug
    [ -z "$(sections "$file")" ] || fail "$file is not stripped"
    [ "$(sections "$debug" | tr '\n' ' ')" = 'debug symtab ' ] ||
        fail "$debug has no debug information"
    readelf -p .gnu_debuglink "$file" 2>/dev/null |
        grep -q "$(basename "$debug")" || fail "$file does not name $debug"
done
for file in "$libdir/libholdfast.a" "$libdir/libholdfast-serve.a"; do
    ! readelf -SW "$file" | grep -q ' \.debug_info ' ||
        fail "$file is not stripped"
done

say "with DESTDIR all of it is left to the packager"
DESTDIR=$work/staged "$cmake" --install "$build" --prefix /usr \
    >"$work/log" 2>&1 || { cat "$work/log"; fail "DESTDIR failed"; }
[ "$(sections "$(find "$work/staged" -type f -name 'libholdfast.so.*')" |
    tr '\n' ' ')" = 'debug symtab ' ] || fail "a staged library is stripped"
rm -rf "$work/staged"

say "man pages and completions"
for file in man/man1/holdfast.1 man/man1/holdfast-run.1 \
    man/man7/holdfast-stores.7 man/man3/holdfast.3 man/man3/holdfast_lock.3 \
    man/man3/hf_lock_acquire.3 bash-completion/completions/holdfast \
    zsh/site-functions/_holdfast fish/vendor_completions.d/holdfast.fish; do
    [ -s "$prefix/share/$file" ] || fail "no share/$file"
done
if command -v man >/dev/null; then
    for page in holdfast-run holdfast-exit-codes hf_lock_acquire; do
        MANPATH=$prefix/share/man man "$page" >"$work/page" 2>"$work/log" ||
            { cat "$work/log"; fail "man $page failed"; }
        [ "$(wc -l <"$work/page")" -gt 20 ] || fail "man $page shows little"
    done
fi

say "headers: the public ones, and no other"
(cd "$source/../../include" && find . -type f ! -name README.md) | sort >"$work/public"
(cd "$includedir" && find . -type f) | sort >"$work/installed"
diff "$work/public" "$work/installed" || fail "other headers are installed"

# HEADER LIBRARY.so [HEADER]: its functions, but for those of the second header.
same_symbols() {
    for part in "$1" ${3:+"$3"}; do
        "$cc" -E -P -I "$includedir" "$includedir/$part" | tr '\n' ' ' |
            grep -o 'visibility("default")))[^;{]*' |
            grep -o 'hf_[a-z_0-9]*(' | tr -d '(' | sort -u >"$work/declared.$part"
    done
    [ -s "$work/declared.$1" ] || fail "the header was not understood"
    nm -D --defined-only "$2" | awk '$2 != "A" { print $3 }' |
        grep -v @@HOLDFAST_PRIVATE_ | sed 's/@.*//' | sort -u >"$work/exported"
    if [ -n "${3-}" ]; then
        comm -23 "$work/declared.$1" "$work/declared.$3"
    else
        cat "$work/declared.$1"
    fi >"$work/declared"
    diff "$work/declared" "$work/exported" ||
        fail "functions of $1 (<) and exported ones (>) differ"
}

say "symbols: the functions of the headers, and no more"
mkdir "$work/declared.holdfast" # of holdfast/serve.h
same_symbols holdfast.h "$so"
[ "$(wc -l <"$work/declared")" -gt 30 ] || fail "the header was not understood"
same_symbols holdfast/serve.h "$serve_so" holdfast.h

say "libholdfast has nothing of the server"
! nm -D "$so" | grep -q hf_server_ || fail "it knows hf_server_*"
! ldd "$so" | grep -q 'holdfast-serve\|microhttpd' ||
    fail "it needs libraries of the server"
! ldd "$so" | grep -q 'libssl\|libcrypto' || fail "it does not load OpenSSL late"

# What a user of a header needs in addition.
needed_flags() {
    case $1 in
    holdfast/loop/uv.h) echo "-D_GNU_SOURCE $(pkg-config --cflags libuv)" ;;
    holdfast/loop/glib.h) pkg-config --cflags glib-2.0 ;;
    holdfast/loop/libevent.h)
        echo "-D_GNU_SOURCE $(pkg-config --cflags libevent)"
        ;;
    esac
}

say "each header alone by the oldest standards, its example also by newer ones"
flags='-Wall -Wextra -Wpedantic -Werror -fsyntax-only'
for header in $(cd "$includedir" && find . -name '*.h' | sed 's|^./||'); do
    printf '#include <%s>\n#include <%s>\nint unused;\n' "$header" "$header" \
        >"$work/alone.c"
    {
        printf '#include <poll.h>\n#include <stdio.h>\n#include <%s>\n' \
            "$header"
        sed -n '/^ \* @code$/,/^ \* @endcode$/s/^ \*\( \|$\)//p' \
            "$includedir/$header" | sed '/^@/d'
    } >"$work/example.c"
    [ "$(wc -l <"$work/example.c")" -gt 8 ] || fail "no example in $header"
    needed=$(needed_flags "$header") || fail "no library for $header"
    for std in c99 c17 ${cxx:+c++11 c++17}; do
        case $std in
        c++*) compile="$cxx -x c++" ;;
        *) compile="$cc -x c" ;;
        esac
        case $std in
        c99 | c++11)
            # shellcheck disable=SC2086 # words
            $compile -std=$std $flags $needed -I "$includedir" \
                "$work/alone.c" || fail "$header is not $std"
            ;;
        esac
        # shellcheck disable=SC2086
        $compile -std=$std $flags $needed -D_GNU_SOURCE \
            -I "$includedir" "$work/example.c" ||
            fail "the example in $header is not $std"
    done
done
if [ -n "$cxx" ]; then
    printf '#include <holdfast.h>\nint main() {\n%s\n%s\n}\n' \
        'hf_client_options o = HF_CLIENT_OPTIONS_INIT;' \
        'return static_cast<int>(hf_str("x").size + o.struct_size) & 0;' \
        >"$work/alone.cc"
    # shellcheck disable=SC2086
    "$cxx" -std=c++11 $flags -I "$includedir" "$work/alone.cc" ||
        fail "initializers or inline functions are not C++11"
fi

# The prefix given at installation differs from that of the configuration, and
# the tree is moved: the files find what they name by where they are.
say "pkg-config, shared"
mv "$prefix" "$work/moved"
old_prefix=$prefix
libdir=$work/moved${libdir#"$prefix"}
command=$work/moved${command#"$prefix"}
prefix=$work/moved
export PKG_CONFIG_PATH="$libdir/pkgconfig"
# shellcheck disable=SC2046 # the flags are words
"$cc" -std=c99 -Wall -Wextra -pedantic -Werror -o "$work/pc_shared" \
    "$source/consumer.c" $(pkg-config --cflags --libs holdfast) ||
    fail "does not build"
try "$work/pc_shared"
# shellcheck disable=SC2046
"$cc" -std=c99 -D_GNU_SOURCE -Wall -Wextra -pedantic -Werror \
    -o "$work/pc_server" "$source/server.c" \
    $(pkg-config --cflags --libs holdfast-serve) || fail "does not build"
try_server "$work/pc_server"

say "pkg-config, static"
# Only our libraries statically: those they use are the system's.
# shellcheck disable=SC2046
"$cc" -std=c99 -Wall -Wextra -pedantic -Werror -o "$work/pc_static" \
    "$source/consumer.c" $(pkg-config --cflags holdfast) \
    "$libdir/libholdfast.a" \
    $(pkg-config --static --libs holdfast | sed 's/-lholdfast//') ||
    fail "does not build"
# shellcheck disable=SC2046
"$cc" -std=c99 -D_GNU_SOURCE -Wall -Wextra -pedantic -Werror \
    -o "$work/pc_server_static" "$source/server.c" \
    $(pkg-config --cflags holdfast-serve) \
    "$libdir/libholdfast-serve.a" "$libdir/libholdfast.a" \
    $(pkg-config --static --libs holdfast-serve |
        sed 's/-lholdfast-serve//; s/-lholdfast//') || fail "does not build"
for file in "$work/pc_static" "$work/pc_server_static"; do
    ! ldd "$file" | grep -q libholdfast || fail "$file needs a shared library"
done
try "$work/pc_static"
try_server "$work/pc_server_static"

say "fully static"
# The linker warns of functions that load libraries of the C library.
# shellcheck disable=SC2046
"$cc" -std=c99 -static -o "$work/all_static" "$source/consumer.c" \
    $(pkg-config --static --cflags --libs holdfast) 2>"$work/log" ||
    { cat "$work/log"; fail "does not link"; }
# shellcheck disable=SC2046
"$cc" -std=c99 -D_GNU_SOURCE -static -o "$work/all_server_static" \
    "$source/server.c" \
    $(pkg-config --static --cflags --libs holdfast-serve) 2>"$work/log" ||
    { cat "$work/log"; fail "does not link"; }
for file in "$work/all_static" "$work/all_server_static"; do
    ! readelf -l "$file" | grep -q INTERP || fail "$file needs a loader"
done
try "$work/all_static"
try_server "$work/all_server_static"

say "a libholdfast of another version"
mkdir "$work/other"
soname=$(readelf -d "$libdir/libholdfast.so" |
    sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
abi=${soname#libholdfast.so.}
printf '%s\n' "HOLDFAST_$abi { global: hf_client_open; local: *; };" \
    'HOLDFAST_PRIVATE_0.0.9 { global: hf__command_round_run; };' >"$work/other.map"
"$cc" -shared -fPIC "-Wl,-soname,$soname" \
    "-Wl,--version-script=$work/other.map" \
    -o "$work/other/$soname" "$source/other.c"
if LD_LIBRARY_PATH=$work/other:$libdir "$work/pc_server" volatile: \
    "unix:$work/socket" 2>"$work/log"; then
    fail "a server runs on a libholdfast of another version"
fi
grep -q "version .HOLDFAST_PRIVATE_.* not found (required by .*-serve" \
    "$work/log" || { cat "$work/log"; fail "the loader does not say why"; }

say "CMake package"
{
    "$cmake" -S "$source/package" -B "$work/package" \
        "-DCMAKE_PREFIX_PATH=$prefix" "-DCMAKE_C_COMPILER=$cc" \
        "-DWANTED=$(pkg-config --modversion holdfast)" &&
        "$cmake" --build "$work/package"
} >"$work/log" 2>&1 || { cat "$work/log"; fail "the package cannot be used"; }
try "$work/package/consumer_shared"
try "$work/package/consumer_static"
try_server "$work/package/server_shared"
try_server "$work/package/server_static"

say "the command, where it was put"
if [ -n "$command" ]; then
    export HOLDFAST_STORE="file:$work/store?max_size=4M"
    "$command" run name true || fail "the installed command does not run"

    say "its programs, where they were put"
    programs=$(dirname "$prefix${serve_program#"$old_prefix"}")
    ! ldd "$command" | grep 'holdfast-serve\|microhttpd\|gnutls\|curses' ||
        fail "the command needs libraries of its programs"
    "$command" top --once >"$work/log" || fail "holdfast top does not run"
    grep -q '^embedded ' "$work/log" || { cat "$work/log"; fail "no table"; }
    "$command" serve --listen "unix:$work/socket" >"$work/address" &
    server=$!
    for _ in $(seq 200); do
        [ ! -s "$work/address" ] || break
        sleep 0.1
    done
    [ "$(readlink "/proc/$server/exe")" = "$programs/holdfast-serve" ] ||
        fail "holdfast serve is $(readlink "/proc/$server/exe")"
    kill "$server"
    wait "$server" || fail "holdfast serve ended with $?"
    unset HOLDFAST_STORE
fi

say "the tests of the packages"
for name in example ${command:+command}; do
    mkdir "$work/$name"
    (
        cd "$source/../.."
        export AUTOPKGTEST_TMP="$work/$name" CMAKE_PREFIX_PATH="$prefix"
        export LD_LIBRARY_PATH="$libdir" PATH="$prefix/bin:$PATH"
        debian/tests/"$name"
    ) >"$work/log" 2>&1 || { cat "$work/log"; fail "debian/tests/$name failed"; }
done
say "all good"
