/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutation.c - the faults. Each stands for a class that must be found: a wrong
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

static const mutation mutations[] = {
    {"reply", "STRLEN answers one more", NULL, count_one_more},
    {"write", "SET stores one byte less", cut_value, NULL},
    {"expiry", "PSETEX takes another time to live", forget_expiry, NULL},
    {"error", "INCRBY leaves out the end of its error", NULL, change_error},
    {"array", "HKEYS leaves out a field", NULL, drop_last},
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
