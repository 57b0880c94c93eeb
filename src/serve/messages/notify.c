/* SPDX-License-Identifier: Apache-2.0 */
/* notify.c - see notify.h. */
#include "serve/messages/notify.h"

typedef struct letter {
    char letter;
    uint32_t flag;
} letter;

/* In the order in which Redis shows them. */
static const letter letters_of_all[] = {
    {'g', HF__EVENT_GENERIC},   {'$', HF__EVENT_STRING},
    {'l', HF__EVENT_LIST},      {'s', HF__EVENT_SET},
    {'h', HF__EVENT_HASH},      {'z', HF__EVENT_ZSET},
    {'x', HF__EVENT_EXPIRED},   {'e', HF__NOTIFY_EVICTED},
    {'t', HF__EVENT_STREAM},    {'d', HF__NOTIFY_MODULE},
    {'n', HF__EVENT_NEW},       {'K', HF__NOTIFY_BY_KEY},
    {'E', HF__NOTIFY_BY_EVENT}, {'m', HF__NOTIFY_MISS}};
#define LETTERS (sizeof(letters_of_all) / sizeof(letters_of_all[0]))
/* 'A' has so many of them; shown with it, 'n' is left out. */
#define LETTERS_OF_A 10u

static uint32_t flags_of_a(void)
{
    uint32_t flags = 0;

    for (size_t i = 0; i < LETTERS_OF_A; i++)
        flags |= letters_of_all[i].flag;
    return flags;
}

static uint32_t flag_of(char byte)
{
    if (byte == 'A')
        return flags_of_a();
    for (size_t i = 0; i < LETTERS; i++) {
        if (letters_of_all[i].letter == byte)
            return letters_of_all[i].flag;
    }
    return 0;
}

bool hf__notify_read(hf_bytes letters, uint32_t *flags)
{
    const char *bytes = letters.data;

    *flags = 0;
    for (size_t i = 0; i < letters.size; i++) {
        uint32_t flag = flag_of(bytes[i]);

        if (flag == 0)
            return false;
        *flags |= flag;
    }
    return true;
}

void hf__notify_show(uint32_t flags, char text[HF__NOTIFY_TEXT_SIZE])
{
    size_t size = 0;
    size_t from = 0;

    if ((flags & flags_of_a()) == flags_of_a()) {
        text[size++] = 'A';
        from = LETTERS_OF_A + 1;
    }
    for (; from < LETTERS; from++) {
        if ((flags & letters_of_all[from].flag) != 0)
            text[size++] = letters_of_all[from].letter;
    }
    text[size] = '\0';
}

uint32_t hf__notify_classes(uint32_t flags)
{
    if ((flags & (HF__NOTIFY_BY_KEY | HF__NOTIFY_BY_EVENT)) == 0)
        return 0;
    return flags & (HF__EVENT_GENERIC | HF__EVENT_STRING | HF__EVENT_LIST |
                    HF__EVENT_SET | HF__EVENT_HASH | HF__EVENT_ZSET |
                    HF__EVENT_EXPIRED | HF__EVENT_NEW | HF__EVENT_STREAM);
}
