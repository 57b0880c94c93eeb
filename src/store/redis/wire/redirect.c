/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redirect.c - reading "MOVED 3999 10.0.0.1:6381" and the other errors by which
 * a server redirects a request.
 */
#include <string.h>

#include "store/redis/wire/errors.h"

#define PORT_MAX 65535

typedef struct redirect_row {
    const char *begin;
    hf__redirect_kind kind;
} redirect_row;

static const redirect_row rows[] = {
    {"MOVED ", HF__REDIRECT_MOVED},
    {"ASK ", HF__REDIRECT_ASK},
    {"TRYAGAIN ", HF__REDIRECT_TRY_AGAIN},
    {"CLUSTERDOWN ", HF__REDIRECT_CLUSTER_DOWN},
    {"READONLY ", HF__REDIRECT_REPLICA},
    {"MASTERDOWN ", HF__REDIRECT_REPLICA},
    {"UNBLOCKED force ", HF__REDIRECT_REPLICA},
};

/* Digits up to `end`, at most `high`; -1: something else. */
static long read_digits(const char *text, const char *end, long high)
{
    long number = 0;

    if (text == end)
        return -1;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9')
            return -1;
        number = number * 10 + (*text - '0');
        if (number > high)
            return -1;
    }
    return number;
}

/* "<slot> <host>:<port>"; the last colon counts. The host may be missing. */
static bool read_target(const char *text, const char *end,
                        hf__redirect *redirect)
{
    const char *space = memchr(text, ' ', (size_t)(end - text));
    const char *colon;
    hf_bytes host;
    long slot;
    long port;

    if (space == NULL)
        return false;
    colon = memrchr(space, ':', (size_t)(end - space));
    if (colon == NULL)
        return false;
    slot = read_digits(text, space, HF__SLOT_COUNT - 1);
    port = read_digits(colon + 1, end, PORT_MAX);
    host = hf_view(space + 1, (size_t)(colon - space) - 1);
    if (slot < 0 || port <= 0)
        return false;
    redirect->slot = (uint32_t)slot;
    redirect->port = (int)port;
    redirect->host[0] = '\0';
    return host.size == 0 || hf__redis_host_read(host, redirect->host);
}

void hf__redirect_read(hf_bytes line, hf__redirect *redirect)
{
    const char *text = line.data;
    size_t size;
    size_t at;

    redirect->kind = HF__REDIRECT_NONE;
    for (at = 0; at < sizeof(rows) / sizeof(rows[0]); at++) {
        size = strlen(rows[at].begin);
        if (line.size < size || memcmp(text, rows[at].begin, size) != 0)
            continue;
        redirect->kind = rows[at].kind;
        if ((redirect->kind == HF__REDIRECT_MOVED ||
             redirect->kind == HF__REDIRECT_ASK) &&
            !read_target(text + size, text + line.size, redirect))
            redirect->kind = HF__REDIRECT_NONE;
        return;
    }
}
