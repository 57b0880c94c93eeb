#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# uninstall.sh MANIFEST - remove the files that an installation listed in
# MANIFEST, and the folders that are then empty: those of Holdfast, and others
# that lie two or more levels below the prefix, such as lib/pkgconfig. Honours
# DESTDIR.
set -eu

manifest=$1
[ -r "$manifest" ] || {
    echo "uninstall.sh: no $manifest: nothing was installed from here" >&2
    exit 1
}
prefix=${DESTDIR-}$(sed -n 's|/include/holdfast\.h$||p' "$manifest")

# Debian has a link to share/man.
prune()
{
    folder=$1
    while case ${folder#"$prefix/"} in
    /* | share/man) false ;;
    */*) true ;;
    *) false ;;
    esac && rmdir "$folder" 2>/dev/null; do
        folder=$(dirname "$folder")
    done
}

# The last line has no newline.
while read -r file || [ -n "$file" ]; do
    rm -fv "${DESTDIR-}$file"
    folder=$(dirname "${DESTDIR-}$file")
    case $folder in
    */holdfast)
        ! rmdir "$folder" 2>/dev/null || folder=$(dirname "$folder")
        ;;
    esac
    prune "$folder"
done <"$manifest"
rm -f "$manifest"
[ -n "${DESTDIR-}" ] || [ "$(id -u)" != 0 ] || ldconfig
