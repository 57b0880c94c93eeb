/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - commands with arguments at and beyond their bounds.
 */
#include <string.h>

#include "entering.h"

/* K: the key; N, F: a whole number, a decimal one; T: a time, not one that
 * comes to pass during a test; M: a member or field. */
static const char *const lines[] = {
    "set K M",
    "set K N",
    "set K M px T",
    "set K M exat T",
    "set K M pxat T",
    "setex K T M",
    "psetex K T M",
    "getex K px T",
    "getex K exat T",
    "getex K pxat T",
    "expire K T",
    "pexpire K T",
    "expireat K T",
    "pexpireat K T",
    "persist K",
    "incrby K N",
    "decrby K N",
    "incrbyfloat K F",
    "append K M",
    "setrange K N M",
    "setbit K N 1",
    "bitfield K set i64 N N",
    "hset K M M",
    "hset K M M M N",
    "hset K M N",
    "hincrby K M N",
    "hincrbyfloat K M F",
    "hdel K M",
    "hpexpire K T fields 1 M",
    "hexpire K T fields 2 M M",
    "hpexpireat K T fields 1 M",
    "hexpireat K T fields 1 M",
    "hpersist K fields 1 M",
    "rpush K M M",
    "lpush K M",
    "linsert K before M M",
    "lset K N M",
    "ltrim K N N",
    "lpop K N",
    "sadd K M M",
    "spop K N",
    "srem K M",
    "zadd K F M F M",
    "zadd K gt F M",
    "zadd K incr F M",
    "zincrby K F M",
    "zrem K M",
    "zremrangebyscore K F F",
    "zunionstore K 1 K weights F",
    "zrangestore K K 0 -1",
    "copy K k0 replace",
    "rename K k1",
    "del K",
};
#define LINE_COUNT (sizeof(lines) / sizeof(lines[0]))

static const char *const numbers[] = {
    "1",
    "7",
    "0",
    "-1",
    "600000",
    "2000000000000",
    "70368744177663",
    "70368744177664",
    "9007199254740991",
    "9007199254740992",
    "9223372036854775",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "536870911",
    "536870912",
};

static const char *const decimals[] = {
    "0",    "-0",    "1.5",    "inf",    "-inf",
    "nan",  "1e308", "-1e308", "5e-324", "9007199254740993",
    "0x10", "1e400",
};

#define PICK(random, list)                                                     \
    (list)[prng_below(random, sizeof(list) / sizeof((list)[0]))]

static hf_bytes any_member(prng *random)
{
    static char long_one[2000];

    switch (prng_below(random, 8)) {
    case 0:
        return hf_str("");
    case 1:
        memset(long_one, 'y', sizeof(long_one));
        return hf_view(long_one, prng_below(random, sizeof(long_one)));
    case 2:
        return hf_view("\0\xff\r\n", 4);
    default:
        return hf_str(PICK(random, numbers));
    }
}

/* Half a GiB of zeros proves no more than a MiB, and takes a second: without
 * the last two. */
static hf_bytes any_number(prng *random)
{
    return hf_str(
        numbers[prng_below(random, sizeof(numbers) / sizeof(numbers[0]) - 2)]);
}

/* Without the first two. */
static hf_bytes any_time(prng *random)
{
    return hf_str(
        numbers[2 +
                prng_below(random, sizeof(numbers) / sizeof(numbers[0]) - 2)]);
}

size_t make_command(prng *random, hf_bytes key, hf_bytes *words)
{
    const char *at = PICK(random, lines);
    size_t count = 0;

    for (at += strspn(at, " "); *at != '\0'; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");

        if (size == 1 && *at == 'K')
            words[count++] = key;
        else if (size == 1 && *at == 'N')
            words[count++] = any_number(random);
        else if (size == 1 && *at == 'T')
            words[count++] = any_time(random);
        else if (size == 1 && *at == 'F')
            words[count++] = hf_str(PICK(random, decimals));
        else if (size == 1 && *at == 'M')
            words[count++] = any_member(random);
        else
            words[count++] = hf_view(at, size);
        at += size;
    }
    return count;
}
