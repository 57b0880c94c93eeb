/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.c - from keys to hash slots (Redis Cluster specification, "Key
 * distribution model" and "Hash tags").
 *
 * A slot is CRC16 of the key, or of its tag, modulo 16384; the CRC is the one
 * of XMODEM: polynomial 0x1021, beginning with 0, bits in order.
 */
#include "store/redis/topology/slots.h"

#include <pthread.h>
#include <string.h>

#include "store/known_commands.h"
#include "util/bytes.h"
#include "util/error.h"

/* CRC table for four bits. */
static const uint16_t crc_steps[16] = {
    0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
    0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef};

static uint32_t crc16_xmodem(const unsigned char *bytes, size_t size)
{
    uint32_t crc = 0;

    for (size_t i = 0; i < size; i++) {
        crc = (crc << 4 ^ crc_steps[(crc >> 12 ^ bytes[i] >> 4) & 15]);
        crc = (crc << 4 ^ crc_steps[(crc >> 12 ^ bytes[i]) & 15]);
    }
    return crc & 0xffff;
}

uint32_t hf__slot_of(hf_bytes key)
{
    hf_bytes tag = hf__hash_tag(key);
    hf_bytes part = tag.data != NULL ? tag : key;

    return crc16_xmodem(part.data, part.size) % HF__SLOT_COUNT;
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
        memcpy(tags[crc16_xmodem(tag, TAG_DIGITS) % HF__SLOT_COUNT], tag,
               TAG_DIGITS);
    }
}

void hf__slot_tag(uint32_t slot, char text[HF__TAG_SIZE])
{
    pthread_once(&tags_once, make_tags);
    memcpy(text, tags[slot], TAG_DIGITS);
    text[TAG_DIGITS] = '\0';
}

/* ---------------------------------------------------------------- requests */

static hf_status refuse_slots(hf_bytes one, hf_bytes other, hf_error *err)
{
    char one_text[HF__QUOTED_SIZE];
    char other_text[HF__QUOTED_SIZE];

    return hf__fail(err, HF_INVALID,
                    "keys %s and %s are in different slots of the cluster (%u "
                    "and %u): use a common {tag}",
                    hf__quoted(one_text, one), hf__quoted(other_text, other),
                    hf__slot_of(one), hf__slot_of(other));
}

static hf_status slot_of_script(const hf__request *request, uint32_t *slot,
                                hf_error *err)
{
    const hf_bytes *keys = request->words;

    *slot = request->key_count == 0 ? 0 : hf__slot_of(keys[0]);
    for (size_t i = 1; i < request->key_count; i++) {
        if (hf__slot_of(keys[i]) != *slot)
            return refuse_slots(keys[0], keys[i], err);
    }
    return HF_OK;
}

hf_status hf__slot_of_request(const hf__request *request, uint32_t *slot,
                              hf_error *err)
{
    const hf_bytes *words = request->words;
    hf__key_words keys;
    size_t begin;

    *slot = 0;
    if (request->script != NULL)
        return slot_of_script(request, slot, err);
    if (request->word_count == 0)
        return HF_OK;
    hf__known_keys(hf__known_find(words[0]), words, request->word_count, &keys);
    begin = hf__key_words_begin(&keys);
    *slot = begin == 0 ? 0 : hf__slot_of(words[begin]);
    for (size_t at = begin; at != 0; at = hf__key_words_next(&keys, at)) {
        if (hf__slot_of(words[at]) != *slot)
            return refuse_slots(words[begin], words[at], err);
    }
    return HF_OK;
}
