/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_bitfield_test.c - BITFIELD, LCS, SELECT and the commands that are
 * scripts: replies and error texts as recorded from redis-server 7.0.15, in
 * this order.
 */
#include "embedded_store.h"

static const struct {
    const char *line;
    const char *want;
} rows[] = {
    /* clang-format off */
    {"bitfield b get u8 0", "[i:0]"},
    {"exists b", "i:0"},
    {"bitfield b set u8 0 200 get u8 0 get i8 0 get u4 4", "[i:0, i:200, i:-56, i:8]"},
    {"bitfield b incrby u8 0 100", "[i:44]"},
    {"bitfield b overflow sat incrby u8 0 500 incrby i4 8 9 incrby i4 8 -30", "[i:255, i:7, i:-8]"},
    {"bitfield b overflow fail incrby u8 0 1 incrby u4 12 3", "[nil, i:3]"},
    {"bitfield b overflow wrap set u4 0 -1 set u4 0 17 set i4 0 9", "[i:15, i:15, i:1]"},
    {"bitfield b overflow sat set u4 0 -1 set i4 4 -9 set i4 4 8", "[i:9, i:-1, i:-8]"},
    {"bitfield b set i64 8 -9223372036854775808 overflow sat incrby i64 8 -1", "[i:-9007199254740992000, i:-9223372036854775808]"},
    {"bitfield b overflow wrap incrby i64 8 -1", "[i:9223372036854775807]"},
    {"bitfield b set u63 #1 9223372036854775807 get u63 63", "[i:9205357638345293824, i:9223372036854775807]"},
    {"bitfield s overflow sat set i5 0 -9223372036854775808 get i5 0 set i5 0 -17 get i5 0", "[i:0, i:15, i:15, i:-16]"},
    {"bitfield s overflow sat incrby i5 0 -9223372036854775808", "[i:-16]"},
    {"bitfield b get u8 #2 get u8 1000", "[i:255, i:0]"},
    {"strlen b", "i:16"},
    {"bitfield b set u8 1000 0", "[i:0]"},
    {"strlen b", "i:126"},
    {"bitfield n overflow fail incrby u2 100 9", "[nil]"},
    {"strlen n", "i:13"},
    {"bitfield b", "[]"},
    {"bitfield", "wrong number of arguments for 'bitfield' command"},
    {"bitfield b get", "syntax error"},
    {"bitfield b get u8", "syntax error"},
    {"bitfield b set u8 0", "syntax error"},
    {"bitfield b get u64 0", "Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."},
    {"bitfield b get i65 0", "Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."},
    {"bitfield b get u0 0", "Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."},
    {"bitfield b get U8 0", "Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."},
    {"bitfield b get u8 -1", "bit offset is not an integer or out of range"},
    {"bitfield b get u8 #-1", "bit offset is not an integer or out of range"},
    {"bitfield b get u8 4294967296", "bit offset is not an integer or out of range"},
    {"bitfield b get u8 4294967295", "[i:0]"},
    {"bitfield b set u8 4294967289 0", "bit offset is not an integer or out of range"},
    {"bitfield b incrby i64 4294967295 1", "bit offset is not an integer or out of range"},
    {"bitfield b get u8 x", "bit offset is not an integer or out of range"},
    {"bitfield b set u8 0 x", "value is not an integer or out of range"},
    {"bitfield b overflow none", "Invalid OVERFLOW type specified"},
    {"bitfield b overflow", "syntax error"},
    {"bitfield b frob u8 0", "syntax error"},
    {"bitfield b get u8 0 frob", "syntax error"},
    {"bitfield_ro b get u8 0", "[i:247]"},
    {"bitfield_ro b set u8 0 1", "BITFIELD_RO only supports the GET subcommand"},
    {"bitfield_ro b overflow sat get u8 8", "[i:127]"},
    {"bitfield_ro none get u8 0", "[i:0]"},
    {"hset h f v", "i:1"},
    {"bitfield h get u8 0", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"bitfield h set u8 0 1", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"bitfield h get u8 x", "bit offset is not an integer or out of range"},
    {"set x ohmytext", "+:OK"},
    {"set y mynewtext", "+:OK"},
    {"lcs x y", "s:mytext"},
    {"lcs x y len", "i:6"},
    {"lcs x y idx", "[s:matches, [[[i:4, i:7], [i:5, i:8]], [[i:2, i:3], [i:0, i:1]]], s:len, i:6]"},
    {"lcs x y idx minmatchlen 4", "[s:matches, [[[i:4, i:7], [i:5, i:8]]], s:len, i:6]"},
    {"lcs x y idx minmatchlen 4 withmatchlen", "[s:matches, [[[i:4, i:7], [i:5, i:8], i:4]], s:len, i:6]"},
    {"lcs x y idx withmatchlen minmatchlen -3", "[s:matches, [[[i:4, i:7], [i:5, i:8], i:4], [[i:2, i:3], [i:0, i:1], i:2]], s:len, i:6]"},
    {"lcs x y len idx", "If you want both the length and indexes, please just use IDX."},
    {"lcs x y withmatchlen", "s:mytext"},
    {"lcs x y minmatchlen", "syntax error"},
    {"lcs x y minmatchlen x", "value is not an integer or out of range"},
    {"lcs x y frob", "syntax error"},
    {"lcs x none", "s:"},
    {"lcs none none idx", "[s:matches, [], s:len, i:0]"},
    {"lcs x h", "The specified keys must contain string values"},
    {"lcs h x frob", "The specified keys must contain string values"},
    {"lcs x", "wrong number of arguments for 'lcs' command"},
    {"lcs x x idx withmatchlen", "[s:matches, [[[i:0, i:7], [i:0, i:7], i:8]], s:len, i:8]"},
    {"select 0", "+:OK"},
    {"select x", "value is not an integer or out of range"},
    {"select 99", "DB index is out of range"},
    {"select -1", "DB index is out of range"},
    {"select 2147483648", "value is out of range, value must between -2147483648 and 2147483647"},
    {"select", "wrong number of arguments for 'select' command"},
    {"eval return{KEYS,ARGV} 1 k a", "[[s:k], [s:a]]"},
    {"eval return 0", "nil"},
    {"eval", "wrong number of arguments for 'eval' command"},
    {"eval return", "wrong number of arguments for 'eval' command"},
    {"eval return x", "value is not an integer or out of range"},
    {"eval return -1", "Number of keys can't be negative"},
    {"eval return 1", "Number of keys can't be greater than number of args"},
    {"eval_ro return{KEYS,ARGV} 1 k a", "[[s:k], [s:a]]"},
    {"eval_ro redis.call('set',KEYS[1],1) 1 k", "Write commands are not allowed from read-only scripts. (line 1)"},
    {"eval_ro return(redis.pcall('publish','c','m')) 0", "Write commands are not allowed from read-only scripts."},
    {"eval return(redis.pcall('eval','return',0)) 0", "This Redis command is not allowed from script"},
    {"eval return( 0", "Error compiling script (new function): user_script:1: unexpected symbol near '<eof>'"},
    {"evalsha e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0", "NOSCRIPT No matching script. Please use EVAL."},
    {"evalsha e0e1f9fabfc9d4800c877a703b823ac0578ff8db x", "value is not an integer or out of range"},
    {"evalsha short x", "NOSCRIPT No matching script. Please use EVAL."},
    {"eval_ro return(redis.call('get','x')) 0", "s:ohmytext"},
    {"exists k", "i:0"},
    /* clang-format on */
};

EACH_TEST_WITH(open_volatile_place, remove_state_place);

TEST(commands_answer_as_redis_does)
{
    place *at = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect(at->store, rows[i].line, rows[i].want);
}

TEST(lcs_of_long_strings_is_refused)
{
    place *at = *state;

    expect(at->store, "setrange a 19999 x", "i:20000");
    expect(at->store, "lcs a a len",
           "Insufficient memory, transient memory for LCS exceeds "
           "proto-max-bulk-len");
    expect(at->store, "setrange b 4999 x", "i:5000");
    expect(at->store, "lcs b b len", "i:5000");
    expect(at->store, "lcs a b len", "i:5000");
}
