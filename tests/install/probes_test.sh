#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# probes_test.sh - the library has the probes that the document says, and no
# others, and each has a semaphore.
#
#     probes_test.sh READELF LIBRARY DOCUMENT
set -eu

LC_ALL=C "$1" -n "$2" | awk '
    /Provider: / { ours = $2 == "holdfast" }
    /Name: / && ours { name = $2 }
    /Semaphore: / && ours {
        print name
        if ($NF ~ /^0x0+$/) {
            print name ": no semaphore" >"/dev/stderr"
            exit 1
        }
    }' | sort -u | sed 's/__/-/' >found.$$
sed -n 's/^| `holdfast:\([a-z-]*\)`.*/\1/p' "$3" | sort -u >documented.$$
status=0
diff documented.$$ found.$$ || status=1
[ -s found.$$ ] || status=1
rm -f found.$$ documented.$$
exit $status
