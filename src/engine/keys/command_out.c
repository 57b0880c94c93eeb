/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_out.c - replies built as a tree of hf_reply. lua_out.c builds those
 * for Lua.
 */
#include "engine/keys/command_out.h"

#include <assert.h>
#include <string.h>

#include "engine/keys/number_text.h"

/* The next node to fill; closes full arrays. NULL after a failure. */
static hf_reply *next_node(hf__out_tree *tree)
{
    hf_reply *reply;

    if (tree->no_memory)
        return NULL;
    while (tree->open[tree->depth].left == 0) {
        assert(tree->depth > 0);
        tree->depth--;
    }
    tree->open[tree->depth].left--;
    reply = tree->open[tree->depth].next++;
    return reply;
}

static void reply_nil(hf__out *out)
{
    hf_reply *reply = next_node((hf__out_tree *)(void *)out);

    if (reply != NULL)
        hf__reply_set_nil(reply);
}

static void reply_nil_array(hf__out *out)
{
    hf_reply *reply = next_node((hf__out_tree *)(void *)out);

    if (reply != NULL)
        hf__reply_set_nil_array(reply);
}

static void reply_integer(hf__out *out, int64_t value)
{
    hf_reply *reply = next_node((hf__out_tree *)(void *)out);

    if (reply != NULL)
        hf__reply_set_integer(reply, value);
}

static void put_bytes(hf__out *out, hf_reply_kind kind, const void *data,
                      size_t size)
{
    hf__out_tree *tree = (hf__out_tree *)(void *)out;
    hf_reply *reply = next_node(tree);

    if (reply != NULL &&
        !hf__reply_set_bytes(reply, kind, data, size, tree->arena))
        tree->no_memory = true;
}

static void reply_bytes(hf__out *out, const void *data, size_t size)
{
    put_bytes(out, HF_REPLY_STRING, data, size);
}

static void reply_line(hf__out *out, const char *text)
{
    put_bytes(out, HF_REPLY_STATUS, text, strlen(text));
}

static void reply_array(hf__out *out, size_t count)
{
    hf__out_tree *tree = (hf__out_tree *)(void *)out;
    hf_reply *reply = next_node(tree);

    if (reply == NULL)
        return;
    if (!hf__reply_set_array(reply, count, tree->arena)) {
        tree->no_memory = true;
        return;
    }
    assert(tree->depth + 1 < HF__OUT_DEPTH);
    tree->depth++;
    tree->open[tree->depth].next = reply->array.items;
    tree->open[tree->depth].left = count;
}

static void put_digits(hf__out *out, int64_t value)
{
    char text[HF__NUMBER_TEXT_SIZE];

    put_bytes(out, HF_REPLY_STRING, text, hf__number_put_integer(text, value));
}

static void reply_instant(hf__out *out, int64_t unix_us)
{
    reply_array(out, 2);
    put_digits(out, unix_us / 1000000);
    put_digits(out, unix_us % 1000000);
}

static const hf__out_ops tree_ops = {reply_nil,     reply_nil_array,
                                     reply_integer, reply_bytes,
                                     reply_instant, reply_line,
                                     reply_array,   NULL,
                                     NULL,          NULL,
                                     NULL,          NULL};

void hf__out_tree_init(hf__out_tree *tree, hf_reply *reply, hf__arena *arena)
{
    tree->out.ops = &tree_ops;
    tree->out.failed = false;
    tree->out.resp3 = false;
    tree->arena = arena;
    tree->no_memory = false;
    tree->depth = 0;
    tree->open[0].next = reply;
    tree->open[0].left = 1;
}
