#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# deps.sh - install the Debian packages (12 and 13) that the build needs.
#
#     tools/deps.sh [--check] [build] [test] [lint] [fuzz]      default: build test
#
# --check only lists what is missing and fails if anything is. Nothing missing
# costs a fraction of a second and touches nothing.
#
# The tests run servers of their own, so a server package is installed without
# starting its service, and a service that came with it is not left to start at
# the next boot. One that was installed before is not touched.
#
# shellcheck disable=SC2086 # packages are lists of words all through
set -eu

services="redis-server valkey-server"
policy=/usr/sbin/policy-rc.d

packages_of()
{
    case $1 in
    build)
        echo build-essential cmake ninja-build pkg-config python3 \
            liblmdb-dev liblua5.1-0-dev lua-cjson-dev lua-bitop-dev \
            libuv1-dev libssl-dev
        ;;
    test) echo libcmocka-dev libglib2.0-dev libhiredis-dev redis-server \
        redis-tools python3-redis ;;
    lint) echo clang-format python3 ;;
    fuzz) echo clang libclang-rt-dev ;;
    esac
}

# Installed where the distribution has them: Debian 13 does.
optional_packages_of()
{
    case $1 in
    test) echo valkey-server ;;
    esac
}

usage()
{
    echo "usage: tools/deps.sh [--check] [build] [test] [lint] [fuzz]" >&2
    exit 2
}

# Those of the given packages that are not installed.
missing_of()
{
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" \
        2>/dev/null | sed -n 's/^installed //p')
    for package; do
        echo "$installed" | grep -qx "$package" || echo "$package"
    done
}

exists_in_apt()
{
    apt-cache show "$1" >/dev/null 2>&1
}

as_root()
{
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# An answer of 101 forbids a package to start its service.
forbid_starts()
{
    [ -e $policy ] && return
    printf '#!/bin/sh\nexit 101\n' | as_root tee $policy >/dev/null
    as_root chmod 755 $policy
    trap 'as_root rm -f $policy' EXIT
    trap 'exit 1' HUP INT TERM
}

# Those of the given packages that bring a service.
services_of()
{
    for package; do
        case " $services " in
        *" $package "*) echo "$package" ;;
        esac
    done
}

disable_services()
{
    command -v systemctl >/dev/null || return 0
    for service; do
        as_root systemctl --quiet disable "$service" || true
    done
}

check=false
groups=
for argument; do
    case $argument in
    --check) check=true ;;
    build | test | lint | fuzz) groups="$groups $argument" ;;
    *) usage ;;
    esac
done
groups=${groups:-build test}

required=$(for group in $groups; do packages_of "$group"; done)
optional=$(for group in $groups; do optional_packages_of "$group"; done)

if ! command -v dpkg-query >/dev/null; then
    echo "deps.sh: not a Debian system; needed here:" $required >&2
    exit 0
fi

missing=$(missing_of $required)
for package in $optional; do
    if [ -n "$(missing_of "$package")" ] && exists_in_apt "$package"; then
        missing="$missing
$package"
    fi
done
[ -n "$missing" ] || exit 0
if $check; then
    echo "$missing" | sed '/^$/d'
    exit 1
fi

if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    echo "deps.sh: without root and sudo; ask for:" $missing >&2
    exit 1
fi
echo "Installing:" $missing
new_services=$(services_of $missing)
[ -z "$new_services" ] || forbid_starts
as_root apt-get -q update || echo "deps.sh: going on with old lists" >&2
as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y --no-install-recommends install $missing
disable_services $new_services
