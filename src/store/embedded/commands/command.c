/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.c - finding commands and running them, and what they share: reading
 * words, answering, expiry arithmetic.
 */
#include "store/embedded/commands/command.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "store/embedded/files/name.h"
#include "store/embedded/keys/number.h"
#include "store/embedded/keys/reclaim.h"

const hf__command *const hf__command_tables[] = {
    hf__commands_string,        hf__commands_string_part,
    hf__commands_getex,         hf__commands_bit,
    hf__commands_key,           hf__commands_copy,
    hf__commands_keyspace_scan, hf__commands_expire,
    hf__commands_hash,          hf__commands_hash_scan,
    hf__commands_incrbyfloat,   hf__commands_zset,
    hf__commands_zrange,        hf__commands_zset_scan,
    hf__commands_zset_remove,   hf__commands_zset_algebra,
    hf__commands_list,          hf__commands_list_move,
    hf__commands_set,           hf__commands_set_algebra,
    hf__commands_set_scan,      hf__commands_sort,
    hf__commands_bitfield,      hf__commands_lcs,
    hf__commands_server,        NULL};

/* ---------------------------------------------------------------- finding */

/* A power of two, at least four times the number of commands. */
#define INDEX_SIZE 1024u
#define NAME_MAX_SIZE 24u

static const hf__command *index_table[INDEX_SIZE];
static pthread_once_t index_once = PTHREAD_ONCE_INIT;

static size_t index_start(const char *lower, size_t size)
{
    return (size_t)hf__name_hash(hf_view(lower, size), 0) % INDEX_SIZE;
}

static void build_index(void)
{
    for (size_t i = 0; hf__command_tables[i] != NULL; i++) {
        for (const hf__command *command = hf__command_tables[i];
             command->name != NULL; command++) {
            size_t at = index_start(command->name, strlen(command->name));

            while (index_table[at] != NULL)
                at = (at + 1) % INDEX_SIZE;
            index_table[at] = command;
        }
    }
}

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter + 32) : letter;
}

const hf__command *hf__command_find(hf_bytes name)
{
    char text[NAME_MAX_SIZE];

    (void)pthread_once(&index_once, build_index);
    if (name.size == 0 || name.size >= sizeof(text))
        return NULL;
    for (size_t i = 0; i < name.size; i++)
        text[i] = lower(((const char *)name.data)[i]);
    text[name.size] = '\0';
    for (size_t at = index_start(text, name.size); index_table[at] != NULL;
         at = (at + 1) % INDEX_SIZE) {
        if (strcmp(index_table[at]->name, text) == 0)
            return index_table[at];
    }
    return NULL;
}

bool hf__command_arity_fits(const hf__command *command, size_t count)
{
    if (command->arity >= 0)
        return count == (size_t)command->arity;
    return count >= (size_t)-command->arity;
}

void hf__command_run(hf__tx *tx, const hf__command *command,
                     const hf_bytes *words, size_t count)
{
    tx->command = command;
    tx->claimed_size = 0;
    if ((command->flags & HF__COMMAND_WRITES) && !hf__tx_may_write(tx))
        return;
    hf__arena_free(&tx->arena);
    hf__tx_trim(tx);
    if ((command->flags & HF__COMMAND_GROWS) && hf__tx_is_full(tx)) {
        hf__reclaim_hard(tx);
        if (hf__tx_is_full(tx)) {
            hf__say_error(tx, "OOM command not allowed when used memory > "
                              "'maxmemory'.");
            return;
        }
    }
    command->run(tx, words, count);
}

/* ----------------------------------------------------------------- errors */

/* As Redis does with words in errors: what ends a line is cut off at the end
 * and blank elsewhere. */
static void make_line(char *text)
{
    size_t size = strlen(text);

    while (size > 0 && (text[size - 1] == '\r' || text[size - 1] == '\n'))
        text[--size] = '\0';
    for (; *text != '\0'; text++) {
        if (*text == '\r' || *text == '\n')
            *text = ' ';
    }
}

void hf__say_error(hf__tx *tx, const char *format, ...)
{
    va_list args;

    if (tx->out->failed)
        return;
    tx->out->failed = true;
    va_start(args, format);
    (void)vsnprintf(tx->out->error, sizeof(tx->out->error), format, args);
    va_end(args);
    make_line(tx->out->error);
}

void hf__say_wrong_type(hf__tx *tx)
{
    hf__say_error(tx, "WRONGTYPE Operation against a key holding the wrong "
                      "kind of value");
}

void hf__say_arity(hf__tx *tx, const char *name)
{
    hf__say_error(tx, "ERR wrong number of arguments for '%s' command", name);
}

void hf__unknown_text(char text[HF__OUT_ERROR_SIZE], const hf_bytes *words,
                      size_t count)
{
    /* Redis shows up to 128 bytes of the name and, quotes not counted for the
     * last one, of the arguments. */
    char args[136];
    size_t used = 0;
    hf_bytes name = count > 0 ? words[0] : hf_view("", 0);

    args[0] = '\0';
    for (size_t i = 1; i < count && used < 128; i++) {
        size_t room = 128 - used;
        int size = words[i].size > room ? (int)room : (int)words[i].size;

        size = snprintf(args + used, sizeof(args) - used, "'%.*s' ", size,
                        words[i].size > 0 ? (const char *)words[i].data : "");
        used += size > 0 ? (size_t)size : 0;
    }
    (void)snprintf(text, HF__OUT_ERROR_SIZE,
                   "ERR unknown command '%.*s', with args beginning with: %s",
                   name.size > 128 ? 128 : (int)name.size,
                   name.size > 0 ? (const char *)name.data : "", args);
}

hf_status hf__error_status(const char *text, bool script)
{
    if (strncmp(text, "WRONGTYPE", 9) == 0)
        return HF_WRONG_TYPE;
    if (strncmp(text, "OOM ", 4) == 0)
        return HF_FULL;
    if (strncmp(text, "HFTOKEN ", 8) == 0)
        return HF_CORRUPT;
    if (script)
        return HF_SCRIPT;
    if (strncmp(text, "ERR unknown command", 19) == 0 ||
        strncmp(text, "ERR unknown subcommand", 22) == 0)
        return HF_UNSUPPORTED;
    if (strncmp(text, "ERR Error compiling script", 26) == 0)
        return HF_SCRIPT;
    return HF_INVALID;
}

void hf__say_double(hf__tx *tx, double value)
{
    char text[HF__NUMBER_SIZE];
    size_t size = hf__number_put_double(text, value);

    hf__say_bytes(tx, text, size);
}

/* ------------------------------------------------------------------- words */

bool hf__word_same(hf_bytes word, const char *text)
{
    const char *at = word.data;

    for (size_t i = 0; i < word.size; i++) {
        if (lower(at[i]) != text[i])
            return false;
    }
    return true;
}

bool hf__word_integer(hf__tx *tx, hf_bytes word, int64_t *value)
{
    if (hf__number_integer(word, value))
        return true;
    hf__say_error(tx, HF__ERROR_INTEGER);
    return false;
}

bool hf__word_double(hf__tx *tx, hf_bytes word, const char *error,
                     double *value)
{
    hf_status status = hf__number_double(word, value);

    if (status == HF_NO_MEMORY)
        hf__tx_no_memory(tx);
    else if (status != HF_OK)
        hf__say_error(tx, "%s", error);
    return status == HF_OK;
}

bool hf__word_at_least(hf__tx *tx, hf_bytes word, int64_t min,
                       const char *error, int64_t *value)
{
    if (hf__number_integer(word, value) && *value >= min)
        return true;
    hf__say_error(tx, "%s", error);
    return false;
}

bool hf__word_signed(hf__tx *tx, hf_bytes word, int64_t *value)
{
    if (!hf__word_integer(tx, word, value))
        return false;
    if (*value != INT64_MIN)
        return true;
    hf__say_error(tx, "ERR value is out of range, value must between "
                      "-9223372036854775807 and 9223372036854775807");
    return false;
}

bool hf__key_of_type(hf__tx *tx, hf_bytes key, hf__type type,
                     hf__record **record)
{
    *record = hf__key_find(tx, key);
    if (tx->fatal != HF_OK)
        return false;
    if (*record == NULL || (*record)->type == type)
        return true;
    hf__say_wrong_type(tx);
    return false;
}

/* ----------------------------------------------------------------- expiry */

static bool refuse_expiry(hf__tx *tx)
{
    hf__say_error(tx, "ERR invalid expire time in '%s' command",
                  tx->command->name);
    return false;
}

bool hf__expiry_instant(hf__tx *tx, hf__expiry expiry, int64_t value,
                        bool positive, int64_t *expire_ms)
{
    int64_t instant = value;

    if (positive && value <= 0)
        return refuse_expiry(tx);
    if (expiry.seconds && __builtin_mul_overflow(value, 1000, &instant))
        return refuse_expiry(tx);
    if (expiry.absolute) {
        *expire_ms = hf__tx_from_unix(tx, instant);
    } else {
        int64_t sum;

        /* Redis adds to Unix time, whichever clock we keep. */
        if (instant > INT64_MAX / 2 &&
            __builtin_add_overflow(instant, hf__tx_unix_us(tx) / 1000, &sum))
            return refuse_expiry(tx);
        if (__builtin_add_overflow(tx->now_ms, instant, expire_ms))
            *expire_ms = instant < 0 ? INT64_MIN : INT64_MAX;
    }
    if (*expire_ms == 0)
        *expire_ms = -1; /* 0 means never */
    return true;
}
