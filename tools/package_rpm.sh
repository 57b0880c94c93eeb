#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# package_rpm.sh [OUTPUT] - build the RPM packages of the commit that is checked
# out into OUTPUT (default build-rpm), from packaging/rpm/, and look whether each
# has what it is for. Where the packages of the machine are not RPM's, what the
# build needs is not looked for: it has to be there.
set -eu
cd "$(dirname "$0")/.."
output=${1:-build-rpm}
mkdir -p "$output"
output=$(cd "$output" && pwd)
version=$(sed -n 's/^Version: *//p' packaging/rpm/holdfast.spec)

fail()
{
    echo "package_rpm.sh: $*" >&2
    exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/SOURCES"
git archive --format=tar --prefix="holdfast-$version/" HEAD |
    gzip -n >"$work/SOURCES/holdfast-$version.tar.gz"
nodeps=
rpm -q rpm >/dev/null 2>&1 || nodeps=--nodeps
rpmbuild -ba $nodeps --define "_topdir $work" \
    --define "_smp_mflags -j${JOBS:-$(nproc)}" \
    packaging/rpm/holdfast.spec >"$work/log" 2>&1 ||
    { cat "$work/log"; fail "rpmbuild failed"; }
cp "$work"/SRPMS/*.rpm "$work"/RPMS/*/*.rpm "$output"

# PACKAGE PATTERN: it has a file like this.
has()
{
    set -- "$output/$1-$version"-*."$(uname -m)".rpm "$2"
    rpm -qpl --nosignature "$1" | grep -Eq "$2" || fail "$1 has no $2"
}

has holdfast '^/usr/bin/holdfast$'
has holdfast '/holdfast/holdfast-serve$'
has holdfast '/holdfast/holdfast-top$'
has holdfast '/man1/holdfast-run\.1'
has holdfast '/docs/howto/'
has libholdfast '/libholdfast\.so\.[0-9.]+$'
has libholdfast-serve '/libholdfast-serve\.so\.[0-9.]+$'
has libholdfast-devel '/include/holdfast/lock\.h$'
has libholdfast-devel '/man3/hf_lock_acquire\.3'
has libholdfast-devel '/pkgconfig/holdfast\.pc$'
ls "$output"/*.rpm
