/* SPDX-License-Identifier: Apache-2.0 */
/* rank_page.c - the members of a rank in their order. */
#include "core/form.h"
#include "data/member_words.h"
#include "data/rank_words.h"
#include "holdfast/rank.h"
#include "util/error.h"
#include "util/mem.h"

#define LIMIT_DEFAULT 20

/* Of the reply: the rank of the first member, then of each these. */
enum { NAME, TTL, SCORE, MEMBER_WORDS };

void hf_rank_members_free(hf_rank_members *members)
{
    if (members == NULL)
        return;
    hf__free(members->items); /* the bytes follow the items */
    *members = (hf_rank_members)HF_RANK_MEMBERS_INIT;
}

/* Items, then their bytes. NULL: there is no memory. */
static hf_rank_member *allocate_items(const hf_reply *part, size_t count,
                                      char **at)
{
    size_t size = count * sizeof(hf_rank_member) + 1;
    hf_rank_member *items;

    for (size_t i = 0; i < count; i++)
        size += part[i * MEMBER_WORDS + NAME].bytes.size + 1;
    items = hf__alloc(size);
    if (items != NULL)
        *at = (char *)(items + count);
    return items;
}

static bool put_member(hf_rank_member *member, const hf_reply *part, char **at)
{
    size_t size = part[NAME].bytes.size;

    memcpy(*at, part[NAME].bytes.data, size);
    (*at)[size] = '\0';
    member->member = hf_view(*at, size);
    *at += size + 1;
    member->ttl_ms = part[TTL].integer;
    return hf__read_score(hf_reply_bytes(&part[SCORE]), &member->score);
}

static hf_status finish_page(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;
    const hf_reply *part = reply->array.items;
    hf_rank_members *page = call->out;
    hf_rank_member *items;
    size_t count;
    char *at;

    if (reply->kind == HF_REPLY_INTEGER)
        return hf__fail(err, HF_NOT_FOUND, "no such member");
    count = (reply->array.count - 1) / MEMBER_WORDS;
    items = allocate_items(part + 1, count, &at);
    if (items == NULL)
        return hf__fail(err, HF_NO_MEMORY, "%zu members", count);
    for (size_t i = 0; i < count; i++) {
        items[i].rank = (size_t)part[0].integer + i;
        if (!put_member(&items[i], part + 1 + i * MEMBER_WORDS, &at)) {
            hf__free(items);
            return hf__bad_reply("the script", err);
        }
    }
    page->items = items;
    page->count = count;
    return HF_OK;
}

static const hf__operation read_page = {
    .script = HF__SCRIPT(RANK_PAGE),
    .finish = finish_page,
};

static void add_range(hf_call *call, uint32_t flags, size_t offset,
                      size_t limit)
{
    hf_error *err = call->form.err;

    if (HF__TRY(call, hf__check_flags(flags, HF_RANK_ASCENDING, 0,
                                      "the order of a rank", err)) &&
        HF__TRY(call, hf__check_range((int64_t)offset, 0, HF_RANK_OFFSET_MAX,
                                      "offset", err)) &&
        HF__TRY(call, hf__check_range((int64_t)limit, 0, HF_RANK_LIMIT_MAX,
                                      "limit", err))) {
        hf__add(call, hf_str((flags & HF_RANK_ASCENDING) != 0 ? "0" : "1"));
        hf__add_number(call, (int64_t)offset);
        hf__add_number(call, (int64_t)limit);
    }
}

static hf_status run_page(hf__form form, hf_client *client, hf_bytes key,
                          const hf_bytes *member, size_t offset, size_t limit,
                          uint32_t flags, hf_rank_members *page)
{
    hf_status status;
    unsigned rounds = 0;
    bool late;

    do {
        hf_call here, *call = hf__begin_rank(&here, form, &read_page, client,
                                             key, 6, &late);

        hf__set_out(call, page, "page");
        add_range(call, flags, offset, limit);
        hf__add(call, hf_str(member != NULL ? "1" : "0"));
        if (member != NULL)
            hf__add_member(call, *member);
        else
            hf__add(call, hf_str(""));
        hf__add_most(call);
        status = hf__end(call);
    } while (late && hf__rank_clear(client, key, &rounds, &status, form.err));
    return status;
}

HF__FORMS(hf_rank_page,
          run_page(form, client, key, NULL, offset,
                   limit == 0 ? LIMIT_DEFAULT : limit, flags, page),
          hf_client *client, hf_bytes key, size_t offset, size_t limit,
          uint32_t flags, hf_rank_members *page);

HF__FORMS(hf_rank_around,
          run_page(form, client, key, &member, 0, each, flags, page),
          hf_client *client, hf_bytes key, hf_bytes member, size_t each,
          uint32_t flags, hf_rank_members *page);
