/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding.c - messages for what is wrong with a data file.
 */
#include "engine/files/finding.h"

#include <stdio.h>
#include <string.h>

#include "util/error.h"

static const char *const formats[HF__FOUND_COUNT] = {
#define FORMAT(name, text) text,
    HF__FINDING_MAP(FORMAT)
#undef FORMAT
};

static void append_text(char *text, size_t *size, const char *more,
                        size_t count)
{
    size_t room = HF__FINDING_TEXT_SIZE - 1 - *size;

    if (count > room)
        count = room;
    memcpy(text + *size, more, count);
    *size += count;
}

/* For TREE_... and REFUSED findings `key` is text, not quoted. */
static bool is_plain(uint32_t code)
{
    return code == HF__FOUND_TREE_COUNT || code == HF__FOUND_REFUSED;
}

static void append_key(char *text, size_t *size, const hf__finding *found)
{
    char quoted[HF__QUOTED_SIZE];
    size_t count = found->key_size < HF__FINDING_KEY_MAX ? found->key_size
                                                         : HF__FINDING_KEY_MAX;

    if (is_plain(found->code)) {
        append_text(text, size, (const char *)found->key, count);
        return;
    }
    hf__quoted(quoted, hf_view(found->key, count));
    append_text(text, size, quoted, strlen(quoted));
}

static void append_number(char *text, size_t *size, uint64_t number)
{
    char digits[32];

    (void)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
    append_text(text, size, digits, strlen(digits));
}

/* Append what the braces at `at` stand for; returns their size. */
static size_t append_part(char *text, size_t *size, const char *at,
                          const hf__finding *found)
{
    if (strncmp(at, "{key}", 5) == 0) {
        append_key(text, size, found);
        return 5;
    }
    if (strncmp(at, "{page}", 6) == 0) {
        append_number(text, size, found->page);
        return 6;
    }
    append_number(text, size, at[1] == 'a' ? found->a : found->b);
    return 3;
}

const char *hf__finding_text(char text[HF__FINDING_TEXT_SIZE],
                             const hf__finding *found)
{
    const char *at = formats[found->code < HF__FOUND_COUNT ? found->code : 0];
    size_t size = 0;

    while (*at != '\0') {
        size_t plain = strcspn(at, "{");

        append_text(text, &size, at, plain);
        at += plain;
        if (*at == '{')
            at += append_part(text, &size, at, found);
    }
    text[size] = '\0';
    return text;
}

hf_status hf__finding_status(const hf__finding *found)
{
    switch (found->code) {
    case HF__FOUND_NONE:
        return HF_OK;
    case HF__FOUND_FOREIGN:
    case HF__FOUND_NOT_OURS:
        return HF_INVALID;
    case HF__FOUND_NEWER:
        return HF_UNSUPPORTED;
    default:
        return HF_CORRUPT;
    }
}

hf_status hf__finding_fail(hf_error *err, const hf__finding *found)
{
    char text[HF__FINDING_TEXT_SIZE];

    return hf__fail(err, hf__finding_status(found), "%s",
                    hf__finding_text(text, found));
}
