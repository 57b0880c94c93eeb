/* SPDX-License-Identifier: Apache-2.0 */
/* key_specs.c - see key_specs.h. */
#include "serve/commands/key_specs.h"

#include <string.h>

#include "engine/engine.h"

/* ------------------------------------------------------------------- flags */

static const char *access_of(const hf__known_command *known, bool first)
{
    const char *others = strchr(known->access, ',');

    return first || others == NULL ? known->access : others + 1;
}

static bool has_word(const hf_bytes *words, size_t count, const char *word)
{
    for (size_t i = 2; i < count; i++) {
        if (hf__arg_is(words[i], word))
            return true;
    }
    return false;
}

/* SET reads only with GET, BITFIELD writes only with SET or INCRBY. */
const char *hf__key_access(const hf__known_command *known,
                           const hf_bytes *words, size_t count, bool first)
{
    if (strcmp(known->name, "set") == 0 && !has_word(words, count, "get"))
        return "wuo";
    if (strcmp(known->name, "bitfield") == 0 &&
        !has_word(words, count, "set") && !has_word(words, count, "incrby"))
        return "r";
    return access_of(known, first);
}

static bool has_letter(const char *access, char letter)
{
    return memchr(access, letter, strcspn(access, ",")) != NULL;
}

static const char *need_of(const char *access)
{
    if (has_letter(access, 'o'))
        return "OW";
    if (has_letter(access, 'm'))
        return "RM";
    return has_letter(access, 'w') || has_letter(access, 'b') ? "RW" : "RO";
}

void hf__put_key_flags(hf__answer *answer, const char *access)
{
    static const char letters[] = "ruid";
    static const char *const names[] = {"access", "update", "insert", "delete"};
    size_t count = 1;

    for (size_t i = 0; letters[i] != '\0'; i++)
        count += has_letter(access, letters[i]);
    hf__answer_set(answer, count);
    hf__answer_line(answer, need_of(access));
    for (size_t i = 0; letters[i] != '\0'; i++) {
        if (has_letter(access, letters[i]))
            hf__answer_line(answer, names[i]);
    }
}

/* ---------------------------------------------------------- specifications */

static void put_number(hf__answer *answer, const char *name, int number)
{
    hf__answer_text(answer, name);
    hf__answer_integer(answer, number);
}

/* Followed by `pairs` numbers. */
static void put_part(hf__answer *answer, const char *name, const char *type,
                     size_t pairs)
{
    hf__answer_text(answer, name);
    hf__answer_map(answer, 2);
    hf__answer_text(answer, "type");
    hf__answer_text(answer, type);
    hf__answer_text(answer, "spec");
    hf__answer_map(answer, pairs);
}

static void begin_spec(hf__answer *answer, const char *access)
{
    hf__answer_map(answer, 3);
    hf__answer_text(answer, "flags");
    hf__put_key_flags(answer, access);
}

static void begin_at(hf__answer *answer, const char *access, int index)
{
    begin_spec(answer, access);
    put_part(answer, "begin_search", "index", 1);
    put_number(answer, "index", index);
}

/* `last` is counted from the first key; of the words, one in `limit`. */
static void put_range(hf__answer *answer, int last, int step, int limit)
{
    put_part(answer, "find_keys", "range", 3);
    put_number(answer, "lastkey", last);
    put_number(answer, "keystep", step);
    put_number(answer, "limit", limit);
}

/* The first key and the others, if something else is done to these. */
static void put_range_specs(hf__answer *answer, const hf__known_command *known,
                            const hf__key_range *keys)
{
    bool differ = strchr(known->access, ',') != NULL;
    int first = keys->first;

    hf__answer_set(answer, 1 + (size_t)differ);
    if (differ) {
        begin_at(answer, access_of(known, true), first);
        put_range(answer, 0, keys->step, 0);
        first += keys->step;
    }
    begin_at(answer, access_of(known, !differ), first);
    put_range(answer, keys->last < 0 ? keys->last : keys->last - first,
              keys->step, 0);
}

static void put_counted_specs(hf__answer *answer,
                              const hf__known_command *known)
{
    bool extra = known->last > 0;

    hf__answer_set(answer, 1 + (size_t)extra);
    if (extra) {
        begin_at(answer, access_of(known, true), known->last);
        put_range(answer, 0, 1, 0);
    }
    begin_at(answer, access_of(known, !extra), known->first);
    put_part(answer, "find_keys", "keynum", 3);
    put_number(answer, "keynumidx", 0);
    put_number(answer, "firstkey", 1);
    put_number(answer, "keystep", known->step);
}

/* The first half of what follows STREAMS. */
static void put_stream_specs(hf__answer *answer, const hf__known_command *known)
{
    hf__answer_set(answer, 1);
    begin_spec(answer, known->access);
    put_part(answer, "begin_search", "keyword", 2);
    hf__answer_text(answer, "keyword");
    hf__answer_text(answer, "STREAMS");
    put_number(answer, "startfrom", strcmp(known->name, "xread") == 0 ? 1 : 4);
    put_range(answer, -1, 1, 2);
}

/* Behind options, of which there may be several. */
static void put_stored_specs(hf__answer *answer, const hf__known_command *known)
{
    hf__answer_set(answer, 2);
    begin_at(answer, access_of(known, true), known->first);
    put_range(answer, 0, 1, 0);
    begin_spec(answer, access_of(known, false));
    put_part(answer, "begin_search", "unknown", 0);
    put_part(answer, "find_keys", "unknown", 0);
}

void hf__put_key_specs(hf__answer *answer, const hf__known_command *known,
                       const hf__key_range *keys)
{
    if (known == NULL || (keys->last == 0 && !keys->movable))
        hf__answer_set(answer, 0);
    else if (known->place == HF__KEYS_COUNTED)
        put_counted_specs(answer, known);
    else if (known->place == HF__KEYS_STREAM)
        put_stream_specs(answer, known);
    else if (known->place == HF__KEYS_RANGE)
        put_range_specs(answer, known, keys);
    else
        put_stored_specs(answer, known);
}
