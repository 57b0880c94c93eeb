/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exceptions.c - the known differences from Redis 7.0; newer.c has those of
 * newer servers. Each has its reason; no new ones may be added. An exception is
 * one form of a number or of a text, or a random order: a wrong reply or
 * another state has no place here.
 *
 * What scripts never do: call math.random() unseeded.
 */
#include "exceptions.h"

#include <string.h>
#include <strings.h>

static bool is_command(const op *command, const char *name)
{
    return command->kind != OP_SCRIPT && command->word_count > 0 &&
           command->words[0].size == strlen(name) &&
           strncasecmp(command->words[0].data, name, strlen(name)) == 0;
}

/* An error or status line above 64 KiB, which takes a script that raises one of
 * its texts; the Redis driver refuses to buffer it. */
bool exception_unreadable(const hf__request *server)
{
    return server->status == HF_CORRUPT &&
           strstr(server->error.message, "sent a malformed reply") != NULL;
}

/* Errors that quote a word quote all of it in Redis; the embedded store has
 * room for 319 bytes. */
#define ERROR_ROOM 319u

bool exception_cut_error(const hf_reply *tested, const hf_reply *server)
{
    return tested->kind == HF_REPLY_ERROR && server->kind == HF_REPLY_ERROR &&
           tested->bytes.size == ERROR_ROOM &&
           server->bytes.size > ERROR_ROOM &&
           memcmp(tested->bytes.data, server->bytes.data, ERROR_ROOM) == 0;
}

/* Redis 7.0 stores a score of -0 as 0 in a small sorted set and as -0 in a
 * large one; ours is always 0. */
bool exception_same_text(const hf_reply *tested, const hf_reply *server)
{
    return tested->kind == HF_REPLY_STRING && server->kind == HF_REPLY_STRING &&
           tested->bytes.size == 1 && server->bytes.size == 2 &&
           tested->bytes.data[0] == '0' &&
           memcmp(server->bytes.data, "-0", 2) == 0;
}

/* ------------------------------------------------------------------- SORT */

static bool is_sort(const op *command)
{
    return is_command(command, "sort") || is_command(command, "sort_ro");
}

static bool has_option(const op *command, const char *name)
{
    for (size_t i = 2; i < command->word_count; i++) {
        if (command->words[i].size == strlen(name) &&
            strncasecmp(command->words[i].data, name, strlen(name)) == 0)
            return true;
    }
    return false;
}

/* Compared as texts that end at a NUL, which replies always have. */
static int collate(const hf_reply *a, const hf_reply *b)
{
    if (a->kind != HF_REPLY_STRING || b->kind != HF_REPLY_STRING)
        return (a->kind == HF_REPLY_STRING) - (b->kind == HF_REPLY_STRING);
    return strcmp(a->bytes.data, b->bytes.data);
}

static bool is_ordered(const hf_reply *reply, int sign)
{
    for (size_t i = 1; i < reply->array.count; i++) {
        if (collate(&reply->array.items[i - 1], &reply->array.items[i]) * sign >
            0)
            return false;
    }
    return true;
}

static bool collates(const hf_reply *a, const hf_reply *b)
{
    for (size_t i = 0; i < a->array.count; i++) {
        if (collate(&a->array.items[i], &b->array.items[i]) != 0)
            return false;
    }
    return true;
}

/*
 * Texts that are equal up to a NUL are ordered randomly in Redis. So are the
 * members of an unsorted set, unless a script asks; the embedded store sorts it
 * as Redis does for scripts.
 */
exception_order exception_sorted(const op *command, const hf_reply *tested,
                                 const hf_reply *server)
{
    if (!is_sort(command) || tested->kind != HF_REPLY_ARRAY ||
        server->kind != HF_REPLY_ARRAY ||
        tested->array.count != server->array.count)
        return ORDER_MATTERS;
    if (has_option(command, "alpha") && collates(tested, server))
        return ORDER_SAME;
    if (!has_option(command, "by") || has_option(command, "get") ||
        (!is_ordered(tested, 1) && !is_ordered(tested, -1)))
        return ORDER_MATTERS;
    return has_option(command, "limit") ? ORDER_SAME : ORDER_CHANCE;
}
