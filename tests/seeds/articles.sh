# SPDX-License-Identifier: Apache-2.0
#
# articles.sh - functions for the articles' examples on the command line.

redis_command() {
    expect 0 command --no-raw -- "$@"
}

# says REPLY WORD...: a command of Redis, and its reply as redis-cli shows it.
says() {
    local wanted=$1
    shift

    redis_command "$@"
    same "the reply to $*" "$wanted" "$out"
}

# lives SECONDS KEY [MORE-THAN]: at most that long, and more than half of it, or
# than another number of seconds.
lives() {
    local low=$(($1 * 500))

    [ $# = 2 ] || low=$(($3 * 1000))
    redis_command PTTL "$2"
    out=${out#(integer) }
    [ "$out" -le $(($1 * 1000)) ] &&
        [ "$out" -gt "$low" ] ||
        fail "$2 lives $out ms, not $1 s"
}

# lasts KEY: it does not expire.
lasts() {
    says '(integer) -1' TTL "$1"
}

is_gone() {
    redis_command EXISTS "$1"
    [ "$out" = '(integer) 0' ]
}
