#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# manual_test.sh - the man pages: mandoc and groff find nothing wrong with them,
# each has a page of its own for each command and each function, and no line of
# those of the command is longer than 80 columns.
#
# usage: manual_test.sh FOLDER COMMAND INCLUDE
set -u

folder=$1
command=$2
include=$3
failed=0

fail() {
    echo "manual_test: $*" >&2
    failed=1
}

cd "$folder" || exit 1
[ "$(ls man1 | wc -l)" -ge 20 ] && [ "$(ls man7 | wc -l)" -ge 3 ] &&
    [ "$(ls man3/holdfast*.3 | wc -l)" -ge 25 ] || fail 'there are few pages'

if command -v mandoc >/dev/null; then
    # A checker that finds nothing in anything proves nothing.
    ! printf '.TH A 1 2020-01-01\n.SX\n' | mandoc -Tlint >/dev/null ||
        fail 'mandoc does not complain'
    mandoc -Tlint man1/*.1 man7/*.7 man3/holdfast*.3 || fail 'mandoc complains'
elif ! command -v groff >/dev/null; then
    echo 'neither mandoc nor groff' >&2
    exit 77
fi
if command -v groff >/dev/null; then
    said=$(groff -man -Tutf8 -ww -z man1/*.1 man7/*.7 man3/holdfast*.3 2>&1)
    [ -z "$said" ] || fail "groff complains: $said"
fi

# Every command of the help has a part in a page.
for noun in $("$command" help | sed -n 's/^  \([a-z]*\) .*/\1/p' |
    grep -v '^help$'); do
    [ -s "man1/holdfast-$noun.1" ] || fail "no page holdfast-$noun(1)"
done
for verb in acquire renew release inspect holders list break; do
    grep -q "^\.SH \"lock $verb\"" man1/holdfast-lock.1 ||
        fail "holdfast-lock(1) has no $verb"
done

# Every function has a link to the page of its header, and every link leads to
# a page that has it.
functions=$(cat "$include"/holdfast/*.h "$include"/holdfast/loop/*.h | tr '\n' ' ' |
    grep -oE '((HF_API|static inline) [^;{}(]*|HF_START(_OF)?\()\bhf_[a-z_0-9]+ ?[(,)]' |
    grep -oE 'hf_[a-z_0-9]+ ?[(,)]$' | tr -d ' (,)' | sort -u)
[ "$(echo "$functions" | wc -l)" -gt 200 ] || fail 'functions were not found'
for function in $functions; do
    page=$(sed -n 's/^\.so //p' "man3/$function.3" 2>/dev/null)
    if [ -z "$page" ] || [ ! -s "$page" ]; then
        fail "no page $function(3)"
    elif ! grep -q "$function" "$page"; then
        fail "$page has no $function()"
    fi
done
for page in man3/hf_*.3; do
    name=$(basename "$page" .3)
    echo "$functions" | grep -qx "$name" || fail "$name(3) is no function"
done

for page in man1/*.1 man7/*.7; do
    if command -v mandoc >/dev/null; then
        long=$(mandoc -Tascii -O width=78 "$page" | sed 's/.\x08//g' |
            grep -E '.{88}' | head -n 1)
        [ -z "$long" ] || fail "$page: $long"
    fi
done
exit $failed
