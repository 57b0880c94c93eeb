/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set_members.c - sets: a set of the store, and a sorted set of the deadlines
 * of the members that expire.
 *
 * As in value.c no write is sent twice.
 */
#include "core/form.h"
#include "data/member_words.h"
#include "holdfast/set.h"
#include "util/error.h"
#include "util/mem.h"

/* Most times to live change although nothing is counted. */
static bool wrote_always(const hf__request *request)
{
    (void)request;
    return true;
}

/* --------------------------------------------------------------------- add */

static const hf__operation add = {
    .script = HF__SCRIPT(SET_ADD),
    .wrote = wrote_always,
    .finish = hf__finish_size,
};

static hf_status run_add(hf__form form, hf_client *client, hf_bytes key,
                         const hf_bytes *members, size_t count,
                         const hf_set_add_options *opts, size_t *added)
{
    hf_call here, *call = hf__begin(&here, form, &add, client);
    hf_error *err = call->form.err;
    hf_set_add_options options;

    hf__add_member_keys(call, key, 3);
    hf__set_out(call, added, NULL);
    if (HF__LOAD(call, &options, opts, hf_set_add_options,
                 HF_SET_NX | HF_SET_XX | HF_SET_KEEPTTL) &&
        HF__TRY(call, hf__check_member_flags(options.flags, err))) {
        hf__add_condition(call, options.flags);
        hf__add_member_ttl(call, options.ttl_ms, false);
        hf__add(call,
                hf_str((options.flags & HF_SET_KEEPTTL) != 0 ? "1" : "0"));
    }
    hf__add_members(call, members, count);
    return hf__end(call);
}

HF__FORMS(hf_set_add, run_add(form, client, key, members, count, opts, added),
          hf_client *client, hf_bytes key, const hf_bytes *members,
          size_t count, const hf_set_add_options *opts, size_t *added);

/* ------------------------------------------------------------------ remove */

static const hf__operation remove = {
    .script = HF__SCRIPT(SET_REMOVE),
    .wrote = hf__wrote_number,
    .finish = hf__finish_size,
};

static hf_status run_remove(hf__form form, hf_client *client, hf_bytes key,
                            const hf_bytes *members, size_t count,
                            size_t *removed)
{
    hf_call here, *call = hf__begin(&here, form, &remove, client);

    hf__add_member_keys(call, key, 0);
    hf__set_out(call, removed, NULL);
    hf__add_members(call, members, count);
    return hf__end(call);
}

HF__FORMS(hf_set_remove, run_remove(form, client, key, members, count, removed),
          hf_client *client, hf_bytes key, const hf_bytes *members,
          size_t count, size_t *removed);

/* --------------------------------------------------------------------- has */

/* Of a member in a reply. */
#define NO_MEMBER (-2)

static hf_status finish_has(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;
    int64_t *ttls_ms = call->out;
    bool one = call->note == 0;

    if (reply->array.count != (one ? 1 : (size_t)call->note))
        return hf__fail(err, HF_CORRUPT, "%zu replies for %zu members",
                        reply->array.count, (size_t)call->note);
    if (one && reply->array.items[0].integer == NO_MEMBER)
        return hf__fail(err, HF_NOT_FOUND, "no such member");
    for (size_t i = 0; i < reply->array.count && ttls_ms != NULL; i++)
        ttls_ms[i] = reply->array.items[i].integer;
    return HF_OK;
}

static const hf__operation has = {
    .script = HF__SCRIPT(SET_TTL),
    .finish = finish_has,
};

static hf_status run_has(hf__form form, hf_client *client, hf_bytes key,
                         hf_bytes member, int64_t *ttl_ms)
{
    hf_call here, *call = hf__begin(&here, form, &has, client);

    hf__add_member_keys(call, key, 1);
    hf__set_out(call, ttl_ms, NULL);
    hf__add_member(call, member);
    return hf__end(call);
}

HF__FORMS(hf_set_has, run_has(form, client, key, member, ttl_ms),
          hf_client *client, hf_bytes key, hf_bytes member, int64_t *ttl_ms);

static hf_status run_has_members(hf__form form, hf_client *client, hf_bytes key,
                                 const hf_bytes *members, size_t count,
                                 int64_t *ttls_ms)
{
    hf_call here, *call = hf__begin(&here, form, &has, client);

    hf__add_member_keys(call, key, 0);
    hf__set_out(call, ttls_ms, "ttls_ms");
    hf__add_members(call, members, count);
    call->note = (int64_t)count;
    return hf__end(call);
}

HF__FORMS(hf_set_has_members,
          run_has_members(form, client, key, members, count, ttls_ms),
          hf_client *client, hf_bytes key, const hf_bytes *members,
          size_t count, int64_t *ttls_ms);

/* ----------------------------------------------------------- count, expire */

static const hf__operation count_members = {
    .script = HF__SCRIPT(SET_COUNT),
    .finish = hf__finish_size,
};

static hf_status run_count(hf__form form, hf_client *client, hf_bytes key,
                           size_t *count)
{
    hf_call here, *call = hf__begin(&here, form, &count_members, client);

    hf__add_member_keys(call, key, 0);
    hf__set_out(call, count, "count");
    return hf__end(call);
}

HF__FORMS(hf_set_count, run_count(form, client, key, count), hf_client *client,
          hf_bytes key, size_t *count);

static const hf__operation expire = {
    .script = HF__SCRIPT(SET_EXPIRE),
    .wrote = hf__wrote_number,
    .finish = hf__finish_size,
};

static hf_status run_expire(hf__form form, hf_client *client, hf_bytes key,
                            int64_t ttl_ms, const hf_bytes *members,
                            size_t count, size_t *found)
{
    hf_call here, *call = hf__begin(&here, form, &expire, client);

    hf__add_member_keys(call, key, 1);
    hf__set_out(call, found, NULL);
    hf__add_member_ttl(call, ttl_ms, true);
    hf__add_members(call, members, count);
    return hf__end(call);
}

HF__FORMS(hf_set_expire,
          run_expire(form, client, key, ttl_ms, members, count, found),
          hf_client *client, hf_bytes key, int64_t ttl_ms,
          const hf_bytes *members, size_t count, size_t *found);

/* -------------------------------------------------------------------- page */

#define LIMIT_DEFAULT 100
#define CURSOR_MAX 20 /* digits of 64 bits */

void hf_set_members_free(hf_set_members *members)
{
    if (members == NULL)
        return;
    hf__free(members->items); /* the bytes follow the items */
    *members = (hf_set_members)HF_SET_MEMBERS_INIT;
}

static hf_bytes put_bytes(char **at, const hf_reply *reply)
{
    char *begin = *at;

    memcpy(begin, reply->bytes.data, reply->bytes.size);
    begin[reply->bytes.size] = '\0';
    *at += reply->bytes.size + 1;
    return hf_view(begin, reply->bytes.size);
}

/* The cursor, then a name and a time to live of each. */
static hf_status finish_page(hf_call *call, hf_error *err)
{
    const hf_reply *part = call->request.reply.array.items;
    size_t count = (call->request.reply.array.count - 1) / 2;
    size_t size = count * sizeof(hf_set_member) + part[0].bytes.size + 1;
    hf_set_members *page = call->out;
    hf_set_member *items;
    char *at;

    for (size_t i = 0; i < count; i++)
        size += part[1 + 2 * i].bytes.size + 1;
    items = hf__alloc(size);
    if (items == NULL)
        return hf__fail(err, HF_NO_MEMORY, "%zu members of %zu bytes", count,
                        size);
    at = (char *)(items + count);
    page->next = put_bytes(&at, &part[0]);
    if (page->next.size == 1 && ((const char *)page->next.data)[0] == '0')
        page->next.size = 0;
    for (size_t i = 0; i < count; i++) {
        items[i].member = put_bytes(&at, &part[1 + 2 * i]);
        items[i].ttl_ms = part[2 + 2 * i].integer;
    }
    page->items = items;
    page->count = count;
    return HF_OK;
}

static const hf__operation read_page = {
    .script = HF__SCRIPT(SET_PAGE),
    .finish = finish_page,
};

static hf_status check_page(hf_bytes cursor, size_t limit, hf_error *err)
{
    const char *digit = cursor.data;

    if (limit > HF_MEMBER_COUNT_MAX)
        return hf__fail(err, HF_INVALID, "limit is %zu; it must be 0..%d",
                        limit, HF_MEMBER_COUNT_MAX);
    for (size_t i = 0; i < cursor.size; i++) {
        if (digit == NULL || i == CURSOR_MAX || digit[i] < '0' ||
            digit[i] > '9')
            return hf__fail(err, HF_INVALID,
                            "the cursor is not one of hf_set_page()");
    }
    return HF_OK;
}

static hf_status run_page(hf__form form, hf_client *client, hf_bytes key,
                          hf_bytes cursor, size_t limit, hf_set_members *page)
{
    hf_call here, *call = hf__begin(&here, form, &read_page, client);

    hf__add_member_keys(call, key, 2);
    hf__set_out(call, page, "page");
    if (HF__TRY(call, check_page(cursor, limit, call->form.err))) {
        hf__add(call, cursor.size > 0 ? cursor : hf_str("0"));
        hf__add_number(call, (int64_t)(limit == 0 ? LIMIT_DEFAULT : limit));
    }
    return hf__end(call);
}

HF__FORMS(hf_set_page, run_page(form, client, key, cursor, limit, page),
          hf_client *client, hf_bytes key, hf_bytes cursor, size_t limit,
          hf_set_members *page);
