#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# package_debian.sh [OUTPUT] - build the Debian packages of the commit that is
# checked out into OUTPUT (default build-debian), from debian/, and run lintian
# on them. The machine, or the chroot that this is called in, must be Debian 12
# or newer; `tools/deps.sh build package` installs what it needs.
set -eu
cd "$(dirname "$0")/.."
tools/deps.sh build package

output=${1:-build-debian}
mkdir -p "$output"
output=$(cd "$output" && pwd)
version=$(sed -n '1s/.*(\(.*\)-[^-]*).*/\1/p' debian/changelog)
tree=$output/holdfast-$version

rm -rf "$tree" "$output"/*holdfast*[_-]"$version"[_-.]* "$output"/holdfast_*
# Without the date of now, so that the same commit gives the same bytes.
git archive --format=tar --prefix="holdfast-$version/" HEAD ':!debian' |
    gzip -n >"$output/holdfast_$version.orig.tar.gz"
tar -C "$output" -xf "$output/holdfast_$version.orig.tar.gz"
git archive --format=tar HEAD debian | tar -C "$tree" -xf -

cd "$tree"
dpkg-buildpackage -us -uc "-j${JOBS:-$(nproc)}"
cd "$output"
rm -rf "$tree"
# That an upload closes a bug is a rule of Debian's archive.
lintian --fail-on error,warning --tag-display-limit 0 --allow-root \
    --suppress-tags initial-upload-closes-no-bugs ./*.changes
ls ./*.deb
