/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.c - from keys to hash slots (Redis Cluster specification, "Key
 * distribution model" and "Hash tags").
 *
 * A slot is CRC16 of the key modulo 16384; the CRC is the one of XMODEM:
 * polynomial 0x1021, beginning with 0, bits in order. A key's tag is the text
 * between its first "{" and the first "}" after that, unless it is empty.
 */
#include "store/redis/topology/slots.h"

#include <pthread.h>
#include <string.h>
#include <strings.h>

#include "util/error.h"

/* Where the keys of a command are; those not listed have one, after the
 * name. */
typedef enum key_place { NO_KEYS, ALL_KEYS, COUNTED_KEYS } key_place;

typedef struct command_row {
    const char *name;
    key_place place;
} command_row;

static const command_row rows[] = {
    {"CLUSTER", NO_KEYS},      {"DBSIZE", NO_KEYS},
    {"ECHO", NO_KEYS},         {"INFO", NO_KEYS},
    {"PING", NO_KEYS},         {"PUBLISH", NO_KEYS},
    {"SCAN", NO_KEYS},         {"SCRIPT", NO_KEYS},
    {"TIME", NO_KEYS},         {"DEL", ALL_KEYS},
    {"EXISTS", ALL_KEYS},      {"MGET", ALL_KEYS},
    {"TOUCH", ALL_KEYS},       {"UNLINK", ALL_KEYS},
    {"EVAL", COUNTED_KEYS},    {"EVALSHA", COUNTED_KEYS},
    {"EVAL_RO", COUNTED_KEYS}, {"EVALSHA_RO", COUNTED_KEYS},
};

/* CRC table for four bits. */
static const uint16_t crc_steps[16] = {
    0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
    0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef};

static uint32_t crc16(const unsigned char *bytes, size_t size)
{
    uint32_t crc = 0;

    for (size_t i = 0; i < size; i++) {
        crc = (crc << 4 ^ crc_steps[(crc >> 12 ^ bytes[i] >> 4) & 15]);
        crc = (crc << 4 ^ crc_steps[(crc >> 12 ^ bytes[i]) & 15]);
    }
    return crc & 0xffff;
}

static hf_bytes hashed_part(hf_bytes key)
{
    const char *end = (const char *)key.data + key.size;
    const char *open = key.size == 0 ? NULL : memchr(key.data, '{', key.size);
    const char *close;

    if (open == NULL)
        return key;
    open++;
    close = memchr(open, '}', (size_t)(end - open));
    if (close == NULL || close == open)
        return key;
    return hf_view(open, (size_t)(close - open));
}

uint32_t hf__slot_of(hf_bytes key)
{
    hf_bytes part = hashed_part(key);

    return crc16(part.data, part.size) % HF__SLOT_COUNT;
}

/* -------------------------------------------------------------------- tags */

/* Three base-64 digits reach every slot. */
#define TAG_DIGITS 3

static char tags[HF__SLOT_COUNT][TAG_DIGITS];
static pthread_once_t tags_once = PTHREAD_ONCE_INIT;

static void make_tags(void)
{
    static const char digits[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
    unsigned char tag[TAG_DIGITS];

    for (uint32_t number = 64 * 64 * 64; number-- > 0;) {
        tag[0] = (unsigned char)digits[number / 4096];
        tag[1] = (unsigned char)digits[number / 64 % 64];
        tag[2] = (unsigned char)digits[number % 64];
        memcpy(tags[crc16(tag, TAG_DIGITS) % HF__SLOT_COUNT], tag, TAG_DIGITS);
    }
}

void hf__slot_tag(uint32_t slot, char text[HF__TAG_SIZE])
{
    pthread_once(&tags_once, make_tags);
    memcpy(text, tags[slot], TAG_DIGITS);
    text[TAG_DIGITS] = '\0';
}

/* ---------------------------------------------------------------- requests */

/* The number of keys of EVAL; the server refuses a wrong one. */
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

static const command_row *find_row(hf_bytes name)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strlen(rows[i].name) == name.size &&
            strncasecmp(rows[i].name, name.data, name.size) == 0)
            return &rows[i];
    }
    return NULL;
}

/* The keys of a command; words[0] is its name. */
static const hf_bytes *find_keys(const hf__request *request, size_t *count)
{
    const hf_bytes *words = request->words;
    size_t rest = request->word_count - 1;
    const command_row *row = find_row(words[0]);

    *count = 0;
    if (row == NULL) {
        *count = rest > 0;
    } else if (row->place == ALL_KEYS) {
        *count = rest;
    } else if (row->place == COUNTED_KEYS && rest > 2) {
        *count = read_count(words[2], rest - 2);
        return words + 3;
    }
    return words + 1;
}

static hf_status refuse(hf_bytes one, hf_bytes other, hf_error *err)
{
    char one_text[HF__QUOTED_SIZE];
    char other_text[HF__QUOTED_SIZE];

    return hf__fail(err, HF_INVALID,
                    "keys %s and %s are in different slots of the cluster (%u "
                    "and %u): use a common {tag}",
                    hf__quoted(one_text, one), hf__quoted(other_text, other),
                    hf__slot_of(one), hf__slot_of(other));
}

hf_status hf__slot_of_request(const hf__request *request, uint32_t *slot,
                              hf_error *err)
{
    const hf_bytes *keys = request->words;
    size_t count = request->key_count;

    if (request->script == NULL)
        keys = request->word_count == 0 ? NULL : find_keys(request, &count);
    *slot = count == 0 ? 0 : hf__slot_of(keys[0]);
    for (size_t i = 1; i < count; i++) {
        if (hf__slot_of(keys[i]) != *slot)
            return refuse(keys[0], keys[i], err);
    }
    return HF_OK;
}
