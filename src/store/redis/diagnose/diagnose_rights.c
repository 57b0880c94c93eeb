/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose_rights.c - which of the commands that we need this user may run, on
 * the keys and channels that we use.
 *
 * By ACL DRYRUN if permitted. Otherwise each command is run in a form without
 * effect, on keys with random names that do not exist; a server checks
 * permissions first. A few have no such form and are skipped then.
 * docs/howto/least-rights.md has the lines of an access list that this checks.
 */
#include <stdio.h>
#include <string.h>

#include "store/redis/diagnose/diagnose_server.h"
#include "util/rand.h"

#define WORDS_MAX 8
#define NAME_SIZE 1200 /* a prefix has up to 1024 bytes */
#define LIST_SIZE 480  /* what a diagnostic has room for */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Placeholders for names of this diagnosis. */
#define KEY "\001"
#define TOKEN "\002"
#define QUEUE "\003"
#define CHANNEL "\004"

typedef struct right_form {
    const char *words[WORDS_MAX]; /* without effect, but see `unsafe` */
    bool unsafe;                  /* for DRYRUN only */
} right_form;

#define NO_SCRIPT "0000000000000000000000000000000000000000"

static const right_form for_locks[] = {
    {{"EVALSHA", NO_SCRIPT, "0"}, false},
    {{"EVAL", "return 1", "0"}, false},
    {{"SCRIPT", "LOAD", "return 1"}, false},
    {{"TIME"}, false},
    {{"PING"}, false},
    {{"GET", KEY}, false},
    {{"SET", KEY, "", "XX"}, false},
    {{"DEL", KEY}, false},
    {{"PEXPIRE", KEY, "1"}, false},
    {{"PTTL", KEY}, false},
    {{"SET", TOKEN, "", "XX"}, false},
    {{"GET", TOKEN}, false},
    {{"ZADD", QUEUE, "XX", "0", "none"}, false},
    {{"ZREM", QUEUE, "none"}, false},
    {{"ZPOPMIN", QUEUE}, false},
    {{"ZCARD", QUEUE}, false},
    {{"ZRANK", QUEUE, "none"}, false},
    {{"EXISTS", QUEUE}, false},
    {{"PEXPIRE", QUEUE, "1"}, false},
    {{"PUBLISH", CHANNEL, ""}, false},
    {{"PUBSUB", "NUMSUB", CHANNEL}, false},
    {{"APPEND", KEY, ""}, true},
    {{"SUBSCRIBE", CHANNEL}, true},
};

/* ASKING would apply to the next request, perhaps another caller's. */
static const right_form for_cluster[] = {
    {{"CLUSTER", "SLOTS"}, false},
    {{"ASKING"}, true},
};

static const right_form for_data[] = {
    {{"STRLEN", KEY}, false},
    {{"MGET", KEY}, false},
    {{"PERSIST", KEY}, false},
    {{"EXISTS", KEY}, false},
    {{"TYPE", KEY}, false},
    {{"RENAME", KEY, KEY}, false},
    {{"COPY", KEY, KEY}, false},
    {{"GETEX", KEY, "PERSIST"}, false},
    {{"PEXPIREAT", KEY, "1"}, false},
    {{"HGET", KEY, "f"}, false},
    {{"HMGET", KEY, "f"}, false},
    {{"HGETALL", KEY}, false},
    {{"HKEYS", KEY}, false},
    {{"HLEN", KEY}, false},
    {{"HDEL", KEY, "f"}, false},
    /* Refused for their words, but permissions are checked first. */
    {{"HSET", KEY, "f", "v", "g"}, false},
    {{"INCRBY", KEY, "none"}, false},
    {{"HINCRBY", KEY, "f", "none"}, false},
    {{"ZCOUNT", KEY, "0", "0"}, false},
    {{"ZSCORE", KEY, "none"}, false},
    {{"ZRANGEBYSCORE", KEY, "0", "0"}, false},
    {{"ZREMRANGEBYSCORE", KEY, "0", "0"}, false},
    {{"ZMSCORE", KEY, "none"}, false},
    {{"ZREVRANGE", KEY, "0", "0"}, false},
    {{"ZRANGEBYLEX", KEY, "-", "+"}, false},
    {{"ZREVRANGEBYLEX", KEY, "+", "-"}, false},
    {{"SCARD", KEY}, false},
    {{"SADD", KEY, "v"}, true},
    {{"SREM", KEY, "none"}, false},
    {{"SMISMEMBER", KEY, "none"}, false},
    {{"SSCAN", KEY, "0"}, false},
    {{"ZREVRANK", KEY, "none"}, false},
    {{"ZRANGE", KEY, "0", "0"}, false},
    {{"ZINCRBY", KEY, "none", "none"}, false},
};

static const right_form for_dump[] = {
    {{"SCAN", "0", "COUNT", "1"}, false},
    {{"DBSIZE"}, false},
    {{"TYPE", KEY}, false},
    {{"PEXPIRETIME", KEY}, false},
    {{"HSCAN", KEY, "0"}, false},
    {{"HSTRLEN", KEY, "f"}, false},
    {{"SSCAN", KEY, "0"}, false},
    {{"SMEMBERS", KEY}, false},
    {{"SCARD", KEY}, false},
    {{"ZSCAN", KEY, "0"}, false},
    {{"ZRANGE", KEY, "0", "0"}, false},
    {{"LRANGE", KEY, "0", "0"}, false},
    {{"LINDEX", KEY, "0"}, false},
    {{"LLEN", KEY}, false},
    {{"UNLINK", KEY}, false},
    {{"XLEN", KEY}, false},
    {{"DUMP", KEY}, false},
    {{"RESTORE", KEY, "0", ""}, false}, /* refused for its words, likewise */
    {{"SETRANGE", KEY, "0", ""}, false},
    {{"RENAME", KEY, KEY}, false},
    {{"RPUSH", KEY, "v"}, true},
    {{"SADD", KEY, "v"}, true},
};

typedef struct name_set {
    char user[256];
    char key[NAME_SIZE];
    char token[NAME_SIZE];
    char queue[NAME_SIZE];
    char channel[NAME_SIZE];
    int prefix_size; /* of the key */
    bool dry;        /* DRYRUN is allowed */
} name_set;

static const char *name_of(const name_set *names, const char *word)
{
    switch (word[0]) {
    case '\001':
        return names->key;
    case '\002':
        return names->token;
    case '\003':
        return names->queue;
    case '\004':
        return names->channel;
    default:
        return word;
    }
}

static void take_names(const hf__target *target, name_set *names)
{
    char random[17];
    const char *prefix = target->diagnosis.prefix.data;
    int size = (int)target->diagnosis.prefix.size;

    hf__rand_hex(random, sizeof(random) / 2);
    names->prefix_size = size;
    snprintf(names->key, sizeof(names->key), "%.*shf-doctor-%s", size, prefix,
             random);
    snprintf(names->token, sizeof(names->token), "%.*shf:token", size, prefix);
    snprintf(names->queue, sizeof(names->queue), "%.*shf:wait:%s", size, prefix,
             random);
    snprintf(names->channel, sizeof(names->channel), "%.*shf:inbox:%s", size,
             prefix, random);
}

static void ask_who(hf__target *target, name_set *names)
{
    static const char *const words[] = {"ACL", "WHOAMI"};
    hf__request request;

    if (hf__target_ask(target, words, COUNT(words), &request) &&
        request.reply.kind == HF_REPLY_STRING &&
        request.reply.bytes.size < sizeof(names->user))
        snprintf(names->user, sizeof(names->user), "%s",
                 request.reply.bytes.data);
    hf__request_done(&request);
}

/* --------------------------------------------------------------- one right */

static size_t fill_words(const right_form *right, const name_set *names,
                         const char **words)
{
    size_t count = 0;

    while (count < WORDS_MAX && right->words[count] != NULL) {
        words[count] = name_of(names, right->words[count]);
        count++;
    }
    return count;
}

/* BARRED: the command is permitted, but not on this key or channel. */
typedef enum judgement { ALLOWED, REFUSED, BARRED, UNKNOWN } judgement;

/* Servers say "to run the 'get' command" or "to access one of the keys". */
static judgement read_refusal(const char *text)
{
    return strstr(text, "to access ") != NULL ? BARRED : REFUSED;
}

static judgement dry_run(hf__target *target, const name_set *names,
                         const right_form *right)
{
    const char *words[WORDS_MAX + 3] = {"ACL", "DRYRUN", names->user};
    size_t count = fill_words(right, names, words + 3);
    hf__request request;
    judgement verdict = UNKNOWN;

    if (hf__target_ask(target, words, count + 3, &request)) {
        if (request.reply.kind == HF_REPLY_STATUS)
            verdict = ALLOWED;
        else if (request.reply.kind == HF_REPLY_STRING)
            verdict = read_refusal(request.reply.bytes.data);
    }
    hf__request_done(&request);
    return verdict;
}

/* The key belongs to another node, or this is a replica: reported after the
 * permission check has passed. */
static bool is_elsewhere(const hf__request *request)
{
    return strncmp(request->error.message, "MOVED ", 6) == 0 ||
           strncmp(request->error.message, "READONLY ", 9) == 0;
}

static judgement try_it(hf__target *target, const name_set *names,
                        const right_form *right)
{
    const char *words[WORDS_MAX];
    size_t count = fill_words(right, names, words);
    hf__request request;
    judgement verdict = ALLOWED;

    if (right->unsafe)
        return UNKNOWN;
    (void)hf__target_ask(target, words, count, &request);
    if (request.status == HF_DENIED)
        verdict = read_refusal(request.error.message);
    else if (is_elsewhere(&request))
        verdict = ALLOWED;
    else if (request.status == HF_UNAVAILABLE ||
             request.status == HF_INDETERMINATE)
        verdict = UNKNOWN;
    hf__request_done(&request);
    return verdict;
}

/* ------------------------------------------------------------- all of them */

static const char *what_of(const right_form *right)
{
    if (strcmp(right->words[0], "SCRIPT") == 0)
        return "SCRIPT LOAD";
    if (strcmp(right->words[0], "CLUSTER") == 0)
        return "CLUSTER SLOTS";
    if (strcmp(right->words[0], "PUBSUB") == 0)
        return "PUBSUB NUMSUB";
    return right->words[0];
}

/* The keys or channels, as an access list names them. Ours are always listed,
 * the user's if the command is permitted elsewhere. */
static void tell_where(const right_form *right, const name_set *names,
                       judgement verdict, char *text, size_t size)
{
    char place = right->words[1] != NULL ? right->words[1][0] : '\0';

    text[0] = '\0';
    if (place == TOKEN[0])
        snprintf(text, size, " on %.*shf:token*", names->prefix_size,
                 names->key);
    else if (place == QUEUE[0])
        snprintf(text, size, " on %.*shf:wait:*", names->prefix_size,
                 names->key);
    else if (place == CHANNEL[0])
        snprintf(text, size, " on %.*shf:inbox:*", names->prefix_size,
                 names->key);
    else if (place == KEY[0] && verdict == BARRED)
        snprintf(text, size, " on %.*s*", names->prefix_size, names->key);
}

/* Add "GET, "; where one does not fit, "..." ends the list. */
static void list_command(char text[LIST_SIZE], const right_form *right,
                         const name_set *names, judgement verdict)
{
    static const char rest[] = ", ...";
    size_t size = strlen(text);
    size_t room = LIST_SIZE - sizeof(rest) - size;
    char where[96];
    int added;

    if (size >= sizeof(rest) && strcmp(text + size - 3, "...") == 0)
        return;
    tell_where(right, names, verdict, where, sizeof(where));
    added = snprintf(text + size, room, "%s%s%s", size > 0 ? ", " : "",
                     what_of(right), where);
    if (added < 0 || (size_t)added >= room)
        memcpy(text + size, rest, sizeof(rest));
}

static void tell_rights(hf__target *target, const name_set *names,
                        const char *name, const right_form *rights,
                        size_t count, hf_level missing)
{
    static const char remedy[] =
        "grant these rights, see docs/howto/least-rights.md; or choose a "
        "prefix "
        "whose keys are allowed";
    const hf__diagnosis *to = &target->diagnosis;
    char refused[LIST_SIZE] = "", unknown[LIST_SIZE] = "";

    for (size_t i = 0; i < count && !hf__diagnosis_is_over(to); i++) {
        judgement verdict = UNKNOWN;

        if (names->dry)
            verdict = dry_run(target, names, &rights[i]);
        if (verdict == UNKNOWN)
            verdict = try_it(target, names, &rights[i]);
        if (verdict != ALLOWED)
            list_command(verdict == UNKNOWN ? unknown : refused, &rights[i],
                         names, verdict);
    }
    if (refused[0] != '\0' && missing == HF_LEVEL_ERROR)
        hf__report_error(to, HF_DENIED, name, remedy, "refused: %s", refused);
    else if (refused[0] != '\0')
        hf__report(to, missing, name, remedy, "refused: %s", refused);
    else
        hf__report(to, HF_LEVEL_OK, name, "", "allowed%s%s",
                   unknown[0] != '\0' ? "; not tried: " : "", unknown);
}

/* Our user name, and how to check permissions. */
static void get_to_know(hf__target *target, name_set *names)
{
    take_names(target, names);
    ask_who(target, names);
    names->dry = names->user[0] != '\0' &&
                 dry_run(target, names, &for_locks[3]) != UNKNOWN;
}

void hf__diagnose_rights_of_replica(hf__target *target)
{
    name_set names = {0};

    get_to_know(target, &names);
    tell_rights(target, &names, "failover", for_locks, COUNT(for_locks),
                HF_LEVEL_WARNING);
}

void hf__diagnose_rights(hf__target *target)
{
    const hf__diagnosis *to = &target->diagnosis;
    name_set names = {0};

    get_to_know(target, &names);
    if (names.user[0] == '\0')
        hf__report(to, HF_LEVEL_OK, "user", "",
                   "unknown: not allowed to this user");
    else if (strcmp(names.user, "default") == 0)
        hf__report(
            to, HF_LEVEL_NOTE, "user",
            "create a user with least rights, see docs/howto/least-rights.md",
            "default");
    else
        hf__report(to, HF_LEVEL_OK, "user", "", "%s", names.user);
    tell_rights(target, &names, "rights for locks", for_locks, COUNT(for_locks),
                HF_LEVEL_ERROR);
    if (hf__redis_node_traits(&target->server->node).mode == HF__REDIS_CLUSTER)
        tell_rights(target, &names, "rights for a cluster", for_cluster,
                    COUNT(for_cluster), HF_LEVEL_ERROR);
    tell_rights(target, &names, "rights for values, hashes, semaphores",
                for_data, COUNT(for_data), HF_LEVEL_NOTE);
    tell_rights(target, &names, "rights for dump and load", for_dump,
                COUNT(for_dump), HF_LEVEL_NOTE);
}
