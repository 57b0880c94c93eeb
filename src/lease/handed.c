/* SPDX-License-Identifier: Apache-2.0 */
/* handed.c - reading `ask`, `gap <ms>`, or `<owner> <token> <us> <lease ms>`,
 * both perhaps with counts of turns behind it; or the value of a lock,
 * `<owner>:<us>` (scripts/use/lock_value.lua). */
#include "lease/handed.h"

#include <stdio.h>
#include <string.h>

#include "lease/owner.h"
#include "script/shape.h"

#define OWNER_SIZE (HF_OWNER_SIZE - 1)

/* A blank, or another separator, and a decimal number, up to HF__TOKEN_MAX. */
static bool read_number(hf_bytes *text, char before, int64_t *number)
{
    const char *at = text->data, *end = at + text->size;

    *number = 0;
    if (text->size < 2 || *at++ != before)
        return false;
    for (; at < end && *at >= '0' && *at <= '9' && *number <= HF__TOKEN_MAX;
         at++)
        *number = *number * 10 + (*at - '0');
    *text = hf_view(at, (size_t)(end - at));
    return ((const char *)at)[-1] != before && *number <= HF__TOKEN_MAX;
}

/* The owner id in front. */
static bool read_owner(hf_bytes *text, hf__handed *handed)
{
    const char *at = text->data;

    handed->what = HF__HANDED_GRANT;
    if (text->size < OWNER_SIZE || !hf__owner_is_ours(hf_view(at, OWNER_SIZE)))
        return false;
    memcpy(handed->owner, at, OWNER_SIZE);
    handed->owner[OWNER_SIZE] = '\0';
    *text = hf_view(at + OWNER_SIZE, text->size - OWNER_SIZE);
    return true;
}

/* The end of the text, or seven numbers. */
static bool read_turns(hf_bytes text, hf__turns_told *told)
{
    return text.size == 0 ||
           (read_number(&text, ' ', &told->turn) &&
            read_number(&text, ' ', &told->ours) &&
            read_number(&text, ' ', &told->theirs) &&
            read_number(&text, ' ', &told->form) &&
            read_number(&text, ' ', &told->spare_ms) &&
            read_number(&text, ' ', &told->missed) &&
            read_number(&text, ' ', &told->age_ms) && text.size == 0);
}

void hf__handed_print(const hf__turns_told *told,
                      char text[HF__HANDED_TURNS_SIZE])
{
    (void)snprintf(text, HF__HANDED_TURNS_SIZE,
                   "%lld %lld %lld %lld %lld %lld %lld", (long long)told->turn,
                   (long long)told->ours, (long long)told->theirs,
                   (long long)told->form, (long long)told->spare_ms,
                   (long long)told->missed, (long long)told->age_ms);
}

bool hf__handed_read(hf_bytes text, hf__handed *handed)
{
    int64_t token;

    handed->what = HF__HANDED_TURN;
    handed->turns.turn = 0;
    if (text.size == 3 && memcmp(text.data, "ask", 3) == 0)
        return true;
    if (text.size > 3 && memcmp(text.data, "gap", 3) == 0) {
        handed->what = HF__HANDED_GAP;
        text = hf_view((const char *)text.data + 3, text.size - 3);
        return read_number(&text, ' ', &handed->lease_ms) &&
               read_turns(text, &handed->turns) &&
               handed->lease_ms <= HF__HANDED_LEASE_MS;
    }
    if (!read_owner(&text, handed))
        return false;
    if (!read_number(&text, ' ', &token) ||
        !read_number(&text, ' ', &handed->at_us) ||
        !read_number(&text, ' ', &handed->lease_ms) ||
        !read_turns(text, &handed->turns))
        return false;
    handed->token = (uint64_t)token;
    return token > 0;
}

bool hf__handed_find(hf_bytes value, hf__handed *handed)
{
    if (!read_owner(&value, handed) ||
        !read_number(&value, ':', &handed->at_us) ||
        (value.size != 0 && *(const char *)value.data != '+'))
        return false;
    handed->token = (uint64_t)handed->at_us;
    return handed->at_us > 0;
}
