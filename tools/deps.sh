#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# deps.sh - install the Debian packages (12 and 13) that the build needs.
#
#     tools/deps.sh [--check] [build] [test] [lint] [fuzz] [go] [model] [package] [suite] [web] [docs] [abi] [peers] [records]
#
# By default: build test.
#
# --check only lists what is missing and fails if anything is. If nothing is
# missing, that takes a fraction of a second and changes nothing.
#
# Without `go`, or any other Go, the tests of linearizability are skipped;
# without `model`, that of docs/model/. `package` is for tools/package_debian.sh,
# `suite` for `make redis-suite`,
# `web` for `make test-web`, `docs` for `make docs`, `abi` for tools/abi.sh, `peers`
# for `make bench-peers`: RocksDB, which is left out there if it is not available;
# `records` for the module for PostgreSQL and its tests, which are left out
# without.
#
# valkey-server is optional: Debian 13 has it, Debian 12 only in its backports,
# from where it is installed without changing the machine's apt sources and
# lists. Where it is not available, the tests with it are left out.
#
# systemtap-sdt-dev is optional, too: with it the libraries have probes for
# tracers (HF_PROBES).
#
# The tests start their own servers, so a server package is installed without
# starting its service, and its service is disabled. One that was installed
# before is not touched.
#
# shellcheck disable=SC2016,SC2086 # apt has its own $; words are lists
set -eu

services="redis-server valkey-server postgresql pgbouncer"
policy=/usr/sbin/policy-rc.d

packages_of()
{
    case $1 in
    build)
        echo build-essential cmake ninja-build pkg-config python3 \
            liblmdb-dev liblua5.1-0-dev lua-bitop-dev libssl-dev \
            libmicrohttpd-dev \
            libncurses-dev
        ;;
    test)
        # The last for pkg-config --static: OpenSSL of Debian 13 names it.
        echo libcmocka-dev libglib2.0-dev libhiredis-dev redis-server \
            redis-tools python3-redis libuv1-dev libevent-dev \
            libsqlite3-dev libzstd-dev tmux mandoc zsh fish
        ;;
    lint) echo clang-format python3 python3-venv ;;
    fuzz) echo clang libclang-rt-dev ;;
    go) echo golang-go ;;
    model) echo spin gcc ;;
    package)
        echo debhelper devscripts dpkg-dev fakeroot git libpq-dev lintian \
            systemtap-sdt-dev
        ;;
    suite) echo tcl ;;
    web) echo chromium chromium-driver ;;
    docs) echo python3-venv ;;
    abi) echo abigail-tools ;;
    records) echo libpq-dev postgresql pgbouncer ;;
    esac
}

optional_packages_of()
{
    case $1 in
    build) echo systemtap-sdt-dev ;;
    test) echo valkey-server ;;
    peers) echo librocksdb-dev ;;
    esac
}

usage()
{
    echo "usage: tools/deps.sh [--check] [build] [test] [lint] [fuzz] [go] [model] [package] [suite] [web] [docs] [abi] [peers] [records]" >&2
    exit 2
}

# The given packages that are not installed.
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
    [ -n "$(apt-cache madison "$1")" ]
}

as_root()
{
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# Runs however the script ends.
finish()
{
    [ -z "$made_policy" ] || as_root rm -f $policy
    [ -z "$work" ] || rm -rf "$work"
}

# Exit status 101 keeps a package from starting its service.
forbid_starts()
{
    [ -e $policy ] && return
    made_policy=yes
    printf '#!/bin/sh\nexit 101\n' | as_root tee $policy >/dev/null &&
        as_root chmod 755 $policy
}

# The given packages that have a service.
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

update_lists()
{
    [ -z "$updated" ] || return 0
    updated=yes
    as_root apt-get -q update || echo "deps.sh: using the old lists" >&2
}

# install [-o OPTION]... PACKAGE...
install()
{
    new_services=$(services_of "$@")
    [ -z "$new_services" ] || forbid_starts || return
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -y --no-install-recommends install "$@" || return
    disable_services $new_services
}

# ------------------------------------------------------------------- backports

# Backports of this release, from the mirror that its packages come from.
backports_source()
{
    codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' \
        'Label: Debian' "Codename: $codename" | head -n 1)
    [ -n "$mirror" ] || return
    echo "Types: deb"
    echo "URIs: $mirror"
    echo "Suites: $codename-backports"
    echo "Components: main"
    echo "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg"
}

# Separate sources and lists: the machine's, by links, and in addition that of
# backports.
install_from_backports()
{
    work=$(mktemp -d)
    sources=$work/sources
    lists="-o Dir::State::Lists=$work/lists"
    mkdir "$sources" "$work/lists"
    chmod -R 755 "$work" # apt reads as its own user
    backports_source >"$sources/holdfast-backports.sources" || return
    apt-get -q $lists -o APT::Get::List-Cleanup=false \
        -o APT::Update::Error-Mode=any \
        -o Acquire::Retries=1 -o Acquire::http::Timeout=10 \
        -o Dir::Etc::SourceList="$sources/holdfast-backports.sources" \
        -o Dir::Etc::SourceParts=/dev/null update >/dev/null 2>&1 || return
    echo "Installing: $*, from backports"
    ln -s /var/lib/apt/lists/*_* "$work/lists"
    ln -s /etc/apt/sources.list.d/* "$sources" 2>/dev/null || true
    install $lists -o Dir::Etc::SourceParts="$sources" "$@"
}

# ------------------------------------------------------------------------ main

check=false
groups=
made_policy=
updated=
work=
for argument; do
    case $argument in
    --check) check=true ;;
    build | test | lint | fuzz | go | model | package | suite | web | docs | abi | peers | records) groups="$groups $argument" ;;
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
wished=$(missing_of $optional)
[ -n "$missing$wished" ] || exit 0
if $check; then
    [ -n "$missing" ] || exit 0
    echo "$missing"
    exit 1
fi

if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    echo "deps.sh: without root and sudo; ask for:" $missing $wished >&2
    [ -z "$missing" ]
    exit
fi
trap finish EXIT
trap 'exit 1' HUP INT TERM

if [ -n "$missing" ]; then
    echo "Installing:" $missing
    update_lists
    install $missing
fi
for package in $wished; do
    if exists_in_apt "$package"; then
        echo "Installing: $package"
        update_lists
        install "$package" && continue
    else
        install_from_backports "$package" && continue
    fi
    echo "deps.sh: $package is not available; continuing without it" >&2
done
