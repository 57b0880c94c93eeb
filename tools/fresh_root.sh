#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# fresh_root.sh SUITE [--packages] - type README's commands (first_steps.sh, then
# `make test`) into a clone of the commit that is checked out, in a new root of
# Debian SUITE (bookworm, trixie) with nothing but its base system, git and make.
# --packages: instead, build the Debian packages there, and try them in another
# new root.
#
# As root, with debootstrap. The roots are removed afterwards; set KEEP to a
# folder to keep them there, and to use them again.
set -eu
cd "$(dirname "$0")/.."
suite=$1
what=${2:-steps}
mirror=${MIRROR:-http://deb.debian.org/debian}

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 1' HUP INT TERM
roots=${KEEP:-$work}
mkdir -p "$roots"

# The base system of the suite, as it is after debootstrap.
base()
{
    [ -e "$roots/$suite.base/bin/sh" ] ||
        debootstrap --variant=minbase --include=ca-certificates,git,make \
            "$suite" "$roots/$suite.base" "$mirror" >"$work/log" ||
        { cat "$work/log"; exit 1; }
}

# fresh NAME: a copy of it, with a clone.
fresh()
{
    root=$roots/$suite.$1
    rm -rf --one-file-system "$root"
    cp -a "$roots/$suite.base" "$root"
    git clone -q . "$root/srv/holdfast"
    cp /etc/resolv.conf "$root/etc/"
    # The installer writes it, debootstrap does not.
    printf '%s\tlocalhost\n' 127.0.0.1 ::1 >"$root/etc/hosts"
}

# inside NAME COMMAND: mounts end with the command. By pivot_root, as in a chroot
# the kernel refuses new namespaces, which some tests need.
inside()
{
    root=$roots/$suite.$1
    # shellcheck disable=SC2016 # the inner shell's
    unshare --mount sh -ec '
        mount --make-rprivate /
        mount --bind "$1" "$1"
        cd "$1"
        mount -t proc proc proc
        mount --rbind /sys sys
        mount --rbind /dev dev
        pivot_root . .
        umount -l .
        cd /
        exec env -i HOME=/srv LC_ALL=C.UTF-8 \
            DEBIAN_FRONTEND=noninteractive JOBS="$3" \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            sh -ec "cd /srv/holdfast; apt-get -q update; $2"' \
        sh "$root" "$2" "${JOBS-}"
}

base
if [ "$what" = --packages ]; then
    fresh build
    inside build 'tools/package_debian.sh /srv/packages'
    fresh try
    cp -r "$roots/$suite.build/srv/packages" "$roots/$suite.try/srv/"
    inside try 'tools/try_debian.sh /srv/packages'
else
    fresh steps
    inside steps 'tools/first_steps.sh; make test'
fi
echo "fresh_root.sh: $suite: $what passed"
