/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation.c - see operation.h.
 *
 * Writes whose second run could undo what another client did in between are not
 * repeatable.
 */
#include "core/operation.h"

#define OPERATION(name, word, again, ...)                                      \
    const hf__operation hf__op_##name = {                                      \
        .command = word, .repeatable = again, .answer = __VA_ARGS__}

#define NUMBER HF__SHAPE_INTEGER
#define KIND HF__SHAPE_KIND
#define ONCE false
#define AGAIN true

static const hf__shape strings[] = {KIND(HF__IS_STRING)};
static const hf__shape pairs[] = {KIND(HF__IS_STRING), KIND(HF__IS_STRING)};

OPERATION(get, "GET", AGAIN, KIND(HF__IS_STRING | HF__IS_NIL));
/* The same value again; its caller knows what nil means then. */
OPERATION(load_set, "SET", AGAIN, KIND(HF__IS_STATUS | HF__IS_NIL));
OPERATION(dump, "DUMP", AGAIN, KIND(HF__IS_STRING | HF__IS_NIL));
/* The word DUMP or RESTORE follows. */
OPERATION(function_dump, "FUNCTION", AGAIN, KIND(HF__IS_STRING));
OPERATION(function_restore, "FUNCTION", ONCE, KIND(HF__IS_STATUS));

OPERATION(exists, "EXISTS", AGAIN, NUMBER(0, 1));
OPERATION(unlink, "UNLINK", AGAIN, NUMBER(0, 1));
OPERATION(del, "DEL", AGAIN, NUMBER(0, 1));

/* A cursor and what was found. */
static const hf__shape found_strings[] = {KIND(HF__IS_DIGITS),
                                          HF__SHAPE_LIST(strings)};
static const hf__shape found_pairs[] = {KIND(HF__IS_DIGITS),
                                        HF__SHAPE_LIST(pairs)};

OPERATION(scan, "SCAN", AGAIN, HF__SHAPE_TUPLE(found_strings, 2));
OPERATION(hscan, "HSCAN", AGAIN, HF__SHAPE_TUPLE(found_pairs, 2));
OPERATION(sscan, "SSCAN", AGAIN, HF__SHAPE_TUPLE(found_strings, 2));
OPERATION(zscan, "ZSCAN", AGAIN, HF__SHAPE_TUPLE(found_pairs, 2));
OPERATION(lrange, "LRANGE", AGAIN, HF__SHAPE_LIST(strings));

/* Deadline in Unix ms; -1: none; -2: no such field. */
static const hf__shape deadlines[] = {NUMBER(-2, INT64_MAX)};
/* 1: set; 2: it was over, and the field is deleted. */
static const hf__shape changes[] = {NUMBER(-2, 2)};

OPERATION(hpexpiretime, "HPEXPIRETIME", AGAIN, HF__SHAPE_LIST(deadlines));
OPERATION(hpexpireat, "HPEXPIREAT", AGAIN, HF__SHAPE_LIST(changes));

OPERATION(dbsize, "DBSIZE", AGAIN, NUMBER(0, INT64_MAX));
OPERATION(wait, "WAIT", AGAIN, NUMBER(0, INT32_MAX));

/* Seconds and microseconds. */
static const hf__shape instant[] = {KIND(HF__IS_DIGITS), KIND(HF__IS_DIGITS)};

OPERATION(time, "TIME", AGAIN, HF__SHAPE_TUPLE(instant, 2));

void hf__operation_request(hf__request *request, const hf__operation *operation,
                           hf_bytes *words, size_t count)
{
    words[0] = hf_str(operation->command);
    hf__request_command(request, words, count, operation->repeatable);
    request->answer = &operation->answer;
}
