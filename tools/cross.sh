#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# cross.sh [BUILD] - build for aarch64 on another machine, into BUILD (default
# build-aarch64), and run the command, its programs and README's program by
# qemu-user. Debian; best in a chroot, as root: it adds the architecture arm64 and
# installs what is missing of a cross compiler, qemu and the libraries.
#
# qemu-user does not pass a dying process's robust list on, so what follows a
# kill -9 is not tried here; nor is `store check`, whose process ends without a
# signal, which qemu-user refuses to make.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build-aarch64}
triplet=aarch64-linux-gnu

# PACKAGE...: those that are missing.
install_missing()
{
    missing=$(for package; do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
            grep -qx installed || echo "$package"
    done)
    [ -n "$missing" ] || return 0
    dpkg --add-architecture arm64
    apt-get -q update
    # shellcheck disable=SC2086 # words
    DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
        install $missing
}

install_missing cmake ninja-build pkgconf python3 qemu-user gcc-$triplet \
    libc6-dev:arm64 liblmdb-dev:arm64 liblua5.1-0-dev:arm64 \
    lua-bitop-dev:arm64 libssl-dev:arm64 libmicrohttpd-dev:arm64 \
    libncurses-dev:arm64

export PKG_CONFIG_LIBDIR=/usr/lib/$triplet/pkgconfig:/usr/share/pkgconfig
cmake -G Ninja -S . -B "$build" -DCMAKE_SYSTEM_NAME=Linux \
    -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_C_COMPILER=$triplet-gcc \
    -DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64 \
    -DCMAKE_LIBRARY_ARCHITECTURE=$triplet -DHF_WERROR=ON -DHF_TESTS=OFF \
    -DCMAKE_INSTALL_PREFIX=/usr/local >/dev/null
cmake --build "$build" ${JOBS:+-j"$JOBS"}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
DESTDIR=$work/tree cmake --install "$build" >/dev/null
prefix=$work/tree/usr/local
export HOLDFAST_STORE="file:$work/store"

holdfast()
{
    qemu-aarch64 "$prefix/bin/holdfast" "$@"
}

for file in bin/holdfast libexec/holdfast/holdfast-serve lib/libholdfast.so; do
    machine=$($triplet-readelf -h "$prefix/$file" | sed -n 's/.*Machine: *//p')
    [ "$machine" = AArch64 ]
done
holdfast --version
[ "$(holdfast run -n name -- echo ran)" = ran ]
holdfast value set key content
[ "$(holdfast value get key)" = content ]
[ "$(holdfast script run --raw - -- 2 3 <<'END'
return ARGV[1] + ARGV[2]
END
)" = 5 ]

# The command would execute them, which needs an emulator that the kernel knows.
qemu-aarch64 "$prefix/libexec/holdfast/holdfast-top" top --once
qemu-aarch64 "$prefix/libexec/holdfast/holdfast-serve" serve \
    --listen "unix:$work/socket" >"$work/address" &
server=$!
for _ in $(seq 600); do
    [ ! -s "$work/address" ] || break
    sleep 0.1
done
[ "$(holdfast --store "redis+unix://$work/socket" value get key)" = content ]
kill $server
wait $server

# OpenSSL is found when it is needed: that is not what this is refused for.
rc=0
holdfast --store rediss://127.0.0.1:1 value get key 2>"$work/log" || rc=$?
cat "$work/log"
[ $rc != 0 ]
! grep -q 'cannot load' "$work/log"

tools/readme_block.sh c >"$work/app.c"
export PKG_CONFIG_LIBDIR="$prefix/lib/pkgconfig:$PKG_CONFIG_LIBDIR"
# shellcheck disable=SC2046 # words
$triplet-gcc -o "$work/app" "$work/app.c" $(pkg-config --cflags --libs holdfast)
qemu-aarch64 -E "LD_LIBRARY_PATH=$prefix/lib" "$work/app"
echo "cross.sh: built for aarch64, and ran"
