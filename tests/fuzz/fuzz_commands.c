/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_commands.c - any commands, on a store on disk: each has a reply that can
 * be read or an error with a text, and the store keeps what they have done
 * (support/kept.h).
 *
 * The first byte chooses what is in the store before, whether the commands are
 * one batch, and how much is checked; the rest is commands (commands_input.h).
 */
#include <string.h>

#include "commands_input.h"
#include "holdfast/command.h"
#include "kept_stores.h"

#define COMMANDS_MAX 16

/* What is about to expire could do so between the comparisons. */
static const char settle[] =
    "local function soon(ms) return ms >= 0 and ms < 60000 end "
    "for _, key in ipairs(redis.call('keys', '*')) do "
    "    if soon(redis.call('pttl', key)) then "
    "        redis.call('del', key) "
    "    elseif redis.call('type', key).ok == 'hash' then "
    "        for _, field in ipairs(redis.call('hkeys', key)) do "
    "            local ms = redis.call('hpttl', key, 'fields', 1, field)[1] "
    "            if soon(ms) then redis.call('hdel', key, field) end "
    "        end "
    "    end "
    "end";

/* A key of each type with ARGV[1] elements; `t` is a hash with deadlines. */
static const char fill[] =
    "local count = tonumber(ARGV[1]) "
    "redis.call('set', 's', ('string'):rep(count)) "
    "for i = 1, count do "
    "    redis.call('hset', 'h', 'f' .. i, i) "
    "    redis.call('hset', 't', 'f' .. i, 'v') "
    "    redis.call('hpexpire', 't', 600000 + i, 'fields', 1, 'f' .. i) "
    "    redis.call('rpush', 'l', 'm' .. i) "
    "    redis.call('sadd', 'e', 'm' .. i) "
    "    redis.call('zadd', 'z', i / 2, 'm' .. i) "
    "end";

static kept *stores;

static void run_script(const char *script, const char *number)
{
    hf_bytes words[] = {hf_str("eval"), hf_str(script), hf_str("0"),
                        hf_str(number)};
    hf_error err = HF_ERROR_INIT;

    if (hf_command(stores->client, 4, words, NULL, &err) != HF_OK) {
        fprintf(stderr, "%s\n", err.message);
        abort();
    }
}

/* Reads all of it, for the sanitizer. Returns how many parts it has. */
static size_t read_reply(const hf_reply *reply)
{
    hf_bytes bytes = hf_reply_bytes(reply);
    const unsigned char *at = bytes.data;
    volatile unsigned char read;
    size_t count = 1;

    for (size_t i = 0; i < bytes.size; i++)
        read = at[i];
    (void)read;
    for (size_t i = 0; i < hf_reply_count(reply); i++)
        count += read_reply(hf_reply_at(reply, i));
    return count;
}

/* No command does that to a sound store. A script that is not loaded is
 * HF_UNAVAILABLE. */
static bool is_expected(hf_status status, const command_words *command)
{
    if (status == HF_UNAVAILABLE)
        return strncmp(command->words[0].data, "eval", 4) == 0;
    return status != HF_CORRUPT && status != HF_SYSTEM &&
           status != HF_NO_MEMORY && status != HF_INDETERMINATE &&
           status != HF_TIMEOUT;
}

static void run_each(const command_words *commands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hf_error err = HF_ERROR_INIT;
        hf_reply *reply = NULL;
        hf_status status = hf_command(stores->client, commands[i].count,
                                      commands[i].words, &reply, &err);

        if (!is_expected(status, &commands[i]))
            fprintf(stderr, "%s\n", err.message);
        PROMISE(is_expected(status, &commands[i]));
        PROMISE(status != HF_OK || read_reply(reply) > 0);
        PROMISE(status == HF_OK || err.message[0] != '\0');
        hf_reply_free(reply);
    }
}

static void run_together(const command_words *commands, size_t count)
{
    hf_command_item items[COMMANDS_MAX] = {{0, NULL}};
    hf_reply *replies[COMMANDS_MAX] = {NULL};
    hf_status statuses[COMMANDS_MAX] = {HF_OK};
    hf_status status, first = HF_OK;

    for (size_t i = 0; i < count; i++)
        items[i] = (hf_command_item){commands[i].count, commands[i].words};
    status =
        hf_command_many(stores->client, items, count, replies, statuses, NULL);
    for (size_t i = 0; i < count; i++) {
        if (!is_expected(statuses[i], &commands[i]))
            fprintf(stderr, "%zu: %s\n", i, hf_status_name(statuses[i]));
        PROMISE(is_expected(statuses[i], &commands[i]));
        PROMISE(statuses[i] != HF_OK || read_reply(replies[i]) > 0);
        hf_reply_free(replies[i]);
        if (first == HF_OK && statuses[i] >= 200)
            first = statuses[i];
    }
    if (status != first)
        fprintf(stderr, "%s, not %s\n", hf_status_name(status),
                hf_status_name(first));
    PROMISE(status == first);
}

static void show(const command_words *command)
{
    for (size_t i = 0; i < command->count; i++) {
        const unsigned char *text = command->words[i].data;
        size_t size = command->words[i].size;

        fprintf(stderr, "\"");
        for (size_t at = 0; at < size && at < 80; at++)
            fprintf(stderr, text[at] >= 32 && text[at] < 127 ? "%c" : "\\x%02x",
                    text[at]);
        fprintf(stderr, "\" ");
    }
    fprintf(stderr, "\n");
}

/* It may take a second. */
static bool have_lcs(const command_words *commands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t word = 0; word < commands[i].count; word++) {
            if (commands[i].words[word].size == 3 &&
                memcmp(commands[i].words[word].data, "lcs", 3) == 0)
                return true;
        }
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const counts[] = {"0", "3", "20", "300"};
    static command_words commands[COMMANDS_MAX];
    static command_room room;
    input in = {data, data + size};
    size_t count = 0;
    uint8_t choice;
    bool more = true;

    if (stores == NULL)
        stores = kept_stores_open("file");
    choice = input_byte(&in);
    room.used = 0;
    while (more && count < COMMANDS_MAX && input_left(&in) > 0) {
        more = command_from_input(&in, &room, &commands[count]);
        if (getenv("FUZZ_SHOW") != NULL)
            show(&commands[count]);
        if (!have_lcs(&commands[count], 1) || !have_lcs(commands, count))
            count++;
    }
    kept_stores_empty(stores);
    run_script(fill, counts[choice % 4]);
    if ((choice & 4) != 0)
        run_together(commands, count);
    else
        run_each(commands, count);
    run_script(settle, "");
    kept_stores_check(stores, KEPT_STORES_WHOLE(choice));
    return 0;
}
