#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# uninstall.sh MANIFEST - remove the files that an installation listed in
# MANIFEST, and the folders of Holdfast that are then empty. Honours DESTDIR.
set -eu

manifest=$1
[ -r "$manifest" ] || {
    echo "uninstall.sh: no $manifest: nothing was installed from here" >&2
    exit 1
}

# The last line has no newline.
while read -r file || [ -n "$file" ]; do
    rm -fv "${DESTDIR-}$file"
    folder=$(dirname "${DESTDIR-}$file")
    case $folder in
    */holdfast) rmdir "$folder" 2>/dev/null || true ;;
    esac
done <"$manifest"
rm -f "$manifest"
[ -n "${DESTDIR-}" ] || [ "$(id -u)" != 0 ] || ldconfig
