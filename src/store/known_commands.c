/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_commands.c - see known_commands.h. The commands are those of Redis 8.4
 * and Valkey 9; flags and keys are what COMMAND INFO says of them.
 */
#include "store/known_commands.h"

#include <pthread.h>
#include <strings.h>

#include "util/names.h"

enum { RANGE_OF_KEYS, COUNTED_KEYS, SORT_KEYS, GEO_KEYS, STREAM_KEYS };

#define RANGE(first, last, step) RANGE_OF_KEYS, first, last, step
#define NONE RANGE(1, 0, 1)
#define ONE RANGE(1, 1, 1)
#define TWO RANGE(1, 2, 1)
#define ALL RANGE(1, -1, 1)
/* Their number is in word `at`; `extra` is a key before it. */
#define COUNTED(at, extra, step) COUNTED_KEYS, at, extra, step
#define SORTED SORT_KEYS, 1, 1, 1
#define GEO GEO_KEYS, 1, 1, 1
#define STREAMS STREAM_KEYS, 1, 0, 1

#define READS HF__KNOWN_READS
#define BINDS HF__KNOWN_BINDS
#define PURE HF__KNOWN_PURE
#define WIDE HF__KNOWN_WIDE

/* clang-format off */
static const hf__known_command groups[] = {
    {0, ONE,
     "append bitfield decr decrby delex delifeq expire expireat geoadd "
     "getdel getex getset hdel hexpire hexpireat hgetdel hgetex "
     "hincrby hincrbyfloat hmset hpersist hpexpire hpexpireat hset "
     "hsetex hsetnx incr incrby incrbyfloat linsert lpop lpush lpushx "
     "lrem lset ltrim move persist pexpire pexpireat pfadd psetex "
     "restore rpop rpush rpushx sadd set setbit setex setnx setrange "
     "spop spublish srem vadd vrem vsetattr xack xackdel xadd "
     "xautoclaim xcfgset xclaim xdel xdelex xsetid xtrim zadd zincrby "
     "zpopmax zpopmin zrem zremrangebylex zremrangebyrank "
     "zremrangebyscore"},
    {READS, ONE,
     "bitcount bitfield_ro bitpos digest dump expiretime geodist "
     "geohash geopos georadiusbymember_ro georadius_ro geosearch get "
     "getbit getrange hexists hexpiretime hget hgetall hkeys hlen "
     "hmget hpexpiretime hpttl hrandfield hscan hstrlen httl hvals "
     "lindex llen lpos lrange pexpiretime pttl scard sismember "
     "smembers smismember srandmember sscan strlen substr ttl type "
     "vcard vdim vemb vgetattr vinfo vismember vlinks vrandmember "
     "vrange vsim xlen xpending xrange xrevrange zcard zcount "
     "zlexcount zmscore zrandmember zrange zrangebylex zrangebyscore "
     "zrank zrevrange zrevrangebylex zrevrangebyscore zrevrank zscan "
     "zscore"},
    {0, TWO,
     "copy geosearchstore lmove rename renamenx rpoplpush smove "
     "zrangestore"},
    {READS, TWO,
     "lcs"},
    {0, ALL,
     "del pfmerge sdiffstore sinterstore sunionstore unlink"},
    {READS, ALL,
     "exists mget pfcount sdiff sinter sunion touch"},
    {0, RANGE(1, -1, 2),
     "mset msetnx"},
    {0, RANGE(2, -1, 1),
     "bitop"},
    {0, RANGE(2, 2, 1),
     "memory pfdebug xgroup"},
    {READS, RANGE(2, 2, 1),
     "object xinfo"},
    {WIDE, RANGE(3, 3, 1),
     "migrate"},
    {0, COUNTED(1, 0, 1),
     "lmpop zmpop"},
    {READS, COUNTED(1, 0, 1),
     "sintercard zdiff zinter zintercard zunion"},
    {0, COUNTED(1, 0, 2),
     "msetex"},
    {0, COUNTED(2, 0, 1),
     "eval evalsha fcall"},
    {READS, COUNTED(2, 0, 1),
     "evalsha_ro eval_ro fcall_ro"},
    {0, COUNTED(2, 1, 1),
     "zdiffstore zinterstore zunionstore"},
    {0, SORTED,
     "sort"},
    {READS, SORTED,
     "sort_ro"},
    {0, GEO,
     "georadius georadiusbymember"},
    {0, STREAMS,
     "xreadgroup"},
    {READS, STREAMS,
     "xread"},
    {0, NONE,
     "acl bgrewriteaof bgsave client cluster config debug failover "
     "flushall flushdb function latency module pfselftest publish "
     "replicaof save script slaveof slowlog swapdb"},
    {READS, NONE,
     "dbsize info keys pubsub randomkey scan"},
    {READS | PURE, NONE,
     "command echo lastsave lolwut ping role time"},
    {BINDS, NONE,
     "asking auth discard exec hello monitor multi psubscribe psync "
     "punsubscribe quit readonly readwrite replconf reset select "
     "shutdown ssubscribe subscribe sunsubscribe sync unsubscribe "
     "unwatch wait waitaof"},
    {BINDS, ONE,
     "restore-asking"},
    {BINDS, TWO,
     "blmove brpoplpush"},
    {BINDS, ALL,
     "watch"},
    {BINDS, RANGE(1, -2, 1),
     "blpop brpop bzpopmax bzpopmin"},
    {BINDS, COUNTED(2, 0, 1),
     "blmpop bzmpop"},
};
/* clang-format on */

#define GROUP_COUNT (sizeof(groups) / sizeof(groups[0]))

/* ----------------------------------------------------------------- finding */

static hf__names names;
static pthread_once_t names_once = PTHREAD_ONCE_INIT;

static void add_all(void)
{
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        const char *list = groups[i].names;

        while (*list != '\0')
            hf__names_add(&names, hf__names_next(&list), &groups[i]);
    }
}

const hf__known_command *hf__known_find(hf_bytes name)
{
    (void)pthread_once(&names_once, add_all);
    return hf__names_find(&names, name);
}

/* -------------------------------------------------------------------- keys */

static bool is_word(hf_bytes word, const char *text)
{
    return word.size == strlen(text) &&
           strncasecmp(word.data, text, word.size) == 0;
}

/* A number of keys; the store refuses a wrong one. */
static size_t read_count(hf_bytes word, size_t most)
{
    const char *digits = word.data;
    size_t count = 0;

    for (size_t i = 0; i < word.size; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return 0;
        count = count * 10 + (size_t)(digits[i] - '0');
        if (count > most)
            return most;
    }
    return count;
}

static size_t from_end(int8_t at, size_t count)
{
    if (at >= 0)
        return (size_t)at;
    return count > (size_t)-at ? count - (size_t)-at : 0;
}

static void range(const hf__known_command *known, size_t count,
                  hf__key_words *keys)
{
    size_t last = from_end(known->last, count);

    keys->first = (size_t)known->first;
    keys->step = (size_t)known->step;
    keys->last = last < count ? last : count - 1;
}

static void counted(const hf__known_command *known, const hf_bytes *words,
                    size_t count, hf__key_words *keys)
{
    size_t at = (size_t)known->first;
    size_t rest = count > at + 1 ? count - at - 1 : 0;
    size_t number = rest > 0 ? read_count(words[at], rest) : 0;

    keys->step = (size_t)known->step;
    keys->first = at + 1;
    keys->last = at;
    if (number > 0)
        keys->last = keys->first + (number - 1) * keys->step;
    if (keys->last >= count)
        keys->last = count - 1;
    if (known->last > 0 && count > (size_t)known->last)
        keys->extra = (size_t)known->last;
}

/* How many words an option of SORT takes, itself included. */
static size_t sort_option(hf_bytes word)
{
    if (is_word(word, "LIMIT"))
        return 3;
    return is_word(word, "BY") || is_word(word, "GET") || is_word(word, "STORE")
               ? 2
               : 1;
}

static size_t find_store(const hf_bytes *words, size_t count)
{
    size_t found = 0;

    for (size_t at = 2; at + 1 < count; at += sort_option(words[at])) {
        if (is_word(words[at], "STORE"))
            found = at + 1;
    }
    return found;
}

static size_t find_geo_store(const hf_bytes *words, size_t count)
{
    size_t found = 0;

    for (size_t at = 5; at + 1 < count; at++) {
        if (is_word(words[at], "STORE") || is_word(words[at], "STOREDIST"))
            found = ++at;
    }
    return found;
}

/* The group and the consumer of XREADGROUP may have the name of an option. */
static size_t stream_options(hf_bytes command)
{
    return is_word(command, "XREADGROUP") ? 4 : 1;
}

/* The first half of what follows STREAMS; the rest are ids. */
static void streams(const hf_bytes *words, size_t count, hf__key_words *keys)
{
    for (size_t at = stream_options(words[0]); at < count; at++) {
        if (!is_word(words[at], "STREAMS"))
            continue;
        keys->first = at + 1;
        keys->last = at + (count - at - 1) / 2;
        return;
    }
}

void hf__known_keys(const hf__known_command *known, const hf_bytes *words,
                    size_t count, hf__key_words *keys)
{
    *keys = (hf__key_words){0, 1, count > 1, 1};
    if (known == NULL)
        return;
    keys->last = 0;
    switch (known->place) {
    case COUNTED_KEYS:
        counted(known, words, count, keys);
        return;
    case STREAM_KEYS:
        streams(words, count, keys);
        return;
    case SORT_KEYS:
        keys->extra = find_store(words, count);
        break;
    case GEO_KEYS:
        keys->extra = find_geo_store(words, count);
        break;
    default:
        break;
    }
    range(known, count, keys);
}

bool hf__known_is_movable(const hf__known_command *known)
{
    return known->place != RANGE_OF_KEYS;
}

bool hf__known_is_counted(const hf__known_command *known)
{
    return known->place == COUNTED_KEYS;
}

/* ------------------------------------------------------------ what they do */

static bool is_among(hf_bytes word, const char *const *texts)
{
    for (; *texts != NULL; texts++) {
        if (is_word(word, *texts))
            return true;
    }
    return false;
}

bool hf__known_binds(const hf__known_command *known, const hf_bytes *words,
                     size_t count)
{
    static const char *const client[] = {
        "CACHING", "CAPA",    "IMPORT-SOURCE", "NO-EVICT", "NO-TOUCH",
        "REPLY",   "SETINFO", "SETNAME",       "TRACKING", NULL};

    if (known == NULL)
        return false;
    if ((known->flags & BINDS) != 0)
        return true;
    if (count > 1 && is_word(words[0], "CLIENT"))
        return is_among(words[1], client);
    if (count > 1 && is_word(words[0], "SCRIPT"))
        return is_word(words[1], "DEBUG");
    if (known->place != STREAM_KEYS)
        return false;
    for (size_t at = stream_options(words[0]); at < count; at++) {
        if (is_word(words[at], "STREAMS"))
            return false;
        if (is_word(words[at], "BLOCK"))
            return true;
    }
    return false;
}

/* BY and GET of SORT name other keys by a pattern. */
static bool has_pattern(const hf_bytes *words, size_t count)
{
    for (size_t at = 2; at + 1 < count; at += sort_option(words[at])) {
        if (is_word(words[at], "BY") || is_word(words[at], "GET"))
            return true;
    }
    return false;
}

bool hf__known_is_confined(const hf__known_command *known,
                           const hf_bytes *words, size_t count)
{
    if (known == NULL || (known->flags & WIDE) != 0)
        return false;
    if (known->place == SORT_KEYS)
        return !has_pattern(words, count);
    return (known->flags & PURE) != 0 || known->place != RANGE_OF_KEYS ||
           known->last != 0;
}
