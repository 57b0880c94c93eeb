/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_hyperloglog_test.c - commands on HyperLogLogs: replies, error texts
 * and bytes as recorded from redis-server 7.0.15, in this order.
 */
#include "embedded_store.h"

static const struct {
    const char *line;
    const char *want;
} rows[] = {
    /* clang-format off */
    /* sparse */
    {"pfadd h", "i:1"},
    {"get h", "s:HYLL\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x80\\x7f\\xff"},
    {"pfadd h", "i:0"},
    {"pfcount h", "i:0"},
    {"get h", "s:HYLL\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x7f\\xff"},
    {"pfadd h a", "i:1"},
    {"get h", "s:HYLL\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x80q\\xa6\\x84NW"},
    {"pfadd h a", "i:0"},
    {"pfadd h b c d e f g", "i:1"},
    {"pfcount h", "i:7"},
    {"get h", "s:HYLL\\x01\\x00\\x00\\x00\\x07\\x00\\x00\\x00\\x00\\x00\\x00\\x00Fm\\x80V\\x0c\\x80D<\\x848\\x80P\\xb1\\x84I\\x8c\\x80Bm\\x80BZ"},
    {"pfadd h h", "i:1"},
    {"get h", "s:HYLL\\x01\\x00\\x00\\x00\\x07\\x00\\x00\\x00\\x00\\x00\\x00\\x80Fm\\x80V\\x0c\\x80D<\\x848\\x80M\\xc2\\x80B\\xed\\x84I\\x8c\\x80Bm\\x80BZ"},
    {"pfadd h \"\"", "i:1"},
    {"pfcount h", "i:9"},
    {"pfcount none", "i:0"},
    {"pfcount none h none", "i:9"},
    {"pfadd other 1 2 3 a", "i:1"},
    {"pfcount h other", "i:12"},
    {"pfmerge sum h other", "+:OK"},
    {"get sum", "s:HYLL\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x80Fm\\x80P\\xc2\\x84EH\\x80@\\xe9\\x80CQ\\x848\\x80I\\xe7\\x80C\\xd9\\x80B\\xed\\x84I\\x8c\\x80@\\xd4\\x8cA\\x97\\x80BZ"},
    {"pfcount sum", "i:12"},
    {"pfmerge sum", "+:OK"},
    {"pfmerge new", "+:OK"},
    {"get new", "s:HYLL\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x80\\x7f\\xff"},
    {"pfdebug encoding h", "+:sparse"},
    /* dense, and a sparse one into it */
    {"pfdebug todense h", "i:1"},
    {"pfdebug todense h", "i:0"},
    {"pfdebug encoding h", "+:dense"},
    {"strlen h", "i:12304"},
    {"pfcount h", "i:9"},
    {"pfadd h a b", "i:0"},
    {"pfadd h i", "i:1"},
    {"pfcount h", "i:10"},
    {"pfmerge other h", "+:OK"},
    {"pfdebug encoding other", "+:dense"},
    {"pfcount other", "i:13"},
    {"pfcount h", "i:10"},
    /* others, and damage */
    {"type h", "+:string"},
    {"lpush l a", "i:1"},
    {"pfadd l a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"pfcount l", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"pfcount h l", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"pfmerge l h", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"pfmerge h l", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"set s text", "+:OK"},
    {"pfadd s a", "WRONGTYPE Key is not a valid HyperLogLog string value."},
    {"pfcount s", "WRONGTYPE Key is not a valid HyperLogLog string value."},
    {"pfcount h s", "WRONGTYPE Key is not a valid HyperLogLog string value."},
    {"pfmerge s h", "WRONGTYPE Key is not a valid HyperLogLog string value."},
    {"pfmerge h s", "WRONGTYPE Key is not a valid HyperLogLog string value."},
    {"setrange new 4 x", "i:18"},
    {"pfcount new", "WRONGTYPE Key is not a valid HyperLogLog string value."},
    {"setrange h 12303 xx", "i:12305"},
    {"pfcount h", "WRONGTYPE Key is not a valid HyperLogLog string value."},
    {"pfadd bad a", "i:1"},
    {"append bad x", "i:22"},
    {"pfadd bad z", "i:1"},
    {"pfcount bad", "INVALIDOBJ Corrupted HLL object detected"},
    {"pfcount bad none", "INVALIDOBJ Corrupted HLL object detected"},
    {"pfmerge bad2 bad", "INVALIDOBJ Corrupted HLL object detected"},
    {"exists bad2", "i:0"},
    {"pfdebug todense bad", "INVALIDOBJ Corrupted HLL object detected"},
    {"pfadd", "wrong number of arguments for 'pfadd' command"},
    {"pfcount", "wrong number of arguments for 'pfcount' command"},
    {"pfmerge", "wrong number of arguments for 'pfmerge' command"},
    {"pfdebug getreg none", "The specified key does not exist"},
    {"pfdebug foo sum", "Unknown PFDEBUG subcommand 'foo'"},
    /* clang-format on */
};

EACH_TEST_WITH(open_volatile_place, remove_state_place);

TEST(hyperloglog_commands_answer_as_redis_does)
{
    place *at = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect(at->store, rows[i].line, rows[i].want);
}
