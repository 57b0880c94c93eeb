/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noscript.c - commands of Redis 7.0 that scripts may not call: those with the
 * flag "noscript" in COMMAND, with their arity, which is checked first.
 * Subcommands have rows of their own.
 */
#include "store/embedded/lua/noscript.h"

#include "store/embedded/commands/command.h"

typedef struct refused {
    const char *name;       /* NULL: a subcommand of the last */
    const char *subcommand; /* "": has some; NULL: has none */
    int arity;              /* negative: at least so many */
} refused;

static const refused table[] = {
    {"acl", "", -2},
    {NULL, "cat", -2},
    {NULL, "deluser", -3},
    {NULL, "dryrun", -4},
    {NULL, "genpass", -2},
    {NULL, "getuser", 3},
    {NULL, "list", 2},
    {NULL, "load", 2},
    {NULL, "log", -2},
    {NULL, "save", 2},
    {NULL, "setuser", -3},
    {NULL, "users", 2},
    {NULL, "whoami", 2},
    {"auth", NULL, -2},
    {"bgrewriteaof", NULL, 1},
    {"bgsave", NULL, -1},
    {"blmove", NULL, 6},
    {"blpop", NULL, -3},
    {"brpop", NULL, -3},
    {"brpoplpush", NULL, 4},
    {"bzpopmax", NULL, -3},
    {"bzpopmin", NULL, -3},
    {"client", "", -2},
    {NULL, "caching", 3},
    {NULL, "getname", 2},
    {NULL, "getredir", 2},
    {NULL, "id", 2},
    {NULL, "info", 2},
    {NULL, "kill", -3},
    {NULL, "list", -2},
    {NULL, "no-evict", 3},
    {NULL, "pause", -3},
    {NULL, "reply", 3},
    {NULL, "setname", 3},
    {NULL, "tracking", -3},
    {NULL, "trackinginfo", 2},
    {NULL, "unblock", -3},
    {NULL, "unpause", 2},
    {"cluster", "", -2},
    {NULL, "reset", -2},
    {"config", "", -2},
    {NULL, "get", -3},
    {NULL, "resetstat", 2},
    {NULL, "rewrite", 2},
    {NULL, "set", -4},
    {"debug", NULL, -2},
    {"discard", NULL, 1},
    {"eval", NULL, -3},
    {"eval_ro", NULL, -3},
    {"evalsha", NULL, -3},
    {"evalsha_ro", NULL, -3},
    {"exec", NULL, 1},
    {"failover", NULL, -1},
    {"fcall", NULL, -3},
    {"fcall_ro", NULL, -3},
    {"function", "", -2},
    {NULL, "delete", 3},
    {NULL, "dump", 2},
    {NULL, "flush", -2},
    {NULL, "kill", 2},
    {NULL, "list", -2},
    {NULL, "load", -3},
    {NULL, "restore", -3},
    {NULL, "stats", 2},
    {"hello", NULL, -1},
    {"latency", "", -2},
    {NULL, "doctor", 2},
    {NULL, "graph", 3},
    {NULL, "histogram", -2},
    {NULL, "history", 3},
    {NULL, "latest", 2},
    {NULL, "reset", -2},
    {"module", "", -2},
    {NULL, "list", 2},
    {NULL, "load", -3},
    {NULL, "loadex", -3},
    {NULL, "unload", 3},
    {"monitor", NULL, 1},
    {"multi", NULL, 1},
    {"psubscribe", NULL, -2},
    {"psync", NULL, -3},
    {"punsubscribe", NULL, -1},
    {"quit", NULL, -1},
    {"replconf", NULL, -1},
    {"replicaof", NULL, 3},
    {"reset", NULL, 1},
    {"role", NULL, 1},
    {"save", NULL, 1},
    {"script", "", -2},
    {NULL, "debug", 3},
    {NULL, "exists", -3},
    {NULL, "flush", -2},
    {NULL, "kill", 2},
    {NULL, "load", 3},
    {"shutdown", NULL, -1},
    {"slaveof", NULL, 3},
    {"ssubscribe", NULL, -2},
    {"subscribe", NULL, -2},
    {"sunsubscribe", NULL, -1},
    {"sync", NULL, 1},
    {"unsubscribe", NULL, -1},
    {"unwatch", NULL, 1},
    {"wait", NULL, 3},
    {"watch", NULL, -2},
};

#define TABLE_SIZE (sizeof(table) / sizeof(table[0]))

/* The row of a subcommand of the command at `at`; TABLE_SIZE: none. */
static size_t find_subcommand(size_t at, hf_bytes word)
{
    for (at++; at < TABLE_SIZE && table[at].name == NULL; at++) {
        if (hf__arg_is(word, table[at].subcommand))
            return at;
    }
    return TABLE_SIZE;
}

/* TABLE_SIZE: no such command. */
static size_t find(const hf_bytes *words, size_t count)
{
    for (size_t at = 0; at < TABLE_SIZE; at++) {
        if (table[at].name == NULL || !hf__arg_is(words[0], table[at].name))
            continue;
        if (table[at].subcommand == NULL || count < 2)
            return at;
        return find_subcommand(at, words[1]);
    }
    return TABLE_SIZE;
}

const char *hf__noscript_error(const hf_bytes *words, size_t count)
{
    size_t at = find(words, count);

    if (at == TABLE_SIZE)
        return "ERR Unknown Redis command called from script";
    if (table[at].arity > 0 ? count != (size_t)table[at].arity
                            : count < (size_t)-table[at].arity)
        return "ERR Wrong number of args calling Redis command from script";
    return "ERR This Redis command is not allowed from script";
}
