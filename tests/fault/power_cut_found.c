/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_cut_found.c - reading a store and comparing it with the model.
 */
#include "power_cut_found.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/lock.h"
#include "holdfast/script.h"

#define WORD_MAX 8

void key_name(char key[KEY_SIZE], unsigned thread, const char *part, size_t at)
{
    (void)snprintf(key, KEY_SIZE, "t%u:%s:%zu", thread, part, at);
}

hf_status ask(hf_client *client, const char *line, hf_reply **reply,
              hf_error *err)
{
    hf_bytes words[WORD_MAX];
    size_t count = 0;
    hf_script *script;
    hf_status status;

    while (*line != '\0' && count < WORD_MAX) {
        size_t size = strcspn(line, " ");

        words[count++] = hf_view(line, size);
        line += size + (line[size] == ' ');
    }
    status = hf_script_load(client, hf_str("return redis.call(unpack(ARGV))"),
                            &script, err);
    if (status != HF_OK)
        return status;
    status = hf_script_run(script, NULL, 0, words, count, reply, err);
    hf_script_free(script);
    return status;
}

static hf_status ask_key(hf_client *client, unsigned thread,
                         const char *command, const char *part, size_t at,
                         const char *rest, hf_reply **reply, hf_error *err)
{
    char key[KEY_SIZE];
    char line[128];

    key_name(key, thread, part, at);
    (void)snprintf(line, sizeof(line), "%s %s%s", command, key, rest);
    return ask(client, line, reply, err);
}

static hf_status read_lock(found *self, hf_client *client, unsigned thread,
                           hf_error *err)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    char key[KEY_SIZE];
    hf_status status;

    key_name(key, thread, "lock", 0);
    status = hf_lock_inspect(client, hf_str(key), &info, err);
    self->locked = status == HF_OK;
    self->token = info.last_token;
    return status == HF_NOT_FOUND ? HF_OK : status;
}

hf_status found_read(found *self, hf_client *client, unsigned thread,
                     hf_error *err)
{
    const struct {
        const char *command;
        const char *part;
        const char *rest;
        hf_reply **reply;
    } parts[] = {
        {"get", "big", "", &self->big},
        {"hgetall", "hash", "", &self->hash},
        {"lrange", "list", " 0 -1", &self->list},
        {"zrange", "scores", " 0 -1 withscores", &self->scores},
        {"smembers", "set", "", &self->members},
        {"get", "moves", "", &self->moves},
    };
    hf_status status = HF_OK;

    memset(self, 0, sizeof(*self));
    for (size_t i = 0; status == HF_OK && i < MODEL_VALUES; i++)
        status = ask_key(client, thread, "get", "value", i, "",
                         &self->values[i], err);
    for (size_t i = 0; status == HF_OK && i < sizeof(parts) / sizeof(parts[0]);
         i++)
        status = ask_key(client, thread, parts[i].command, parts[i].part, 0,
                         parts[i].rest, parts[i].reply, err);
    if (status == HF_OK)
        status = read_lock(self, client, thread, err);
    return status;
}

void found_free(found *self)
{
    for (size_t i = 0; i < MODEL_VALUES; i++)
        hf_reply_free(self->values[i]);
    hf_reply_free(self->big);
    hf_reply_free(self->hash);
    hf_reply_free(self->list);
    hf_reply_free(self->scores);
    hf_reply_free(self->members);
    hf_reply_free(self->moves);
}

static bool is_number(const hf_reply *reply, uint64_t want)
{
    char text[24];
    hf_bytes bytes = hf_reply_bytes(reply);
    int size = snprintf(text, sizeof(text), "%llu", (unsigned long long)want);

    return bytes.size == (size_t)size &&
           memcmp(bytes.data, text, bytes.size) == 0;
}

/* Is it what operation `number` wrote? 0: nothing. */
static bool is_value(const hf_reply *reply, const model *want, uint64_t number,
                     size_t at, bool big)
{
    static unsigned char bytes[MODEL_SIZE_MAX + 8];
    hf_bytes view;
    size_t size;

    if (number == 0)
        return hf_reply_type(reply) == HF_REPLY_NIL;
    if (hf_reply_type(reply) != HF_REPLY_STRING)
        return false;
    view = hf_reply_bytes(reply);
    size = model_bytes(want, number, at, big, bytes);
    return view.size == size && memcmp(view.data, bytes, size) == 0;
}

/* The number behind the letter of a field or member; SIZE_MAX: none. */
static size_t index_of(const hf_reply *reply, size_t count)
{
    size_t at = strtoul((const char *)hf_reply_bytes(reply).data + 1, NULL, 10);

    return hf_reply_bytes(reply).size >= 2 && at < count ? at : SIZE_MAX;
}

static bool same_hash(const found *self, const model *want)
{
    size_t count = 0;

    for (size_t i = 0; i < MODEL_FIELDS; i++)
        count += want->fields[i] != 0;
    if (hf_reply_count(self->hash) != 2 * count)
        return false;
    for (size_t i = 0; i < 2 * count; i += 2) {
        size_t at = index_of(hf_reply_at(self->hash, i), MODEL_FIELDS);

        if (at == SIZE_MAX || want->fields[at] == 0 ||
            !is_value(hf_reply_at(self->hash, i + 1), want, want->fields[at],
                      at, false))
            return false;
    }
    return true;
}

static bool same_list(const found *self, const model *want)
{
    size_t count = want->list_end - want->list_first;

    if (hf_reply_count(self->list) != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!is_number(hf_reply_at(self->list, i), want->list_first + i))
            return false;
    }
    return true;
}

static bool same_scores(const found *self, const model *want)
{
    size_t count = 0;

    for (size_t i = 0; i < MODEL_MEMBERS; i++)
        count += want->scores[i] != 0;
    if (hf_reply_count(self->scores) != 2 * count)
        return false;
    for (size_t i = 0; i < 2 * count; i += 2) {
        size_t at = index_of(hf_reply_at(self->scores, i), MODEL_MEMBERS);

        if (at == SIZE_MAX || want->scores[at] == 0 ||
            !is_number(hf_reply_at(self->scores, i + 1), want->scores[at]))
            return false;
    }
    return true;
}

static bool same_members(const found *self, const model *want)
{
    size_t count = 0;

    for (size_t i = 0; i < MODEL_MEMBERS; i++)
        count += want->members[i];
    if (hf_reply_count(self->members) != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t at = index_of(hf_reply_at(self->members, i), MODEL_MEMBERS);

        if (at == SIZE_MAX || !want->members[at])
            return false;
    }
    return true;
}

const char *found_differs(const found *self, const model *want)
{
    if (hf_reply_type(self->moves) == HF_REPLY_NIL
            ? want->moves != 0
            : !is_number(self->moves, want->moves))
        return "the count of moves";
    if (self->locked != want->locked)
        return "the lock";
    if (!same_list(self, want))
        return "the list";
    if (!same_members(self, want))
        return "the set";
    if (!same_scores(self, want))
        return "the sorted set";
    for (size_t i = 0; i < MODEL_VALUES; i++) {
        if (!is_value(self->values[i], want, want->values[i], i, false))
            return "a value";
    }
    if (!same_hash(self, want))
        return "the hash";
    if (!is_value(self->big, want, want->big, 0, true))
        return "the big value";
    return NULL;
}

hf_status accounts_sum(hf_client *client, int64_t *sum, hf_error *err)
{
    *sum = 0;
    for (size_t i = 0; i < MODEL_ACCOUNTS; i++) {
        char line[KEY_SIZE];
        hf_reply *reply;
        hf_status status;

        (void)snprintf(line, sizeof(line), "get account:%zu", i);
        status = ask(client, line, &reply, err);
        if (status != HF_OK)
            return status;
        if (hf_reply_type(reply) == HF_REPLY_STRING)
            *sum += strtoll(hf_reply_bytes(reply).data, NULL, 10);
        hf_reply_free(reply);
    }
    return HF_OK;
}
