/* SPDX-License-Identifier: Apache-2.0 */
/* commands.c - the table of the commands that are compared. */
#include "commands.h"

#include <string.h>
#include <strings.h>

#define CONDITIONS "*(nx|xx|gt|lt)"
#define SET_OPTIONS                                                            \
    "*(nx|xx|get|keepttl|ex T|px P|exat S|pxat M|ex T|px P|exat S|pxat M)"
#define KEYS "(1 K|2 K K|2 K K|3 K K K|N +K)"
#define WEIGHTS "*(withscores|aggregate (sum|min|max)|weights (D|D D|D D D))"
/* A type and an offset; only small ones, see SETBIT. */
#define FIELD                                                                  \
    "(i8|u8|i64|u63|i1|u1|i5|u13|i33|u64|i65|u0|i|x|i08) "                     \
    "(0|1|7|8|100|9000|#0|#1|#3|-1|#-1|#|4294967296|x)"
/* A length, and what follows it: options, and an area of GEOSEARCH. */
#define LENGTH "(0|0.5|1|50|200|1000|5000|20000|1e300|inf|-1|x)"
#define PLACES "*(withdist|withcoord|withhash|asc|desc)"
#define AREA                                                                   \
    "(frommember F|fromlonlat Z Z) (byradius " LENGTH                          \
    " (m|km|ft|mi)|bybox " LENGTH " " LENGTH " (m|km|mi))"
/* Ids, and bounds of ranges; a new entry mostly needs the highest. */
#define ID "(1|1-1|2|2-2|3-1|5-5|7|0|0-0|9-1|-1|1-|x|18446744073709551615)"
#define BOUND "(-|99|-|99|1|" ID ")"
#define NEXT_ID                                                                \
    "(1-*|2-*|2-*|3-*|3-*|5-*|5-*|7-*|7-*|9-*|9-*|4-4|1-1|0-*|*x|0-0|x)"
#define GROUP "(g|g|h)"
#define TRIM "(maxlen ?= (N|R|20)|minid ?= " ID "|maxlen x|limit N)"
#define EXACT RULE_EXACT, SPOIL_ANY
#define SCORES RULE_SCORES, SPOIL_ANY
#define TIMED RULE_EXACT, SPOIL_TIMED

const command_row command_rows[] = {
    {"string", 10, "set K V", EXACT},
    {"string", 16, "set K V " SET_OPTIONS, TIMED},
    {"string", 10, "get K", EXACT},
    {"string", 3, "setnx K V", EXACT},
    {"string", 3, "setex K T V", TIMED},
    {"string", 3, "psetex K P V", TIMED},
    {"string", 3, "getset K V", EXACT},
    {"string", 3, "getdel K", EXACT},
    {"string", 3, "mget +K", EXACT},
    {"string", 3, "mset +(K V)", EXACT},
    {"string", 3, "strlen K", EXACT},
    {"string", 5, "append K V", EXACT},
    {"string", 4, "incr K", EXACT},
    {"string", 3, "decr K", EXACT},
    {"string", 5, "incrby K I", EXACT},
    {"string", 4, "decrby K I", EXACT},
    {"string", 4, "incrbyfloat K D", EXACT},
    {"string", 3, "msetnx +(K V)", EXACT},
    {"string", 4, "getrange K R R", EXACT},
    {"string", 2, "substr K R R", EXACT},
    /* Misplaced numbers would create strings of hundreds of megabytes. */
    {"string", 4, "setrange K R V", RULE_EXACT, SPOIL_NONE},
    /* The same for bits: no number from the random words. */
    /* Bounds of chunks. */
    {"string", 2, "setrange K (4074|4076|4077|65534|65536|81520|200000) V",
     EXACT},
    {"string", 1, "getrange K (4074|4076|65530|81519|-9) (4090|65545|81521|-1)",
     EXACT},
    {"string", 1, "setbit K (32639|32640|524287|524288|1600000) (0|1)", EXACT},
    {"string", 1, "bitcount K (4079|65535|-90) (4081|70000|-1)", EXACT},
    {"string", 1, "bitpos K (0|1) (4079|65535|-90)", EXACT},
    {"string", 3, "setbit K (0|1|7|8|9|100|9000|4294967296|-1|x) (0|1|2|x)",
     RULE_EXACT, SPOIL_NONE},
    {"string", 3, "getbit K (N|R|100|V)", EXACT},
    {"string", 3, "bitcount K ?(R R ?(bit|byte))", EXACT},
    {"string", 3, "bitpos K (0|1|N) ?(R ?(R ?(bit|byte)))", EXACT},
    {"string", 4, "bitop (and|or|xor) K +K", EXACT},
    {"string", 2, "bitop not K K", EXACT},
    {"string", 5,
     "bitfield K +((get|get) " FIELD "|set " FIELD " I|incrby " FIELD
     " I|overflow (wrap|sat|fail|x))",
     RULE_EXACT, SPOIL_NONE},
    {"string", 2, "bitfield_ro K +(get " FIELD "|get " FIELD "|set u8 0 1)",
     RULE_EXACT, SPOIL_NONE},
    {"string", 3, "lcs K K *(len|idx|withmatchlen|minmatchlen N)", EXACT},
    {"string", 5, "getex K *(ex T|px P|exat S|pxat M|persist)", TIMED},

    {"hll", 12, "pfadd K *E", EXACT},
    {"hll", 8, "pfadd K +E +E", EXACT},
    {"hll", 4, "pfadd K *V", EXACT},
    {"hll", 4, "pfcount K", EXACT},
    {"hll", 4, "pfcount +K", EXACT},
    {"hll", 6, "pfmerge K *K", EXACT},
    {"hll", 2, "pfdebug (todense|encoding) K", EXACT},
    {"hll", 4, "get K", EXACT},
    {"hll", 1, "set K V", EXACT},
    {"hll", 2, "del K", EXACT},
    /* Its head and its first runs, which may then be damaged. */
    {"hll", 2, "setrange K (0|4|8|15|16|17|18|20|30) H", RULE_EXACT,
     SPOIL_NONE},

    /* Without ANY, COUNT may choose others of those that are equally far. */
    {"geo", 14, "geoadd K *(nx|xx|ch) +(Z Z F)", EXACT},
    {"geo", 4, "geopos K +F", EXACT},
    {"geo", 3, "geohash K +F", EXACT},
    {"geo", 5, "geodist K F F ?(m|km|ft|mi|x)", EXACT},
    {"geo", 6, "(georadius|georadius_ro) K Z Z " LENGTH " (m|km|ft|mi) " PLACES,
     EXACT},
    {"geo", 4,
     "(georadiusbymember|georadiusbymember_ro) K F " LENGTH " (m|km) " PLACES,
     EXACT},
    {"geo", 3,
     "(georadius|georadius_ro) K Z Z " LENGTH
     " (m|km) *(asc|withdist|(store|storedist) K|count N any)",
     EXACT},
    {"geo", 3,
     "georadiusbymember K F " LENGTH " (m|km) (store|storedist) K ?(asc|desc)",
     EXACT},
    {"geo", 6, "geosearch K " AREA " " PLACES, EXACT},
    {"geo", 4, "geosearchstore K K " AREA " *(asc|desc|storedist)", EXACT},
    {"geo", 2,
     "geosearch K *(frommember F|fromlonlat Z Z|byradius " LENGTH
     " km|bybox " LENGTH " " LENGTH " m|count N any|withcoord)",
     EXACT},
    {"geo", 2, "zrange K 0 -1 withscores", SCORES},
    {"geo", 2, "zrem K +F", SCORES},

    {"key", 6, "del +K", EXACT},
    {"key", 2, "unlink +K", EXACT},
    {"key", 3, "exists +K", EXACT},
    {"key", 3, "type K", EXACT},
    {"key", 2, "touch +K", EXACT},
    {"key", 6, "rename K K", EXACT},
    {"key", 3, "renamenx K K", EXACT},
    {"key", 5, "copy K K *(replace|db (0|0|1|2|15))", RULE_EXACT, SPOIL_NONE},
    {"key", 3, "move K (0|1|1|2|2|15|16|99|x|99999999999)", RULE_EXACT,
     SPOIL_NONE},
    {"key", 2, "swapdb (0|0|1|2|x) (0|1|2|15|99|x)", RULE_EXACT, SPOIL_NONE},
    {"key", 1, "flushdb ?(sync|async|x)", RULE_EXACT, SPOIL_NONE},
    {"key", 2, "object (encoding|freq|help|foo) *K", RULE_SHAPE, SPOIL_ANY},
    {"key", 1, "memory (usage K samples (x|-1)|purge|foo)", RULE_EXACT,
     SPOIL_NONE},
    {"key", 1, "dump K", RULE_SHAPE, SPOIL_ANY},
    {"key", 1, "restore K P V *(replace|absttl|idletime N|freq N)", EXACT},
    {"key", 3, "keys J", RULE_UNORDERED, SPOIL_ANY},
    {"key", 1, "randomkey", RULE_SHAPE, SPOIL_ANY},
    {"key", 2, "scan I *(match J|count N|type Y)", RULE_SHAPE, SPOIL_ANY},
    {"key", 2, "dbsize", RULE_COUNT, SPOIL_ANY},

    {"expire", 4, "expire K T " CONDITIONS, TIMED},
    {"expire", 4, "pexpire K P " CONDITIONS, TIMED},
    {"expire", 4, "expireat K S " CONDITIONS, TIMED},
    {"expire", 4, "pexpireat K M " CONDITIONS, TIMED},
    {"expire", 3, "ttl K", RULE_SECONDS, SPOIL_ANY},
    {"expire", 3, "pttl K", RULE_MS, SPOIL_ANY},
    {"expire", 2, "expiretime K", RULE_SECONDS, SPOIL_ANY},
    {"expire", 2, "pexpiretime K", RULE_MS, SPOIL_ANY},
    {"expire", 3, "persist K", EXACT},

    {"hash", 12, "hset K +(F V)", EXACT},
    {"hash", 3, "hmset K +(F V)", EXACT},
    {"hash", 4, "hsetnx K F V", EXACT},
    {"hash", 5, "hget K F", EXACT},
    {"hash", 4, "hmget K +F", EXACT},
    {"hash", 3, "hgetall K", RULE_PAIRS, SPOIL_ANY},
    {"hash", 2, "hkeys K", RULE_UNORDERED, SPOIL_ANY},
    {"hash", 2, "hvals K", RULE_UNORDERED, SPOIL_ANY},
    {"hash", 7, "hdel K +F", EXACT},
    {"hash", 3, "hexists K F", EXACT},
    {"hash", 3, "hlen K", EXACT},
    {"hash", 2, "hstrlen K F", EXACT},
    {"hash", 6, "hincrby K F I", EXACT},
    {"hash", 4, "hincrbyfloat K F D", EXACT},
    /* A misplaced number could ask for any number of repetitions. */
    {"hash", 3, "hrandfield K ?(N ?withvalues)", RULE_SHAPE, SPOIL_NONE},
    {"hash", 2, "hscan K I *(match J|count N)", RULE_SHAPE, SPOIL_ANY},

    /* Only with servers that have them. Fewer fields, so that they are found.
     */
    {"fields", 8, "hset K +(F V)", EXACT},
    {"fields", 3, "hdel K +F", EXACT},
    {"fields", 3, "hincrby K F I", EXACT},
    {"fields", 6, "hexpire K T ?(nx|xx|gt|lt) fields (1 F|2 F F|N +F)", TIMED},
    {"fields", 8, "hpexpire K P ?(nx|xx|gt|lt) fields (1 F|2 F F|N +F)", TIMED},
    {"fields", 4, "hexpireat K S ?(nx|xx|gt|lt) fields (1 F|2 F F|N +F)",
     TIMED},
    {"fields", 6, "hpexpireat K M ?(nx|xx|gt|lt) fields (1 F|2 F F|N +F)",
     TIMED},
    {"fields", 3, "httl K fields (1 F|2 F F|N +F)", RULE_SECONDS, SPOIL_ANY},
    {"fields", 3, "hpttl K fields (1 F|2 F F|N +F)", RULE_MS, SPOIL_ANY},
    {"fields", 3, "hexpiretime K fields (1 F|2 F F|N +F)", RULE_SECONDS,
     SPOIL_ANY},
    {"fields", 3, "hpexpiretime K fields (1 F|2 F F|N +F)", RULE_MS, SPOIL_ANY},
    {"fields", 4, "hpersist K fields (1 F|2 F F|N +F)", EXACT},

    {"zset", 16, "zadd K *(nx|xx|gt|lt|ch|incr) +(D F)", SCORES},
    {"zset", 6, "zincrby K D F", SCORES},
    {"zset", 7, "zrem K +F", SCORES},
    {"zset", 4, "zscore K F", SCORES},
    {"zset", 3, "zcard K", SCORES},
    {"zset", 4, "zpopmin K ?N", SCORES},
    {"zset", 4, "zpopmax K ?N", SCORES},
    {"zset", 3, "zrank K F", SCORES},
    {"zset", 3, "zrevrank K F", SCORES},
    {"zset", 4, "zrange K R R *(withscores|rev)", SCORES},
    {"zset", 5, "zrange K B B byscore *(withscores|rev|limit N N)", SCORES},
    {"zset", 3, "zrevrange K R R ?withscores", SCORES},
    {"zset", 5, "zrangebyscore K B B *(withscores|limit N N)", SCORES},
    {"zset", 5, "zrevrangebyscore K B B *(withscores|limit N N)", SCORES},
    {"zset", 3, "zcount K B B", SCORES},
    {"zset", 4, "zremrangebyscore K B B", SCORES},
    {"zset", 3, "zremrangebyrank K R R", SCORES},
    {"zset", 3, "zmscore K +F", SCORES},
    {"zset", 3, "zrandmember K ?(N ?withscores)", RULE_SHAPE, SPOIL_NONE},
    {"zset", 2, "zscan K I *(match J|count N)", RULE_SHAPE, SPOIL_ANY},
    {"zset", 3, "zrangestore K K R R ?rev", SCORES},
    {"zset", 3, "zrangestore K K B B byscore *(rev|limit N N)", SCORES},
    {"zset", 4, "zmpop (1 K|2 K K|3 K K K|N +K) (min|max) ?(count N)", SCORES},
    {"zset", 4, "zunion " KEYS " " WEIGHTS, SCORES},
    {"zset", 4, "zinter " KEYS " " WEIGHTS, SCORES},
    {"zset", 3, "zdiff " KEYS " ?withscores", SCORES},
    {"zset", 3, "zintercard " KEYS " ?(limit N)", SCORES},
    {"zset", 4, "zunionstore K " KEYS " " WEIGHTS, SCORES},
    {"zset", 4, "zinterstore K " KEYS " " WEIGHTS, SCORES},
    {"zset", 3, "zdiffstore K " KEYS, SCORES},

    /* Few, so that elements are found. */
    /* Few elements, so that one is found. */
    {"list", 10, "(lpush|rpush) K +(F|a|b|c)", EXACT},
    {"list", 4, "(lpush|rpush) K +V", EXACT},
    {"list", 3, "(lpushx|rpushx) K +(F|a|b|c)", EXACT},
    {"list", 5, "(lpop|rpop) K ?N", EXACT},
    {"list", 2, "llen K", EXACT},
    {"list", 5, "lrange K R R", EXACT},
    {"list", 3, "lindex K R", EXACT},
    {"list", 4, "lset K R (F|V|a|b)", EXACT},
    {"list", 12, "linsert K (before|after) (F|a|b|c) (F|V|a|b)", EXACT},
    {"list", 5, "lrem K R (F|a|b|c)", EXACT},
    {"list", 3, "ltrim K R R", EXACT},
    {"list", 5, "lpos K (F|a|b|c) *(rank R|count N|maxlen N)", EXACT},
    {"list", 5, "lmove K K (left|right) (left|right)", EXACT},
    {"list", 3, "rpoplpush K K", EXACT},
    {"list", 4, "lmpop " KEYS " (left|right) *(count N)", EXACT},

    {"set", 14, "sadd K +F", EXACT},
    {"set", 2, "sadd K +I", EXACT},
    {"set", 6, "srem K +F", EXACT},
    {"set", 2, "scard K", EXACT},
    {"set", 3, "sismember K F", EXACT},
    {"set", 3, "smismember K +F", EXACT},
    {"set", 3, "smembers K", RULE_UNORDERED, SPOIL_ANY},
    {"set", 5, "smove K K F", EXACT},
    {"set", 3, "sinter +K", RULE_UNORDERED, SPOIL_ANY},
    {"set", 3, "sunion +K", RULE_UNORDERED, SPOIL_ANY},
    {"set", 3, "sdiff +K", RULE_UNORDERED, SPOIL_ANY},
    {"set", 6, "(sinterstore|sunionstore|sdiffstore) K +K", EXACT},
    {"set", 4, "sintercard " KEYS " *(limit N)", EXACT},
    /* All of them or none, as what is left after random choices differs. */
    {"set", 2, "spop K (9007199254740993|0|-1|01)", RULE_UNORDERED, SPOIL_NONE},
    {"set", 3, "srandmember K ?N", RULE_SHAPE, SPOIL_NONE},
    {"set", 2, "sscan K I *(match J|count N)", RULE_SHAPE, SPOIL_ANY},

    /* Texts that are equal, or equal up to a NUL, are ordered randomly: see
     * exceptions.c, and with such weights GET returns only these. Numbers are
     * not stored: Redis may refuse them, see there too. */
    {"sort", 6, "(sort|sort_ro) K *(by Q|get G|limit N N|asc|desc)", RULE_EXACT,
     SPOIL_NONE},
    {"sort", 4, "(sort|sort_ro) K by W *(limit N N|asc|desc|alpha)", RULE_EXACT,
     SPOIL_NONE},
    {"sort", 4, "(sort|sort_ro) K alpha *(limit N N|asc|desc)", RULE_EXACT,
     SPOIL_NONE},
    {"sort", 2, "(sort|sort_ro) K alpha by O get O *(limit N N|asc|desc)",
     RULE_EXACT, SPOIL_NONE},
    {"sort", 2, "sort K by U get U *(limit N N|asc|desc) alpha", RULE_EXACT,
     SPOIL_NONE},
    {"sort", 3, "sort K alpha *(get G|limit N N|asc|desc) store K", RULE_EXACT,
     SPOIL_NONE},
    {"sort", 3, "sort K by W *(get G|limit N N|asc|desc) store K", RULE_EXACT,
     SPOIL_NONE},
    {"sort", 1, "(sort|sort_ro) *(K|by|get|limit|N|asc|nosort|store)",
     RULE_EXACT, SPOIL_NONE},

    /* Only with Redis 7.0: later ones count and create otherwise. */
    {"stream", 16, "xadd K " NEXT_ID " (f F|f V|F V F V|g V)", EXACT},
    {"stream", 4, "xadd K ?nomkstream ?" TRIM " " NEXT_ID " +(F V)", EXACT},
    {"stream", 2, "xlen K", EXACT},
    {"stream", 4, "xrange K " BOUND " " BOUND " ?(count R)", EXACT},
    {"stream", 4, "xrevrange K " BOUND " " BOUND " ?(count R)", EXACT},
    {"stream", 4, "xdel K +" ID, EXACT},
    {"stream", 3, "xtrim K " TRIM, EXACT},
    {"stream", 1,
     "xsetid K " ID " *(entriesadded (R|N|1000)|maxdeletedid " ID ")", EXACT},
    {"stream", 4, "xread ?(count R) streams (K " ID "|K K " ID " " ID ")",
     RULE_EXACT, SPOIL_NONE},
    {"stream", 6,
     "xgroup create K " GROUP " (0|0|$|" ID ") *(mkstream|entriesread R)",
     EXACT},
    {"stream", 2, "xgroup setid K " GROUP " ($|" ID ") ?(entriesread R)",
     EXACT},
    {"stream", 1, "xgroup destroy K " GROUP, EXACT},
    {"stream", 2, "xgroup (createconsumer|delconsumer) K " GROUP " F", EXACT},
    {"stream", 9,
     "xreadgroup group " GROUP " (a|b|F) *(count R|noack) streams (K (>|>|>|" ID
     ")|K K > >)",
     RULE_EXACT, SPOIL_NONE},
    {"stream", 4, "xack K " GROUP " +" ID, EXACT},
    {"stream", 3, "xpending K " GROUP, RULE_EXACT, SPOIL_NONE},
    {"stream", 4,
     "xclaim K " GROUP " (a|b|F) (0|x|100000) +" ID
     " *(force|justid|retrycount N|lastid " ID ")",
     EXACT},
    {"stream", 4,
     "xautoclaim K " GROUP " (a|b|F) (0|0|100000) " BOUND " *(count N|justid)",
     EXACT},
    {"stream", 3, "xinfo groups K", EXACT},

    {"server", 2, "publish C V", EXACT},
    {"server", 1, "time", RULE_SHAPE, SPOIL_ANY},
    {"server", 2, "ping ?V", EXACT},
    {"server", 2, "echo V", EXACT},
    {"server", 1, "select (0|00|-1|16|x|99999999999)", RULE_EXACT, SPOIL_NONE},
    {"server", 3, "(eval|eval_ro) L N *(K|V)", RULE_EXACT, SPOIL_NONE},
    {"server", 2, "(evalsha|evalsha_ro) A N *(K|V)", RULE_EXACT, SPOIL_NONE},
    {"server", 1, "(eval|eval_ro|evalsha|evalsha_ro) *V", RULE_EXACT,
     SPOIL_NONE},
    {"server", 1, "script (exists A|flush|load (L|V))", EXACT},
    {"server", 1, "(fcall|fcall_ro) A N *(K|V)", RULE_EXACT, SPOIL_NONE},
    {"server", 1, "function (list *V|stats|kill|flush ?V|delete V|load +V)",
     RULE_EXACT, SPOIL_NONE},
    {"server", 1, "nosuchcommand *V", EXACT},
};

const size_t command_row_count = sizeof(command_rows) / sizeof(command_rows[0]);

const char *const state_commands[] = {
    "type K",           "pttl K",         "get K",   "lrange K 0 -1",
    "smembers K",       "hgetall K",      "zcard K", "zrange K 0 -1 withscores",
    "xrange K - 99999", "xinfo groups K",
};

const size_t state_command_count =
    sizeof(state_commands) / sizeof(state_commands[0]);

rule command_rule(hf_bytes name)
{
    for (size_t i = 0; i < command_row_count; i++) {
        const char *words = command_rows[i].words;

        if (strcspn(words, " ") == name.size &&
            strncasecmp(words, name.data, name.size) == 0)
            return command_rows[i].rule;
    }
    return RULE_EXACT;
}
