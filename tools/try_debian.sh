#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# try_debian.sh FOLDER - install the packages in FOLDER into this machine, which
# should be a chroot or a container that may be thrown away; run the tests of
# debian/tests; look for the probes, what the library loads by itself, and
# README's pages in holdfast-doc; remove the packages, and look for what they
# left. As root.
set -eu
cd "$(dirname "$0")/.."
folder=$1
names="libholdfast0.1 libholdfast-serve0.1 libholdfast-dev holdfast holdfast-doc"
# Not those with debug information.
debs=$(for name in $names; do echo "$folder/${name}"_*.deb; done)

fail()
{
    echo "try_debian.sh: $*" >&2
    exit 1
}

# All files but those that apt and dpkg keep of their own.
files()
{
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o \
        -path /run -o -path /var/lib/dpkg -o -path /var/lib/apt -o \
        -path /var/cache -o -path /var/log -o -path "$PWD" \) -prune -o \
        -print | sort
}

export DEBIAN_FRONTEND=noninteractive
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What the packages and the tests need is there before, so that all that comes
# and goes later is ours.
apt-get -q update
needed=$(for deb in $debs; do dpkg-deb -f "$deb" Depends; done |
    tr ',' '\n' | sed 's/ *(.*//; s/^ *//; s/ *|.*//; s/ *$//' |
    grep -v holdfast | sort -u)
# shellcheck disable=SC2086 # words
apt-get -q -y --no-install-recommends install $needed \
    gcc libc6-dev cmake make pkg-config man-db

files >"$work/before"
# shellcheck disable=SC2086
dpkg -i $debs
mkdir "$work/app"
AUTOPKGTEST_TMP=$work/app debian/tests/example
mkdir "$work/command"
AUTOPKGTEST_TMP=$work/command debian/tests/command

# The library loads OpenSSL by itself, so nothing but its package says so.
library=$(ldconfig -p |
    sed -n 's|.*=> \(.*/libholdfast\.so\.[0-9.]*\)$|\1|p')
loaded=$(strings "$library" | grep '^libssl\.so\.')
file=$(ldconfig -p | sed -n "s|^[[:space:]]*$loaded .*=> ||p" | head -n 1)
owner=$(dpkg -S "$file" "$(readlink -f "$file")" 2>/dev/null |
    sed -n '1s/:.*//p')
dpkg-query -W -f '${Depends}' libholdfast0.1 | tr ',|' '\n\n' |
    grep -qx " *$owner *" ||
    fail "libholdfast0.1 loads $loaded, and does not depend on $owner"

sh tests/install/probes_test.sh readelf "$library" docs/howto/watch-a-client.md

# Its pages are where README's links lead.
pages=/usr/share/doc/holdfast-doc
cmp README.md $pages/README.md || fail "README.md of holdfast-doc is another"
links=$(grep -o '](\(docs\|examples\)[^)#]*' README.md | cut -c 3-)
[ "$(echo "$links" | wc -l)" -gt 10 ] || fail "README's links were not found"
for link in $links; do
    [ -e "$pages/$link" ] || fail "holdfast-doc has no $link"
done

# shellcheck disable=SC2086
dpkg --remove $names
# shellcheck disable=SC2086
dpkg --purge $names
files >"$work/after"
diff "$work/before" "$work/after" || fail "the packages left something"
echo "try_debian.sh: installed, used and removed $(echo "$names" | wc -w) packages"
