#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# container_root.sh OUTPUT [BUILD] - build the command, or take it from BUILD,
# and put it into the new folder OUTPUT with no more than it needs to run there:
# the root of a container from scratch. Debian, as root.
#
# Debian's libmicrohttpd is linked with GnuTLS, which `holdfast serve --http` has
# no use for and which is, with what it needs, 7 of 18 MB. So libmicrohttpd is
# built from Debian's source without it.
set -eu
cd "$(dirname "$0")/.."
mkdir "$1"
output=$(cd "$1" && pwd)
tools/deps.sh build
jobs=${JOBS:-$(nproc)}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Sources of the machine's own packages, without changing its list of them.
sources()
{
    mkdir "$work/sources" "$work/lists"
    chmod -R 755 "$work" # apt reads as its own user
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
        [ -f "$file" ] || continue # there may be no sources.list
        case $file in
        *.list) sed -n 's/^deb /deb-src /p' "$file" \
            >"$work/sources/$(basename "$file")" ;;
        *.sources) sed 's/^Types:.*/Types: deb-src/' "$file" \
            >"$work/sources/$(basename "$file")" ;;
        esac
    done
    set -- -o Dir::State::Lists="$work/lists" \
        -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/sources"
    apt-get -q "$@" update
    mkdir "$work/microhttpd"
    (cd "$work/microhttpd" &&
        apt-get -q "$@" -o APT::Sandbox::User=root source libmicrohttpd)
}

sources
cd "$work"/microhttpd/libmicrohttpd-*/
./configure --quiet --prefix=/usr/local --disable-https --disable-doc \
    --disable-examples --disable-curl --disable-static --with-pic \
    --disable-nls >/dev/null
make -s -j"$jobs" -C src/microhttpd
make -s -C src/microhttpd install DESTDIR="$work/http"
make -s -C src/include install DESTDIR="$work/http"
make -s install-pkgconfigDATA DESTDIR="$work/http"
cd - >/dev/null

http=$work/http/usr/local
sed -i "s|^prefix=.*|prefix=$http|" "$http/lib/pkgconfig/libmicrohttpd.pc"
build=${2-}
[ -n "$build" ] || {
    build=$work/build
    PKG_CONFIG_PATH=$http/lib/pkgconfig cmake -G Ninja -S . -B "$build" \
        -DHF_TESTS=OFF -DCMAKE_INSTALL_PREFIX=/usr \
        -DCMAKE_BUILD_TYPE=MinSizeRel >/dev/null
    cmake --build "$build" -j"$jobs"
}
DESTDIR=$work/tree cmake --install "$build" --prefix /usr --strip >/dev/null

# The command with its programs, and what the loader finds for them.
for program in bin/holdfast libexec/holdfast/holdfast-serve \
    libexec/holdfast/holdfast-top; do
    install -D "$work/tree/usr/$program" "$output/usr/$program"
done
libraries=$work/tree/usr/lib/$(gcc -print-multiarch)
[ -d "$libraries" ] || libraries=$work/tree/usr/lib
mkdir -p "$output/usr/lib" "$output/lib64" "$output/etc" "$output/data" \
    "$output/tmp"
chmod 1777 "$output/tmp"
LD_LIBRARY_PATH=$libraries:$http/lib ldd "$output"/usr/bin/* \
    "$output"/usr/libexec/holdfast/* |
    sed -n 's|^\t.* => \(/[^ ]*\) .*|\1|p' | sort -u | while read -r file; do
    cp -L "$file" "$output/usr/lib/"
done
# libholdfast loads it by itself, the server is linked with it.
[ -f "$output/usr/lib/libssl.so.3" ]
chmod 644 "$output"/usr/lib/*
strip --strip-unneeded "$output/usr/lib/"*
loader=$(readelf -l "$output/usr/bin/holdfast" |
    sed -n 's/.*interpreter: \(.*\)\]/\1/p')
install -D "$(readlink -f "$loader")" "$output$loader"
ln -s usr/lib "$output/lib" 2>/dev/null || true

# Who it runs as; certificates for rediss://; terminals for `holdfast top`.
echo 'holdfast:x:6379:6379::/data:' >"$output/etc/passwd"
echo 'holdfast:x:6379:' >"$output/etc/group"
chown 6379:6379 "$output/data"
[ ! -f /etc/ssl/certs/ca-certificates.crt ] || install -D -m 644 \
    /etc/ssl/certs/ca-certificates.crt "$output/usr/lib/ssl/cert.pem"
for terminal in x/xterm x/xterm-256color s/screen l/linux; do
    for folder in /usr/share/terminfo /lib/terminfo; do
        [ ! -f "$folder/$terminal" ] || install -D -m 644 "$folder/$terminal" \
            "$output/usr/share/terminfo/$terminal"
    done
done
install -D -m 644 LICENSE "$output/usr/share/doc/holdfast/LICENSE"
cp NOTICE "$output/usr/share/doc/holdfast/"

size=$(du -sb "$output" | cut -f 1)
echo "container_root.sh: $size bytes"
[ "$size" -lt 15000000 ] || { echo "more than 15 MB" >&2; exit 1; }
