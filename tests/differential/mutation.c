/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutation.c - the faults. Each represents a class that must be found: a wrong
 * reply, a write whose reply is right, a wrong error text, a lost expiry.
 */
#include "mutation.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_named(const op *command, const char *name)
{
    return command->word_count > 0 && command->words[0].size == strlen(name) &&
           strncasecmp(command->words[0].data, name, strlen(name)) == 0;
}

static void count_one_more(const op *command, hf_reply *reply, hf__arena *arena)
{
    (void)arena;
    if (is_named(command, "strlen") && reply->kind == HF_REPLY_INTEGER)
        reply->integer++;
}

/* The words array is the caller's own copy. */
static void cut_value(op *command, hf__arena *arena)
{
    (void)arena;
    if (is_named(command, "set") && command->word_count > 2 &&
        command->words[2].size > 1)
        command->words[2].size--;
}

static void forget_expiry(op *command, hf__arena *arena)
{
    (void)arena;
    if (is_named(command, "psetex") && command->word_count == 4)
        command->words[2] = hf_str("9999999999999");
}

static void change_error(const op *command, hf_reply *reply, hf__arena *arena)
{
    static const char text[] = "ERR value is not an integer";

    if (is_named(command, "incrby") && reply->kind == HF_REPLY_ERROR &&
        reply->bytes.size > strlen(text) &&
        memcmp(reply->bytes.data, text, strlen(text)) == 0)
        (void)hf__reply_set_bytes(reply, HF_REPLY_ERROR, text, strlen(text),
                                  arena);
}

static void drop_last(const op *command, hf_reply *reply, hf__arena *arena)
{
    (void)arena;
    if (is_named(command, "hkeys") && reply->kind == HF_REPLY_ARRAY &&
        reply->array.count > 1)
        reply->array.count--;
}

static void forget_rename(op *command, hf__arena *arena)
{
    (void)arena;
    if (is_named(command, "renamenx") && command->word_count == 3)
        command->words[0] = hf_str("exists");
}

/* A write that does less than its reply says. */
static void drop_member(op *command, hf__arena *arena)
{
    (void)arena;
    if (is_named(command, "sadd") && command->word_count > 3)
        command->words[command->word_count - 1] = command->words[2];
}

static void swap_ends(op *command, hf__arena *arena)
{
    (void)arena;
    if (is_named(command, "linsert") && command->word_count == 5 &&
        command->words[2].size == 6 &&
        strncasecmp(command->words[2].data, "before", 6) == 0)
        command->words[2] = hf_str("after");
}

static void forget_greater(op *command, hf__arena *arena)
{
    (void)arena;
    for (size_t i = 2; is_named(command, "zadd") && i < command->word_count;
         i++) {
        if (command->words[i].size == 2 &&
            strncasecmp(command->words[i].data, "gt", 2) == 0)
            command->words[i] = hf_str("lt");
    }
}

static void swap_two(const op *command, hf_reply *reply, hf__arena *arena)
{
    hf_reply kept;

    (void)arena;
    if (!is_named(command, "sort") || reply->kind != HF_REPLY_ARRAY ||
        reply->array.count < 2)
        return;
    kept = reply->array.items[0];
    reply->array.items[0] = reply->array.items[1];
    reply->array.items[1] = kept;
}

/* A weight that is not a number is accepted as one. */
static void take_weights(const op *command, hf_reply *reply, hf__arena *arena)
{
    (void)arena;
    if (!is_named(command, "sort") || reply->kind != HF_REPLY_ERROR ||
        strstr(reply->bytes.data, "can't be converted into double") == NULL)
        return;
    reply->kind = HF_REPLY_ARRAY;
    reply->array.items = NULL;
    reply->array.count = 0;
}

/* One less than the true number. */
static void break_true(const op *command, hf_reply *reply, hf__arena *arena)
{
    (void)arena;
    if (command->kind == OP_SCRIPT && reply->kind == HF_REPLY_INTEGER &&
        reply->integer == 1)
        reply->integer = 0;
}

static const mutation mutations[] = {
    {"reply", "STRLEN answers one more", NULL, count_one_more},
    {"write", "SET stores one byte less", cut_value, NULL},
    {"expiry", "PSETEX takes another time to live", forget_expiry, NULL},
    {"error", "INCRBY leaves out the end of its error", NULL, change_error},
    {"key", "RENAMENX does nothing", forget_rename, NULL},
    {"hash", "HKEYS leaves out a field", NULL, drop_last},
    {"list", "LINSERT BEFORE inserts behind", swap_ends, NULL},
    {"set", "SADD leaves out its last member", drop_member, NULL},
    {"zset", "ZADD takes GT for LT", forget_greater, NULL},
    {"sort", "SORT swaps the first two", NULL, swap_two},
    {"weight", "SORT takes any weight for a number", NULL, take_weights},
    {"script", "a script's 1 becomes 0", NULL, break_true},
};

#define COUNT (sizeof(mutations) / sizeof(mutations[0]))

const mutation *mutation_find(const char *name)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (strcmp(mutations[i].name, name) == 0)
            return &mutations[i];
    }
    return NULL;
}

void mutation_list(char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < COUNT && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0 ? "" : ", ", mutations[i].name);
    }
}
