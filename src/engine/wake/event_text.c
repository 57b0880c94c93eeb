/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_text.c - see event_text.h.
 *
 * A text is written while its version is odd, and read as it is if the version
 * was even before and is the same after. Each word is ordered after the odd
 * version when it is written, and before the second look when it is read. What
 * a writer leaves that is killed meanwhile is not read; the next text replaces
 * it.
 */
#include "engine/wake/event_text.h"

#include <string.h>

#define WORDS (HF__EVENT_TEXT_MAX / sizeof(uint64_t))

void hf__event_says(hf__tx *tx, uint32_t bucket, hf_bytes text)
{
    hf__saying *saying;

    if (text.size == 0 || text.size > HF__EVENT_TEXT_MAX ||
        tx->saying_count == HF__SAYING_MAX)
        return;
    saying = &tx->sayings[tx->saying_count++];
    saying->bucket = bucket;
    saying->size = (uint32_t)text.size;
    memcpy(saying->text, text.data, text.size);
}

static void write_text(hf__event_text *to, const hf__saying *saying)
{
    uint32_t version = __atomic_load_n(&to->version, __ATOMIC_RELAXED) | 1;
    uint64_t words[WORDS] = {0};

    memcpy(words, saying->text, saying->size);
    __atomic_store_n(&to->version, version, __ATOMIC_RELAXED);
    __atomic_store_n(&to->size, saying->size, __ATOMIC_RELEASE);
    for (size_t i = 0; i < WORDS; i++)
        __atomic_store_n(&to->words[i], words[i], __ATOMIC_RELEASE);
    __atomic_store_n(&to->version, version + 1, __ATOMIC_RELEASE);
}

void hf__event_texts_write(hf__tx *tx)
{
    hf__sidecar_map *map = tx->env->sidecar.map;

    for (size_t i = 0; hf__sidecar_has_texts(map) && i < tx->saying_count; i++)
        write_text(&map->texts[tx->sayings[i].bucket], &tx->sayings[i]);
    tx->saying_count = 0;
}

size_t hf__event_text_read(const hf__sidecar *sidecar, uint32_t bucket,
                           char text[HF__EVENT_TEXT_MAX])
{
    const hf__event_text *from = &sidecar->map->texts[bucket];
    uint64_t words[WORDS];
    uint32_t version, size;

    if (!hf__sidecar_has_texts(sidecar->map))
        return 0;
    version = __atomic_load_n(&from->version, __ATOMIC_ACQUIRE);
    size = __atomic_load_n(&from->size, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < WORDS; i++)
        words[i] = __atomic_load_n(&from->words[i], __ATOMIC_ACQUIRE);
    if ((version & 1) != 0 || size > HF__EVENT_TEXT_MAX ||
        __atomic_load_n(&from->version, __ATOMIC_RELAXED) != version)
        return 0;
    memcpy(text, words, sizeof(words));
    return size;
}
