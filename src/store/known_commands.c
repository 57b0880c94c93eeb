/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_commands.c - see known_commands.h. The commands are those of Redis 8.4
 * and Valkey 9; flags and keys are what COMMAND INFO says of them.
 */
#include "store/known_commands.h"

#include <pthread.h>
#include <strings.h>

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
     "APPEND BITFIELD DECR DECRBY DELEX DELIFEQ EXPIRE EXPIREAT GEOADD "
     "GETDEL GETEX GETSET HDEL HEXPIRE HEXPIREAT HGETDEL HGETEX "
     "HINCRBY HINCRBYFLOAT HMSET HPERSIST HPEXPIRE HPEXPIREAT HSET "
     "HSETEX HSETNX INCR INCRBY INCRBYFLOAT LINSERT LPOP LPUSH LPUSHX "
     "LREM LSET LTRIM MOVE PERSIST PEXPIRE PEXPIREAT PFADD PSETEX "
     "RESTORE RPOP RPUSH RPUSHX SADD SET SETBIT SETEX SETNX SETRANGE "
     "SPOP SPUBLISH SREM VADD VREM VSETATTR XACK XACKDEL XADD "
     "XAUTOCLAIM XCFGSET XCLAIM XDEL XDELEX XSETID XTRIM ZADD ZINCRBY "
     "ZPOPMAX ZPOPMIN ZREM ZREMRANGEBYLEX ZREMRANGEBYRANK "
     "ZREMRANGEBYSCORE"},
    {READS, ONE,
     "BITCOUNT BITFIELD_RO BITPOS DIGEST DUMP EXPIRETIME GEODIST "
     "GEOHASH GEOPOS GEORADIUSBYMEMBER_RO GEORADIUS_RO GEOSEARCH GET "
     "GETBIT GETRANGE HEXISTS HEXPIRETIME HGET HGETALL HKEYS HLEN "
     "HMGET HPEXPIRETIME HPTTL HRANDFIELD HSCAN HSTRLEN HTTL HVALS "
     "LINDEX LLEN LPOS LRANGE PEXPIRETIME PTTL SCARD SISMEMBER "
     "SMEMBERS SMISMEMBER SRANDMEMBER SSCAN STRLEN SUBSTR TTL TYPE "
     "VCARD VDIM VEMB VGETATTR VINFO VISMEMBER VLINKS VRANDMEMBER "
     "VRANGE VSIM XLEN XPENDING XRANGE XREVRANGE ZCARD ZCOUNT "
     "ZLEXCOUNT ZMSCORE ZRANDMEMBER ZRANGE ZRANGEBYLEX ZRANGEBYSCORE "
     "ZRANK ZREVRANGE ZREVRANGEBYLEX ZREVRANGEBYSCORE ZREVRANK ZSCAN "
     "ZSCORE"},
    {0, TWO,
     "COPY GEOSEARCHSTORE LMOVE RENAME RENAMENX RPOPLPUSH SMOVE "
     "ZRANGESTORE"},
    {READS, TWO,
     "LCS"},
    {0, ALL,
     "DEL PFMERGE SDIFFSTORE SINTERSTORE SUNIONSTORE UNLINK"},
    {READS, ALL,
     "EXISTS MGET PFCOUNT SDIFF SINTER SUNION TOUCH"},
    {0, RANGE(1, -1, 2),
     "MSET MSETNX"},
    {0, RANGE(2, -1, 1),
     "BITOP"},
    {0, RANGE(2, 2, 1),
     "MEMORY PFDEBUG XGROUP"},
    {READS, RANGE(2, 2, 1),
     "OBJECT XINFO"},
    {WIDE, RANGE(3, 3, 1),
     "MIGRATE"},
    {0, COUNTED(1, 0, 1),
     "LMPOP ZMPOP"},
    {READS, COUNTED(1, 0, 1),
     "SINTERCARD ZDIFF ZINTER ZINTERCARD ZUNION"},
    {0, COUNTED(1, 0, 2),
     "MSETEX"},
    {0, COUNTED(2, 0, 1),
     "EVAL EVALSHA FCALL"},
    {READS, COUNTED(2, 0, 1),
     "EVALSHA_RO EVAL_RO FCALL_RO"},
    {0, COUNTED(2, 1, 1),
     "ZDIFFSTORE ZINTERSTORE ZUNIONSTORE"},
    {0, SORTED,
     "SORT"},
    {READS, SORTED,
     "SORT_RO"},
    {0, GEO,
     "GEORADIUS GEORADIUSBYMEMBER"},
    {0, STREAMS,
     "XREADGROUP"},
    {READS, STREAMS,
     "XREAD"},
    {0, NONE,
     "ACL BGREWRITEAOF BGSAVE CLIENT CLUSTER CONFIG DEBUG FAILOVER "
     "FLUSHALL FLUSHDB FUNCTION LATENCY MODULE PFSELFTEST PUBLISH "
     "REPLICAOF SAVE SCRIPT SLAVEOF SLOWLOG SWAPDB"},
    {READS, NONE,
     "DBSIZE INFO KEYS PUBSUB RANDOMKEY SCAN"},
    {READS | PURE, NONE,
     "COMMAND ECHO LASTSAVE LOLWUT PING ROLE TIME"},
    {BINDS, NONE,
     "ASKING AUTH DISCARD EXEC HELLO MONITOR MULTI PSUBSCRIBE PSYNC "
     "PUNSUBSCRIBE QUIT READONLY READWRITE REPLCONF RESET SELECT "
     "SHUTDOWN SSUBSCRIBE SUBSCRIBE SUNSUBSCRIBE SYNC UNSUBSCRIBE "
     "UNWATCH WAIT WAITAOF"},
    {BINDS, ONE,
     "RESTORE-ASKING"},
    {BINDS, TWO,
     "BLMOVE BRPOPLPUSH"},
    {BINDS, ALL,
     "WATCH"},
    {BINDS, RANGE(1, -2, 1),
     "BLPOP BRPOP BZPOPMAX BZPOPMIN"},
    {BINDS, COUNTED(2, 0, 1),
     "BLMPOP BZMPOP"},
};
/* clang-format on */

#define GROUP_COUNT (sizeof(groups) / sizeof(groups[0]))

/* ----------------------------------------------------------------- finding */

/* A power of two, several times the number of names; "GEORADIUSBYMEMBER_RO" is
 * the longest. */
#define INDEX_SIZE 1024u
#define NAME_SIZE_MAX 20u

typedef struct entry {
    const char *name; /* NULL: empty */
    size_t size;
    const hf__known_command *known;
} entry;

static entry index_table[INDEX_SIZE];
static pthread_once_t index_once = PTHREAD_ONCE_INIT;

/* FNV-1a, ignoring the case of letters. */
static size_t index_start(hf_bytes name)
{
    const unsigned char *at = name.data;
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < name.size; i++)
        hash = (hash ^ (at[i] & 0xdfu)) * 16777619u;
    return hash % INDEX_SIZE;
}

static void add_name(hf_bytes name, const hf__known_command *known)
{
    size_t at = index_start(name);

    while (index_table[at].name != NULL)
        at = (at + 1) % INDEX_SIZE;
    index_table[at] = (entry){name.data, name.size, known};
}

static void build_index(void)
{
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        const char *at = groups[i].names;

        while (*at != '\0') {
            size_t size = strcspn(at, " ");

            add_name(hf_view(at, size), &groups[i]);
            at += size + strspn(at + size, " ");
        }
    }
}

const hf__known_command *hf__known_find(hf_bytes name)
{
    (void)pthread_once(&index_once, build_index);
    if (name.size == 0 || name.size > NAME_SIZE_MAX)
        return NULL;
    for (size_t at = index_start(name); index_table[at].name != NULL;
         at = (at + 1) % INDEX_SIZE) {
        const entry *one = &index_table[at];

        if (one->size == name.size &&
            strncasecmp(one->name, name.data, name.size) == 0)
            return one->known;
    }
    return NULL;
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
