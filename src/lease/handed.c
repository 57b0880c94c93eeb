/* SPDX-License-Identifier: Apache-2.0 */
/* handed.c - reading `ask`, or `<owner> <token> <us> <lease ms>`. */
#include "lease/handed.h"

#include <string.h>

#include "lease/owner.h"
#include "script/shape.h"

#define OWNER_SIZE (HF_OWNER_SIZE - 1)

/* A blank and a decimal number, up to HF__TOKEN_MAX. */
static bool read_number(hf_bytes *text, int64_t *number)
{
    const char *at = text->data, *end = at + text->size;

    *number = 0;
    if (text->size < 2 || *at++ != ' ')
        return false;
    for (; at < end && *at >= '0' && *at <= '9' && *number <= HF__TOKEN_MAX;
         at++)
        *number = *number * 10 + (*at - '0');
    *text = hf_view(at, (size_t)(end - at));
    return ((const char *)at)[-1] != ' ' && *number <= HF__TOKEN_MAX;
}

bool hf__handed_read(hf_bytes text, hf__handed *handed)
{
    int64_t token;

    handed->what = HF__HANDED_TURN;
    if (text.size == 3 && memcmp(text.data, "ask", 3) == 0)
        return true;
    handed->what = HF__HANDED_GRANT;
    if (text.size < OWNER_SIZE ||
        !hf__owner_is_ours(hf_view(text.data, OWNER_SIZE)))
        return false;
    memcpy(handed->owner, text.data, OWNER_SIZE);
    handed->owner[OWNER_SIZE] = '\0';
    text =
        hf_view((const char *)text.data + OWNER_SIZE, text.size - OWNER_SIZE);
    if (!read_number(&text, &token) || !read_number(&text, &handed->at_us) ||
        !read_number(&text, &handed->lease_ms) || text.size != 0)
        return false;
    handed->token = (uint64_t)token;
    return token > 0;
}
