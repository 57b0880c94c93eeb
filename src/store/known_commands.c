/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_commands.c - see known_commands.h.
 */
#include "store/known_commands.h"

#include <pthread.h>
#include <strings.h>

#include "util/digits.h"
#include "util/names.h"

#define BINDS HF__KNOWN_BINDS
#define PURE HF__KNOWN_PURE
#define WAITS HF__KNOWN_WAITS
#define WIDE HF__KNOWN_WIDE

/* ----------------------------------------------------------------- finding */

static hf__names names;
static pthread_once_t names_once = PTHREAD_ONCE_INIT;

static void add_all(void)
{
    for (const hf__known_command *row = hf__known_table; row->name != NULL;
         row++)
        hf__names_add(&names, hf_str(row->name), row);
}

const hf__known_command *hf__known_find_row(hf_bytes name)
{
    (void)pthread_once(&names_once, add_all);
    return hf__names_find(&names, name);
}

const hf__known_command *hf__known_find(hf_bytes name)
{
    const hf__known_command *found = hf__known_find_row(name);

    return found != NULL && !hf__known_is_sub(found) ? found : NULL;
}

const hf__known_command *hf__known_find_sub(hf_bytes name, hf_bytes sub)
{
    char text[HF__NAME_MAX];
    size_t size = name.size;

    if (name.size == 0 || sub.size == 0 || name.size + sub.size >= sizeof(text))
        return NULL;
    memcpy(text, name.data, name.size);
    text[size++] = '|';
    memcpy(text + size, sub.data, sub.size);
    return hf__known_find_row(hf_view(text, size + sub.size));
}

const hf__known_command *hf__known_find_words(const hf_bytes *words,
                                              size_t count)
{
    const hf__known_command *found =
        count > 1 ? hf__known_find_sub(words[0], words[1]) : NULL;

    return found != NULL ? found : hf__known_find(words[0]);
}

/* -------------------------------------------------------------------- keys */

static bool is_word(hf_bytes word, const char *text)
{
    return word.size == strlen(text) &&
           strncasecmp(word.data, text, word.size) == 0;
}

/* A number of keys; the store refuses a wrong one. */
static size_t read_count(hf_bytes word, size_t most)
{
    const char *digits = word.data;
    size_t count = 0;

    for (size_t i = 0; i < word.size; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return 0;
        count = count * 10 + (size_t)(digits[i] - '0');
        if (count > most)
            return most;
    }
    return count;
}

static size_t from_end(int8_t at, size_t count)
{
    if (at >= 0)
        return (size_t)at;
    return count > (size_t)-at ? count - (size_t)-at : 0;
}

static void find_key_range(const hf__known_command *known, size_t count,
                           hf__key_words *keys)
{
    size_t last = from_end(known->last, count);

    keys->first = (size_t)known->first;
    keys->step = (size_t)known->step;
    keys->last = last < count ? last : count - 1;
}

static void find_counted_keys(const hf__known_command *known,
                              const hf_bytes *words, size_t count,
                              hf__key_words *keys)
{
    size_t at = (size_t)known->first;
    size_t rest = count > at + 1 ? count - at - 1 : 0;
    size_t number = rest > 0 ? read_count(words[at], rest) : 0;

    keys->step = (size_t)known->step;
    keys->first = at + 1;
    keys->last = at;
    if (number > 0)
        keys->last = keys->first + (number - 1) * keys->step;
    if (keys->last >= count)
        keys->last = count - 1;
    if (known->last > 0 && count > (size_t)known->last)
        keys->extra = (size_t)known->last;
}

/* How many words an option of SORT takes, itself included. */
static size_t sort_option(hf_bytes word)
{
    if (is_word(word, "LIMIT"))
        return 3;
    return is_word(word, "BY") || is_word(word, "GET") || is_word(word, "STORE")
               ? 2
               : 1;
}

static size_t find_store(const hf_bytes *words, size_t count)
{
    size_t found = 0;

    for (size_t at = 2; at + 1 < count; at += sort_option(words[at])) {
        if (is_word(words[at], "STORE"))
            found = at + 1;
    }
    return found;
}

static size_t find_geo_store(const hf_bytes *words, size_t count)
{
    size_t found = 0;

    for (size_t at = 5; at + 1 < count; at++) {
        if (is_word(words[at], "STORE") || is_word(words[at], "STOREDIST"))
            found = ++at;
    }
    return found;
}

/* The group and the consumer of XREADGROUP may have the name of an option. */
static size_t stream_options(hf_bytes command)
{
    return is_word(command, "XREADGROUP") ? 4 : 1;
}

/* The first half of what follows STREAMS; the rest are ids. */
static void find_stream_keys(const hf_bytes *words, size_t count,
                             hf__key_words *keys)
{
    for (size_t at = stream_options(words[0]); at < count; at++) {
        if (!is_word(words[at], "STREAMS"))
            continue;
        keys->first = at + 1;
        keys->last = at + (count - at - 1) / 2;
        return;
    }
}

void hf__known_keys(const hf__known_command *known, const hf_bytes *words,
                    size_t count, hf__key_words *keys)
{
    *keys = (hf__key_words){0, 1, count > 1, 1};
    if (known == NULL)
        return;
    keys->last = 0;
    switch (known->place) {
    case HF__KEYS_COUNTED:
        find_counted_keys(known, words, count, keys);
        return;
    case HF__KEYS_STREAM:
        find_stream_keys(words, count, keys);
        return;
    case HF__KEYS_SORT:
        keys->extra = find_store(words, count);
        break;
    case HF__KEYS_GEO:
        keys->extra = find_geo_store(words, count);
        break;
    default:
        break;
    }
    find_key_range(known, count, keys);
}

bool hf__known_reads_new(const hf__known_command *known, const hf_bytes *words,
                         size_t count)
{
    hf__key_words keys = {0};

    if (known == NULL || known->place != HF__KEYS_STREAM)
        return false;
    find_stream_keys(words, count, &keys);
    for (size_t at = keys.last + 1; keys.last > 0 && at < count; at++) {
        if (is_word(words[at], "$"))
            return true;
    }
    return false;
}

bool hf__known_is_movable(const hf__known_command *known)
{
    return known->place != HF__KEYS_RANGE;
}

bool hf__known_is_counted(const hf__known_command *known)
{
    return known->place == HF__KEYS_COUNTED;
}

/* ------------------------------------------------------------ what they do */

static bool is_among(hf_bytes word, const char *const *texts)
{
    for (; *texts != NULL; texts++) {
        if (is_word(word, *texts))
            return true;
    }
    return false;
}

bool hf__known_binds(const hf__known_command *known, const hf_bytes *words,
                     size_t count)
{
    static const char *const client[] = {
        "CACHING", "CAPA",    "IMPORT-SOURCE", "NO-EVICT", "NO-TOUCH",
        "REPLY",   "SETINFO", "SETNAME",       "TRACKING", NULL};

    if (known == NULL)
        return false;
    if ((known->flags & BINDS) != 0)
        return true;
    if (count > 1 && is_word(words[0], "CLIENT"))
        return is_among(words[1], client);
    if (count > 1 && is_word(words[0], "SCRIPT"))
        return is_word(words[1], "DEBUG");
    return false;
}

/* The word with the time; 0: none. */
static size_t find_wait(const hf__known_command *known, const hf_bytes *words,
                        size_t count)
{
    if ((known->flags & WAITS) != 0)
        return known->place == HF__KEYS_COUNTED ? 1 : count - 1;
    if (known->place != HF__KEYS_STREAM)
        return 0;
    for (size_t at = stream_options(words[0]); at + 1 < count; at++) {
        if (is_word(words[at], "STREAMS"))
            return 0;
        if (is_word(words[at], "BLOCK"))
            return at + 1;
    }
    return 0;
}

/* Of a decimal number, rounded up; -1: it is none, or too large for this. */
static int64_t read_time(hf_bytes word, int64_t unit_ms)
{
    const char *text = word.data;
    int64_t ms = 0, part_us = unit_ms * 1000, us = 0;
    size_t at = 0;

    for (; at < word.size && hf__is_digit(text[at]); at++) {
        if (ms > INT64_MAX / 100000)
            return -1;
        ms = ms * 10 + (text[at] - '0') * unit_ms;
    }
    if (at == word.size)
        return at == 0 ? -1 : ms;
    if (text[at] != '.' || word.size == 1)
        return -1;
    while (++at < word.size && hf__is_digit(text[at])) {
        us += (text[at] - '0') * (part_us / 10);
        part_us /= 10;
    }
    return at == word.size ? ms + (us + 999) / 1000 : -1;
}

int64_t hf__known_wait_ms(const hf__known_command *known, const hf_bytes *words,
                          size_t count)
{
    size_t at = known == NULL || count < 2 ? 0 : find_wait(known, words, count);
    int64_t wait_ms;

    if (at == 0)
        return 0;
    wait_ms = read_time(words[at], known->place == HF__KEYS_STREAM ? 1 : 1000);
    return wait_ms > 0 ? wait_ms : INT64_MAX;
}

/* BY and GET of SORT name other keys by a pattern. */
static bool has_pattern(const hf_bytes *words, size_t count)
{
    for (size_t at = 2; at + 1 < count; at += sort_option(words[at])) {
        if (is_word(words[at], "BY") || is_word(words[at], "GET"))
            return true;
    }
    return false;
}

bool hf__known_is_confined(const hf__known_command *known,
                           const hf_bytes *words, size_t count)
{
    if (known == NULL || (known->flags & WIDE) != 0)
        return false;
    if (known->place == HF__KEYS_SORT)
        return !has_pattern(words, count);
    return (known->flags & PURE) != 0 || known->place != HF__KEYS_RANGE ||
           known->last != 0;
}
