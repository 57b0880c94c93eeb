/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel_read.c - the commands and replies of Sentinel.
 *
 * The address comes from get-master-addr-by-name and the epoch from MASTER:
 * near the end of a failover its leader returns the promoted server's address
 * in the former only, but the new epoch in the latter.
 */
#include "store/redis/topology/sentinel_read.h"

#include <string.h>

#include "store/error_line.h"
#include "store/redis/wire/errors.h"
#include "store/redis/wire/resp.h"
#include "util/error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

bool hf__sentinel_put_question(hf__buf *out, const char *name)
{
    const char *id[] = {"SENTINEL", "MYID"};
    const char *address[] = {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", name};
    const char *master[] = {"SENTINEL", "MASTER", name};
    const char *others[] = {"SENTINEL", "SENTINELS", name};

    return hf__resp_put_words(out, id, COUNT(id)) &&
           hf__resp_put_words(out, address, COUNT(address)) &&
           hf__resp_put_words(out, master, COUNT(master)) &&
           hf__resp_put_words(out, others, COUNT(others));
}

bool hf__sentinel_put_subscribe(hf__buf *out)
{
    static const char *const words[] = {"SUBSCRIBE", "+switch-master",
                                        "+sentinel", "+reboot"};

    return hf__resp_put_words(out, words, COUNT(words));
}

/* Digits of a number up to `high`; false: something else. */
static bool read_number(const hf_reply *reply, uint64_t high, uint64_t *number)
{
    const char *text;
    uint64_t value = 0;
    size_t at;

    if (reply == NULL || reply->kind != HF_REPLY_STRING ||
        reply->bytes.size == 0)
        return false;
    text = reply->bytes.data;
    for (at = 0; at < reply->bytes.size; at++) {
        if (text[at] < '0' || text[at] > '9' ||
            value > (high - (uint64_t)(text[at] - '0')) / 10)
            return false;
        value = value * 10 + (uint64_t)(text[at] - '0');
    }
    *number = value;
    return true;
}

/* A run ID; "" if it is none that fits. */
static void read_id(const hf_reply *reply, char id[HF__SENTINEL_ID_SIZE])
{
    if (reply == NULL || reply->kind != HF_REPLY_STRING ||
        !hf__redis_word_read(hf_view(reply->bytes.data, reply->bytes.size), id,
                             HF__SENTINEL_ID_SIZE))
        id[0] = '\0';
}

static bool read_address(const hf_reply *host, const hf_reply *port,
                         hf__sentinel_answer *answer)
{
    uint64_t number;

    if (!read_number(port, 65535, &number) || number == 0 || host == NULL ||
        host->kind != HF_REPLY_STRING ||
        !hf__redis_host_read(hf_view(host->bytes.data, host->bytes.size),
                             answer->host))
        return false;
    answer->port = (int)number;
    return true;
}

static hf_status is_none(hf_error *err)
{
    return hf__fail(err, HF_INVALID, "not a sentinel's reply");
}

static hf_status step_refused(hf__sentinel_step step, const hf_reply *reply,
                              hf_error *err)
{
    hf_bytes line = hf_view(reply->bytes.data, reply->bytes.size);
    hf_error detail = HF_ERROR_INIT;

    hf__redis_error(line, false, &detail);
    if (hf__text_begins(line, "NOAUTH"))
        return hf__fail(err, HF_DENIED,
                        "it requires a password (sentinel_password)");
    /* It knows the name but not yet the master: ask another one. */
    if (hf__text_begins(line, "IDONTKNOW"))
        return HF_OK;
    if (step == HF__SENTINEL_ADDRESS && detail.status == HF_UNSUPPORTED)
        return is_none(err);
    if (step == HF__SENTINEL_ADDRESS)
        return hf__fail_copy(err, &detail);
    return HF_OK; /* id and epoch are optional */
}

static hf_status take_address(const hf_reply *reply,
                              hf__sentinel_answer *answer, hf_error *err)
{
    answer->port = 0;
    if (reply->kind == HF_REPLY_NIL)
        return HF_OK;
    if (reply->kind != HF_REPLY_ARRAY || reply->array.count != 2 ||
        !read_address(&reply->array.items[0], &reply->array.items[1], answer))
        return is_none(err);
    return HF_OK;
}

hf_status hf__sentinel_read(hf__sentinel_step step, const hf_reply *reply,
                            hf__sentinel_answer *answer, hf_error *err)
{
    if (reply->kind == HF_REPLY_ERROR)
        return step_refused(step, reply, err);
    if (step == HF__SENTINEL_ADDRESS)
        return take_address(reply, answer, err);
    if (step == HF__SENTINEL_MYID)
        read_id(reply, answer->id);
    else if (step == HF__SENTINEL_MASTER)
        (void)read_number(hf__reply_field(reply, "config-epoch"), INT64_MAX,
                          &answer->epoch);
    return HF_OK;
}

size_t hf__sentinel_other_count(const hf_reply *reply)
{
    return reply->kind == HF_REPLY_ARRAY ? reply->array.count : 0;
}

/* "s_down,sentinel,disconnected": is `word` one of them? */
static bool has_flag(const hf_reply *flags, const char *word)
{
    return flags != NULL && flags->kind == HF_REPLY_STRING &&
           memmem(flags->bytes.data, flags->bytes.size, word, strlen(word)) !=
               NULL;
}

bool hf__sentinel_read_other(const hf_reply *reply, size_t at,
                             hf__sentinel_answer *other)
{
    const hf_reply *item = &reply->array.items[at];
    const hf_reply *flags = hf__reply_field(item, "flags");

    memset(other, 0, sizeof(*other));
    if (has_flag(flags, "s_down") || has_flag(flags, "disconnected"))
        return false;
    read_id(hf__reply_field(item, "runid"), other->id);
    return read_address(hf__reply_field(item, "ip"),
                        hf__reply_field(item, "port"), other);
}

/* "+switch-master" begins with the master's name. */
bool hf__sentinel_is_hint(const hf_reply *push, const char *name)
{
    const hf_reply *items = push->array.items;
    size_t size = strlen(name);

    if (push->kind != HF_REPLY_ARRAY || push->array.count != 3 ||
        !hf__reply_is(&items[0], "message") || items[2].kind != HF_REPLY_STRING)
        return false;
    if (!hf__reply_is(&items[1], "+switch-master"))
        return true;
    return items[2].bytes.size > size &&
           memcmp(items[2].bytes.data, name, size) == 0 &&
           ((const char *)items[2].bytes.data)[size] == ' ';
}
