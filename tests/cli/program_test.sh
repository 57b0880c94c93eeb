# SPDX-License-Identifier: Apache-2.0
#
# program_test.sh - what the command does not load: `holdfast serve` and
# `holdfast top` are programs of their own, which it finds and executes, and
# OpenSSL is loaded for TLS.

# The command without its programs.
alone=${ALONE:-$(dirname "$HOLDFAST")/tests/cli/cli_alone}
LD_LIBRARY_PATH=$(dirname "$HOLDFAST")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# In a tree that has this program, made of the lines on standard input.
put_program() {
    mkdir -p tree/bin tree/libexec/holdfast
    cp "$alone" tree/bin/holdfast
    cat >"$1"
    chmod +x "$1"
    HOLDFAST=$PWD/tree/bin/holdfast
}

test_the_command_needs_no_library_of_them() {
    local libraries

    libraries=$(ldd "$HOLDFAST")
    contains "$libraries" libholdfast.so
    for name in holdfast-serve microhttpd gnutls curses libssl libcrypto; do
        lacks "$libraries" "$name"
    done
    contains "$(ldd "$(dirname "$HOLDFAST")/holdfast-serve")" microhttpd
    contains "$(ldd "$(dirname "$HOLDFAST")/holdfast-top")" curses
}

test_a_missing_program_is_named() {
    mkdir -p tree/bin
    cp "$alone" tree/bin/holdfast
    HOLDFAST=$PWD/tree/bin/holdfast
    expect 78 serve
    same stderr "holdfast: serve: the program holdfast-serve is missing in \
/nonexistent/holdfast and $PWD/tree/bin/../libexec/holdfast: install the \
package that has it, or build with HF_SERVE=ON" "$err"
    expect 78 top --once --json
    contains "$err" 'holdfast: top: the program holdfast-top is missing in'
    contains "$err" 'HF_TOP=ON'
    json 'd["error"]["name"] == "CONFIG" and
        d["error"]["culprit"] == "holdfast-top"'
}

test_help_and_usage_need_no_program() {
    HOLDFAST=$alone
    expect 0 serve --help
    contains "$out" 'usage: holdfast serve'
    expect 0 help top
    contains "$out" 'usage: holdfast top'
    expect 64 serve --nosuch
    same stderr 'holdfast: serve: unknown option --nosuch' "$err"
    expect 64 top a b
}

test_a_program_has_the_same_words_and_process() {
    local pid

    put_program tree/libexec/holdfast/holdfast-top <<'END'
#!/bin/sh
echo "pid $$"
printf '%s\n' "$@"
cat
exit 7
END
    sh -c 'echo "pid $$" >wanted; exec "$@"' - "$HOLDFAST" \
        --store redis://user:secret@h/ top --once 'a b' <<<'input' >out
    same code 7 $?
    printf '%s\n' --store redis://user:secret@h/ top --once 'a b' input \
        >>wanted
    diff wanted out || fail 'other words, or another process'
}

test_a_program_may_lie_next_to_the_command() {
    put_program tree/bin/holdfast-serve <<'END'
#!/bin/sh
echo "next to it: $*"
END
    expect 0 serve --readonly
    same stdout 'next to it: serve --readonly' "$out"
}

test_a_program_that_cannot_be_executed_is_named() {
    put_program tree/libexec/holdfast/holdfast-top <<<'no program'
    chmod -x tree/libexec/holdfast/holdfast-top
    expect 71 top
    contains "$err" "holdfast: top: cannot execute $PWD/tree/bin/../libexec/\
holdfast/holdfast-top: Permission denied"
}

test_openssl_that_cannot_be_loaded_is_an_error() {
    mkdir libraries
    : >libraries/libssl.so.3
    LD_LIBRARY_PATH=$PWD/libraries:$LD_LIBRARY_PATH
    expect 71 --store rediss://localhost:1/ value get k
    contains "$err" 'cannot load OpenSSL for TLS: '
    contains "$err" "$PWD/libraries/libssl.so.3: file too short"
    expect 0 run name -- true
}
