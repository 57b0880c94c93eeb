/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_out.h - the output of a command: a tree for perform(), Lua's stack
 * for redis.call(). A command writes exactly one value; an array is followed by
 * its items.
 */
#ifndef HF__ENGINE_COMMAND_OUT_H
#define HF__ENGINE_COMMAND_OUT_H

#include "holdfast/reply.h"
#include "store/reply.h"

/* Nested arrays; no command needs more than three levels. */
#define HF__OUT_DEPTH 8

/* Enough for that of an unknown command with its arguments. */
#define HF__OUT_ERROR_SIZE 320

typedef struct hf__out hf__out;

typedef struct hf__out_ops {
    void (*nil)(hf__out *out);
    void (*nil_array)(hf__out *out);
    void (*integer)(hf__out *out, int64_t value);
    void (*bytes)(hf__out *out, const void *data, size_t size);
    void (*instant)(hf__out *out, int64_t unix_us); /* as replied by TIME */
    void (*line)(hf__out *out, const char *text);   /* a status */
    void (*array)(hf__out *out, size_t count);
    /* NULL unless `resp3`. */
    void (*map)(hf__out *out, size_t count); /* of keys, each with a value */
    void (*set)(hf__out *out, size_t count);
    void (*real)(hf__out *out, double value);
    void (*verbatim)(hf__out *out, const void *data, size_t size);
    /* A number that is bytes without `resp3`; NULL: it is replied as these. */
    void (*score)(hf__out *out, double value);
} hf__out_ops;

/* Implementations embed this as their first member. */
struct hf__out {
    const hf__out_ops *ops;
    /* Set when the reply is an error; nothing follows it. */
    bool failed;
    /* Replies have the types of RESP3, else only those of RESP2. */
    bool resp3;
    char error[HF__OUT_ERROR_SIZE];
};

/* Builds a tree in an arena. */
typedef struct hf__out_tree {
    hf__out out;
    hf__arena *arena;
    bool no_memory;
    size_t depth;
    struct {
        hf_reply *next;
        size_t left;
    } open[HF__OUT_DEPTH];
} hf__out_tree;

void hf__out_tree_init(hf__out_tree *tree, hf_reply *reply, hf__arena *arena);

#endif
