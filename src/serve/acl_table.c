/* SPDX-License-Identifier: Apache-2.0 */
/* acl_table.c - see acl_table.h. The table is what COMMAND of Redis 7.0 says,
 * and Valkey of newer commands. */
#include "serve/acl_table.h"

#include <pthread.h>
#include <string.h>
#include <strings.h>

#include "util/names.h"

enum {
    KEYSPACE = 1u << 0,
    READ = 1u << 1,
    WRITE = HF__ACL_WRITES,
    SET = 1u << 3,
    SORTEDSET = 1u << 4,
    LIST = 1u << 5,
    HASH = 1u << 6,
    STRING = 1u << 7,
    BITMAP = 1u << 8,
    HYPERLOGLOG = 1u << 9,
    GEO = 1u << 10,
    STREAM = 1u << 11,
    PUBSUB = HF__ACL_PUBSUB,
    ADMIN = 1u << 13,
    FAST = 1u << 14,
    SLOW = 1u << 15,
    BLOCKING = 1u << 16,
    DANGEROUS = 1u << 17,
    CONNECTION = 1u << 18,
    TRANSACTION = 1u << 19,
    SCRIPTING = 1u << 20
};

static const char *const category_names[HF__ACL_CATEGORIES] = {
    "keyspace", "read",     "write",     "set",        "sortedset",
    "list",     "hash",     "string",    "bitmap",     "hyperloglog",
    "geo",      "stream",   "pubsub",    "admin",      "fast",
    "slow",     "blocking", "dangerous", "connection", "transaction",
    "scripting"};

/* `keys`: r, w or both, of the first key, and behind a comma of the others if
 * that differs. Nothing: only whether there is such a key is revealed. */
typedef struct group {
    uint32_t categories;
    const char *keys;
    const char *names; /* separated by blanks */
} group;

/* clang-format off */
static const group groups[] = {
    {KEYSPACE | READ | FAST, "",
     "dbsize exists touch type"},
    {KEYSPACE | READ | FAST, "r",
     "expiretime pexpiretime pttl ttl"},
    {KEYSPACE | READ | SLOW, "",
     "object|encoding object|freq object|idletime object|refcount "
     "randomkey scan"},
    {KEYSPACE | READ | SLOW, "r",
     "dump"},
    {KEYSPACE | READ | SLOW | DANGEROUS, "",
     "keys"},
    {KEYSPACE | WRITE | FAST, "rw",
     "move"},
    {KEYSPACE | WRITE | FAST, "rw,w",
     "renamenx"},
    {KEYSPACE | WRITE | FAST, "w",
     "expire expireat persist pexpire pexpireat unlink"},
    {KEYSPACE | WRITE | FAST | DANGEROUS, "",
     "swapdb"},
    {KEYSPACE | WRITE | SLOW, "r,w",
     "copy"},
    {KEYSPACE | WRITE | SLOW, "rw,w",
     "rename"},
    {KEYSPACE | WRITE | SLOW, "w",
     "del"},
    {KEYSPACE | WRITE | SLOW | DANGEROUS, "",
     "flushall flushdb"},
    {KEYSPACE | WRITE | SLOW | DANGEROUS, "rw",
     "migrate"},
    {KEYSPACE | WRITE | SLOW | DANGEROUS, "w",
     "restore restore-asking"},
    {KEYSPACE | SLOW, "",
     "object|help"},
    {READ | SET | SORTEDSET | LIST | SLOW | DANGEROUS, "r",
     "sort_ro"},
    {READ | SET | FAST, "",
     "scard sismember"},
    {READ | SET | FAST, "r",
     "smismember"},
    {READ | SET | SLOW, "r",
     "sdiff sinter sintercard smembers srandmember sscan sunion"},
    {READ | SORTEDSET | FAST, "",
     "zcard"},
    {READ | SORTEDSET | FAST, "r",
     "zcount zlexcount zmscore zrank zrevrank zscore"},
    {READ | SORTEDSET | SLOW, "r",
     "zdiff zinter zintercard zrandmember zrange zrangebylex "
     "zrangebyscore zrevrange zrevrangebylex zrevrangebyscore zscan "
     "zunion"},
    {READ | LIST | FAST, "",
     "llen"},
    {READ | LIST | SLOW, "r",
     "lindex lpos lrange"},
    {READ | HASH | FAST, "",
     "hexists hlen hstrlen"},
    {READ | HASH | FAST, "r",
     "hexpiretime hget hmget hpexpiretime hpttl httl"},
    {READ | HASH | SLOW, "r",
     "hgetall hkeys hrandfield hscan hvals"},
    {READ | STRING | FAST, "",
     "strlen"},
    {READ | STRING | FAST, "r",
     "get mget"},
    {READ | STRING | SLOW, "r",
     "getrange lcs substr"},
    {READ | BITMAP | FAST, "r",
     "bitfield_ro getbit"},
    {READ | BITMAP | SLOW, "r",
     "bitcount bitpos"},
    {READ | HYPERLOGLOG | SLOW, "r",
     "pfcount"},
    {READ | GEO | SLOW, "r",
     "geodist geohash geopos georadius_ro georadiusbymember_ro "
     "geosearch"},
    {READ | STREAM | FAST, "",
     "xlen"},
    {READ | STREAM | SLOW, "r",
     "xinfo|consumers xinfo|groups xinfo|stream xpending xrange "
     "xrevrange"},
    {READ | STREAM | SLOW | BLOCKING, "r",
     "xread"},
    {READ | FAST, "",
     "lolwut"},
    {READ | SLOW, "",
     "memory|usage"},
    {WRITE | SET | SORTEDSET | LIST | SLOW | DANGEROUS, "r,w",
     "sort"},
    {WRITE | SET | FAST, "rw",
     "spop"},
    {WRITE | SET | FAST, "rw,w",
     "smove"},
    {WRITE | SET | FAST, "w",
     "sadd srem"},
    {WRITE | SET | SLOW, "w,r",
     "sdiffstore sinterstore sunionstore"},
    {WRITE | SORTEDSET | FAST, "rw",
     "zincrby zpopmax zpopmin"},
    {WRITE | SORTEDSET | FAST, "w",
     "zadd zrem"},
    {WRITE | SORTEDSET | FAST | BLOCKING, "rw",
     "bzpopmax bzpopmin"},
    {WRITE | SORTEDSET | SLOW, "rw",
     "zmpop"},
    {WRITE | SORTEDSET | SLOW, "w",
     "zremrangebylex zremrangebyrank zremrangebyscore"},
    {WRITE | SORTEDSET | SLOW, "w,r",
     "zdiffstore zinterstore zrangestore zunionstore"},
    {WRITE | SORTEDSET | SLOW | BLOCKING, "rw",
     "bzmpop"},
    {WRITE | LIST | FAST, "rw",
     "lpop rpop"},
    {WRITE | LIST | FAST, "w",
     "lpush lpushx rpush rpushx"},
    {WRITE | LIST | SLOW, "rw",
     "lmpop"},
    {WRITE | LIST | SLOW, "rw,w",
     "lmove rpoplpush"},
    {WRITE | LIST | SLOW, "w",
     "linsert lrem lset ltrim"},
    {WRITE | LIST | SLOW | BLOCKING, "rw",
     "blmpop blpop brpop"},
    {WRITE | LIST | SLOW | BLOCKING, "rw,w",
     "blmove brpoplpush"},
    {WRITE | HASH | FAST, "rw",
     "hincrby hincrbyfloat"},
    {WRITE | HASH | FAST, "w",
     "hdel hexpire hexpireat hmset hpersist hpexpire hpexpireat hset "
     "hsetnx"},
    {WRITE | STRING | FAST, "rw",
     "decr decrby getdel getex getset incr incrby incrbyfloat"},
    {WRITE | STRING | FAST, "w",
     "append setnx"},
    {WRITE | STRING | SLOW, "rw",
     "set"},
    {WRITE | STRING | SLOW, "w",
     "mset msetnx psetex setex setrange"},
    {WRITE | BITMAP | SLOW, "rw",
     "bitfield setbit"},
    {WRITE | BITMAP | SLOW, "w,r",
     "bitop"},
    {WRITE | HYPERLOGLOG | ADMIN | SLOW | DANGEROUS, "r",
     "pfdebug"},
    {WRITE | HYPERLOGLOG | FAST, "w",
     "pfadd"},
    {WRITE | HYPERLOGLOG | SLOW, "rw,r",
     "pfmerge"},
    {WRITE | GEO | SLOW, "r,w",
     "georadius georadiusbymember"},
    {WRITE | GEO | SLOW, "w",
     "geoadd"},
    {WRITE | GEO | SLOW, "w,r",
     "geosearchstore"},
    {WRITE | STREAM | FAST, "w",
     "xack xadd xautoclaim xclaim xdel xsetid"},
    {WRITE | STREAM | SLOW, "w",
     "xgroup|create xgroup|createconsumer xgroup|delconsumer "
     "xgroup|destroy xgroup|setid xtrim"},
    {WRITE | STREAM | SLOW | BLOCKING, "r",
     "xreadgroup"},
    {WRITE | SLOW | SCRIPTING, "",
     "function|delete function|flush function|load function|restore"},
    {HYPERLOGLOG | ADMIN | SLOW | DANGEROUS, "",
     "pfselftest"},
    {STREAM | SLOW, "",
     "xgroup|help xinfo|help"},
    {PUBSUB | FAST, "",
     "publish spublish"},
    {PUBSUB | SLOW, "",
     "psubscribe pubsub|channels pubsub|numpat pubsub|numsub "
     "pubsub|shardchannels pubsub|shardnumsub punsubscribe ssubscribe "
     "subscribe sunsubscribe unsubscribe"},
    {ADMIN | FAST | DANGEROUS, "",
     "lastsave role"},
    {ADMIN | SLOW | DANGEROUS, "",
     "acl|deluser acl|dryrun acl|getuser acl|list acl|load acl|log "
     "acl|save acl|setuser acl|users bgrewriteaof bgsave "
     "cluster|addslots cluster|addslotsrange cluster|bumpepoch "
     "cluster|count-failure-reports cluster|delslots "
     "cluster|delslotsrange cluster|failover cluster|flushslots "
     "cluster|forget cluster|meet cluster|replicas cluster|replicate "
     "cluster|reset cluster|saveconfig cluster|set-config-epoch "
     "cluster|setslot cluster|slaves config|get config|resetstat "
     "config|rewrite config|set debug failover latency|doctor "
     "latency|graph latency|histogram latency|history latency|latest "
     "latency|reset module|list module|load module|loadex module|unload "
     "monitor psync replconf replicaof save shutdown slaveof "
     "slowlog|get slowlog|len slowlog|reset sync"},
    {ADMIN | SLOW | DANGEROUS | CONNECTION, "",
     "client|kill client|list client|no-evict client|pause "
     "client|unblock client|unpause"},
    {FAST, "",
     "time"},
    {FAST | CONNECTION, "",
     "asking auth echo hello ping quit readonly readwrite reset select"},
    {FAST | TRANSACTION, "",
     "discard multi unwatch watch"},
    {SLOW, "",
     "acl acl|cat acl|genpass acl|help acl|whoami client cluster "
     "cluster|countkeysinslot cluster|getkeysinslot cluster|help "
     "cluster|info cluster|keyslot cluster|links cluster|myid "
     "cluster|nodes cluster|shards cluster|slots config config|help "
     "function latency latency|help memory memory|doctor memory|help "
     "memory|malloc-stats memory|purge memory|stats module module|help "
     "object pubsub pubsub|help script slowlog slowlog|help xgroup "
     "xinfo"},
    {SLOW | DANGEROUS, "",
     "info"},
    {SLOW | CONNECTION, "",
     "client|caching client|capa client|getname client|getredir "
     "client|help client|id client|info client|no-touch client|reply "
     "client|setinfo client|setname client|tracking client|trackinginfo "
     "command command|count command|docs command|getkeys "
     "command|getkeysandflags command|help command|info command|list "
     "wait"},
    {SLOW | TRANSACTION, "",
     "exec"},
    {SLOW | SCRIPTING, "",
     "function|dump function|help function|kill function|list "
     "function|stats script|debug script|exists script|flush "
     "script|help script|kill script|load script|show"},
    {SLOW | SCRIPTING, "r",
     "eval_ro evalsha_ro fcall_ro"},
    {SLOW | SCRIPTING, "rw",
     "eval evalsha fcall"},
};
/* clang-format on */

#define GROUP_COUNT (sizeof(groups) / sizeof(groups[0]))

_Static_assert(2 * HF__ACL_COMMANDS_MAX <= HF__NAMES_SIZE, "all are found");

static hf__acl_command commands[HF__ACL_COMMANDS_MAX];
static int command_count;
static hf__names names;
static pthread_once_t names_once = PTHREAD_ONCE_INIT;

static void add(const group *of, hf_bytes name)
{
    hf__acl_command *command = &commands[command_count++];

    *command = (hf__acl_command){name, of->categories, of->keys};
    hf__names_add(&names, name, command);
}

static void add_all(void)
{
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        const char *list = groups[i].names;

        while (*list != '\0')
            add(&groups[i], hf__names_next(&list));
    }
}

static size_t put(char *text, hf_bytes name)
{
    if (name.size > 0)
        memcpy(text, name.data, name.size);
    return name.size;
}

int hf__acl_find(hf_bytes name, hf_bytes sub)
{
    const hf__acl_command *found;
    char text[HF__NAME_MAX];
    size_t size;

    (void)pthread_once(&names_once, add_all);
    if (name.size + sub.size + 1 > sizeof(text))
        return -1;
    size = put(text, name);
    if (sub.size > 0) {
        text[size++] = '|';
        size += put(text + size, sub);
    }
    found = hf__names_find(&names, hf_view(text, size));
    return found != NULL ? (int)(found - commands) : -1;
}

int hf__acl_find_words(const hf_bytes *words, size_t count)
{
    int found = count > 1 ? hf__acl_find(words[0], words[1]) : -1;

    return found >= 0 ? found : hf__acl_find(words[0], hf_str(""));
}

int hf__acl_count(void)
{
    (void)pthread_once(&names_once, add_all);
    return command_count;
}

const hf__acl_command *hf__acl_command_at(int number)
{
    return &commands[number];
}

bool hf__acl_is_sub(int sub, int command)
{
    hf_bytes name = commands[sub].name;
    size_t size = commands[command].name.size;

    return name.size > size && ((const char *)name.data)[size] == '|' &&
           memcmp(name.data, commands[command].name.data, size) == 0;
}

int hf__acl_category(hf_bytes name)
{
    for (int i = 0; i < HF__ACL_CATEGORIES; i++) {
        if (strlen(category_names[i]) == name.size &&
            strncasecmp(category_names[i], name.data, name.size) == 0)
            return i;
    }
    return -1;
}

const char *hf__acl_category_name(int number)
{
    return category_names[number];
}

unsigned hf__acl_key_access(const hf__acl_command *command, bool first)
{
    const char *others = strchr(command->keys, ',');
    const char *at = first || others == NULL ? command->keys : others + 1;
    unsigned access = 0;

    for (; *at == 'r' || *at == 'w'; at++)
        access |= *at == 'r' ? HF__ACL_READ : HF__ACL_WRITE;
    return access;
}
