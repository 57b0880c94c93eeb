/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank.c - ranks: a sorted set of the store, and another of the deadlines of
 * the members that expire. Adding, finding, counting and removing members;
 * rank_page.c reads them in their order.
 *
 * As in value.c no write is sent twice.
 */
#include "holdfast/rank.h"

#include "core/form.h"
#include "data/member_words.h"
#include "data/rank_words.h"
#include "util/error.h"

/* --------------------------------------------------------------------- add */

/* The first number of a reply. */
enum { ADDED = 1, EXISTS = 0, MISSING = -1, NOT_BETTER = -2 };

/* A rank, a count and a score. */
static hf_status set_place(hf_rank_place *place, const hf_reply *rank,
                           const hf_reply *count, const hf_reply *score,
                           hf_error *err)
{
    double number;

    if (!hf__read_score(hf_reply_bytes(score), &number))
        return hf__bad_reply("the script", err);
    if (place != NULL) {
        place->rank = (size_t)rank->integer;
        place->count = (size_t)count->integer;
        place->score = number;
    }
    return HF_OK;
}

static hf_status finish_add(hf_call *call, hf_error *err)
{
    const hf_reply *items = call->request.reply.array.items;

    switch (items[0].integer) {
    case ADDED:
        return set_place(call->out, &items[1], &items[2], &items[3], err);
    case EXISTS:
        return hf__fail(err, HF_CONFLICT, "the member exists");
    case MISSING:
        return hf__fail(err, HF_NOT_FOUND, "no such member");
    default: /* NOT_BETTER */
        return hf__fail(err, HF_CONFLICT,
                        "its score would not become greater (GT) or less (LT)");
    }
}

static bool was_added(const hf__request *request)
{
    return request->reply.array.items[0].integer == ADDED;
}

static const hf__operation add = {
    .script = HF__SCRIPT(RANK_ADD),
    .wrote = was_added,
    .finish = finish_add,
};

static hf_status check_add(const hf_rank_add_options *o, hf_error *err)
{
    const uint32_t both = HF_RANK_GT | HF_RANK_LT;
    hf_status status = hf__check_member_flags(o->flags, err);

    if (status == HF_OK && (o->flags & both) != 0 &&
        ((o->flags & both) == both || (o->flags & HF_RANK_NX) != 0))
        return hf__fail(err, HF_INVALID, "GT, LT and NX exclude one another");
    return status;
}

_Static_assert(HF_RANK_NX == (int)HF_SET_NX && HF_RANK_XX == (int)HF_SET_XX &&
                   HF_RANK_KEEPTTL == (int)HF_SET_KEEPTTL,
               "hf__check_member_flags() and hf__add_condition()");

static void add_options(hf_call *call, const hf_rank_add_options *o, bool adds,
                        bool asks)
{
    hf__add_member_ttl(call, o->ttl_ms, false);
    hf__add(call, hf_str((o->flags & HF_RANK_KEEPTTL) != 0 ? "1" : "0"));
    hf__add_condition(call, o->flags);
    hf__add(call, hf_str((o->flags & HF_RANK_GT) != 0   ? "gt"
                         : (o->flags & HF_RANK_LT) != 0 ? "lt"
                                                        : ""));
    hf__add(call, hf_str(adds ? "1" : "0"));
    if (asks)
        hf__add_most(call);
    else
        hf__add_number(call, 0);
}

#define ADD_FLAGS                                                              \
    (HF_RANK_NX | HF_RANK_XX | HF_RANK_KEEPTTL | HF_RANK_GT | HF_RANK_LT)

static hf_status run_add(hf__form form, hf_client *client, hf_bytes key,
                         hf_bytes member, double score, const char *name,
                         const hf_rank_add_options *opts, hf_rank_place *place)
{
    bool adds = name[0] == 'd', late;
    unsigned rounds = 0;
    hf_rank_add_options options;
    hf_status status;

    do {
        hf_call here,
            *call = hf__begin_rank(&here, form, &add, client, key, 8, &late);

        hf__set_out(call, place, NULL);
        hf__add_member(call, member);
        hf__add_score(call, score, name);
        if (HF__LOAD(call, &options, opts, hf_rank_add_options, ADD_FLAGS) &&
            HF__TRY(call, check_add(&options, call->form.err)))
            add_options(call, &options, adds, place != NULL);
        status = hf__end(call);
    } while (late && hf__rank_clear(client, key, &rounds, &status, form.err));
    return status;
}

HF__FORMS(hf_rank_add,
          run_add(form, client, key, member, score, "score", opts, place),
          hf_client *client, hf_bytes key, hf_bytes member, double score,
          const hf_rank_add_options *opts, hf_rank_place *place);

HF__FORMS(hf_rank_increment,
          run_add(form, client, key, member, delta, "delta", opts, place),
          hf_client *client, hf_bytes key, hf_bytes member, double delta,
          const hf_rank_add_options *opts, hf_rank_place *place);

HF__MANY(hf_rank_add_many, items,
         run_add(form, client, key, items[i].member, items[i].score, "score",
                 opts, NULL),
         hf_client *client, hf_bytes key, const hf_rank_add_item *items,
         size_t count, const hf_rank_add_options *opts);

/* --------------------------------------------------------------------- get */

/* Where the results of a started call go. */
typedef struct get_out {
    hf_rank_place *place;
    int64_t *ttl_ms;
} get_out;

static hf_status finish_get(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;
    const hf_reply *items = reply->array.items;
    const get_out *out = call->out;
    hf_status status;

    if (reply->kind == HF_REPLY_INTEGER)
        return hf__fail(err, HF_NOT_FOUND, "no such member");
    status = set_place(out->place, &items[0], &items[1], &items[3], err);
    if (status == HF_OK && out->ttl_ms != NULL)
        *out->ttl_ms = items[2].integer;
    return status;
}

static const hf__operation get = {
    .script = HF__SCRIPT(RANK_GET),
    .finish = finish_get,
};

static void set_get_out(hf_call *call, hf_rank_place *place, int64_t *ttl_ms)
{
    get_out *out = hf__call_alloc(call, sizeof(*out));

    if (out != NULL)
        *out = (get_out){place, ttl_ms};
    call->out = out;
}

static hf_status run_get(hf__form form, hf_client *client, hf_bytes key,
                         hf_bytes member, hf_rank_place *place, int64_t *ttl_ms)
{
    hf_status status;
    unsigned rounds = 0;
    bool late;

    do {
        hf_call here,
            *call = hf__begin_rank(&here, form, &get, client, key, 2, &late);

        set_get_out(call, place, ttl_ms);
        hf__add_member(call, member);
        hf__add_most(call);
        status = hf__end(call);
    } while (late && hf__rank_clear(client, key, &rounds, &status, form.err));
    return status;
}

HF__FORMS(hf_rank_get, run_get(form, client, key, member, place, ttl_ms),
          hf_client *client, hf_bytes key, hf_bytes member,
          hf_rank_place *place, int64_t *ttl_ms);

/* ------------------------------------------------------------------- count */

static const hf__operation count_members = {
    .script = HF__SCRIPT(RANK_COUNT),
    .finish = hf__finish_size,
};

static void add_bound(hf_call *call, const double *bound, const char *none,
                      const char *name)
{
    if (bound != NULL)
        hf__add_score(call, *bound, name);
    else
        hf__add(call, hf_str(none));
}

static hf_status run_count(hf__form form, hf_client *client, hf_bytes key,
                           const double *min, const double *max, size_t *count)
{
    hf_status status;
    unsigned rounds = 0;
    bool late;

    do {
        hf_call here, *call = hf__begin_rank(&here, form, &count_members,
                                             client, key, 3, &late);

        hf__set_out(call, count, "count");
        add_bound(call, min, "-inf", "min");
        add_bound(call, max, "+inf", "max");
        hf__add_most(call);
        status = hf__end(call);
    } while (late && hf__rank_clear(client, key, &rounds, &status, form.err));
    return status;
}

HF__FORMS(hf_rank_count, run_count(form, client, key, min, max, count),
          hf_client *client, hf_bytes key, const double *min, const double *max,
          size_t *count);

/* ---------------------------------------------------------- remove, expire */

static const hf__operation remove = {
    .script = HF__SCRIPT(RANK_REMOVE),
    .wrote = hf__wrote_number,
    .finish = hf__finish_size,
};

static hf_status run_remove(hf__form form, hf_client *client, hf_bytes key,
                            const hf_bytes *members, size_t count,
                            size_t *removed)
{
    hf_call here, *call = hf__begin(&here, form, &remove, client);

    hf__add_rank_keys(call, key, 0);
    hf__set_out(call, removed, NULL);
    hf__add_members(call, members, count);
    return hf__end(call);
}

HF__FORMS(hf_rank_remove,
          run_remove(form, client, key, members, count, removed),
          hf_client *client, hf_bytes key, const hf_bytes *members,
          size_t count, size_t *removed);

static const hf__operation expire = {
    .script = HF__SCRIPT(RANK_EXPIRE),
    .wrote = hf__wrote_number,
    .finish = hf__finish_found,
    .absent = "no such member",
};

static hf_status run_expire(hf__form form, hf_client *client, hf_bytes key,
                            hf_bytes member, int64_t ttl_ms)
{
    hf_call here, *call = hf__begin(&here, form, &expire, client);

    hf__add_rank_keys(call, key, 2);
    hf__add_member(call, member);
    hf__add_member_ttl(call, ttl_ms, true);
    return hf__end(call);
}

HF__FORMS(hf_rank_expire, run_expire(form, client, key, member, ttl_ms),
          hf_client *client, hf_bytes key, hf_bytes member, int64_t ttl_ms);
