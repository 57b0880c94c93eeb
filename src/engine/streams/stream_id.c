/* SPDX-License-Identifier: Apache-2.0 */
/* stream_id.c - see stream_id.h. */
#include "engine/streams/stream_id.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/keys/number_text.h"

/* Longer texts are no ids. */
#define TEXT_MAX 127u

bool hf__stream_id_next(hf__stream_id *id)
{
    if (id->seq == UINT64_MAX && id->ms == UINT64_MAX)
        return false;
    if (++id->seq == 0)
        id->ms++;
    return true;
}

bool hf__stream_id_previous(hf__stream_id *id)
{
    if (hf__stream_id_is_zero(*id))
        return false;
    if (id->seq-- == 0)
        id->ms--;
    return true;
}

/* As strtoull() where it is no number of Redis's usual form. */
static bool read_number(const char *text, uint64_t *value)
{
    int64_t usual;
    char *end;

    if (hf__number_integer(hf_str(text), &usual)) {
        *value = (uint64_t)usual;
        return usual >= 0;
    }
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && *text != '\0' && *end == '\0';
}

bool hf__stream_id_read(hf_bytes text, uint64_t seq, bool *open,
                        hf__stream_id *id)
{
    char copy[TEXT_MAX + 1];
    hf__stream_id read = {0, seq};
    bool any = false;
    char *dash;

    if (text.size > TEXT_MAX)
        return false;
    if (text.size > 0)
        memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    dash = strchr(copy, '-');
    if (dash != NULL)
        *dash++ = '\0';
    if (!read_number(copy, &read.ms))
        return false;
    any = dash != NULL && open != NULL && strcmp(dash, "*") == 0;
    if (any)
        read.seq = 0;
    else if (dash != NULL && !read_number(dash, &read.seq))
        return false;
    if (open != NULL)
        *open = any;
    *id = read;
    return true;
}

size_t hf__stream_id_put(char text[HF__STREAM_ID_TEXT_SIZE], hf__stream_id id)
{
    int size = snprintf(text, HF__STREAM_ID_TEXT_SIZE, "%llu-%llu",
                        (unsigned long long)id.ms, (unsigned long long)id.seq);

    return size > 0 ? (size_t)size : 0;
}
