/* SPDX-License-Identifier: Apache-2.0 */
/* calls_member.c - the calls of set.h and rank.h, on one set and one rank,
 * whose members have the names of the timeline's items. */
#include "holdfast/key.h"
#include "holdfast/rank.h"
#include "holdfast/set.h"
#include "property.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static hf_bytes set_name(void)
{
    return hf_str("set");
}

static hf_bytes rank_name(void)
{
    return hf_str("rank");
}

static int64_t new_ttl_ms(int ttl)
{
    return ttl == TTL_NONE ? -1 : ttl_ms(ttl);
}

/* Of a member that is added. */
static void renew(const model *m, model_member *one, int ttl, bool keeps)
{
    if (!one->there)
        one->ttl = ttl;
    else if (ttl != TTL_NONE &&
             (!keeps || (model_cheats(m, "renew") && ttl != TTL_BRIEF)))
        one->ttl = ttl;
    one->there = true;
}

/* --------------------------------------------------------------------- sets */

static uint32_t add_flags_at(const step *s, size_t i)
{
    static const uint32_t flags[] = {0, HF_SET_NX, HF_SET_XX, HF_SET_KEEPTTL,
                                     HF_SET_XX | HF_SET_KEEPTTL};

    return flags[s->n[i] % COUNT(flags)];
}

static void run_set_add(place *at, const step *s, text *out)
{
    hf_set_add_options opts = HF_SET_ADD_OPTIONS_INIT;
    const hf_bytes members[] = {item_id(item_at(s, 0)), item_id(item_at(s, 1))};
    size_t added = 0;

    opts.ttl_ms = ttl_ms(ttl_at(s, 2));
    opts.flags = add_flags_at(s, 3);
    text_status(out, CALL(at, hf_set_add, at->client, set_name(), members, 2,
                          &opts, &added));
    text_add(out, " %zu", added);
}

static void expect_set_add(model *m, const step *s, text *out)
{
    uint32_t flags = add_flags_at(s, 3);
    size_t which[] = {item_at(s, 0), item_at(s, 1)}, added = 0;
    bool live[2];

    for (size_t i = 0; i < 2; i++)
        live[i] = m->set[which[i]].there;
    for (size_t i = 0; i < 2; i++) {
        if ((flags & HF_SET_NX) != 0 ? live[i]
                                     : (flags & HF_SET_XX) != 0 && !live[i])
            continue;
        added += !m->set[which[i]].there;
        renew(m, &m->set[which[i]], ttl_at(s, 2),
              live[i] && (flags & HF_SET_KEEPTTL) != 0);
    }
    text_add(out, "%s %zu", hf_status_name(HF_OK), added);
}

static void run_set_remove(place *at, const step *s, text *out)
{
    const hf_bytes member = item_id(item_at(s, 0));
    size_t removed = 0;

    text_status(out, CALL(at, hf_set_remove, at->client, set_name(), &member, 1,
                          &removed));
    text_add(out, " %zu", removed);
}

static void expect_set_remove(model *m, const step *s, text *out)
{
    model_member *one = &m->set[item_at(s, 0)];

    text_add(out, "%s %d", hf_status_name(HF_OK), one->there);
    one->there = false;
}

static void run_set_expire(place *at, const step *s, text *out)
{
    const hf_bytes member = item_id(item_at(s, 0));
    size_t found = 0;

    text_status(out, CALL(at, hf_set_expire, at->client, set_name(),
                          new_ttl_ms(ttl_at(s, 1)), &member, 1, &found));
    text_add(out, " %zu", found);
}

static void expect_set_expire(model *m, const step *s, text *out)
{
    model_member *one = &m->set[item_at(s, 0)];

    text_add(out, "%s %d", hf_status_name(HF_OK), one->there);
    one->ttl = ttl_at(s, 1);
}

/* -------------------------------------------------------------------- ranks */

static uint32_t rank_flags_at(const step *s, size_t i)
{
    static const uint32_t flags[] = {
        0,
        HF_RANK_NX,
        HF_RANK_XX,
        HF_RANK_KEEPTTL,
        HF_RANK_GT,
        HF_RANK_LT,
        HF_RANK_GT | HF_RANK_XX,
    };

    return flags[s->n[i] % COUNT(flags)];
}

static double score_at(const step *s, size_t i)
{
    static const double scores[] = {1, 1, 2, -1, 0.5, 1e300};

    return scores[s->n[i] % COUNT(scores)];
}

static size_t count_ranked(const model *m)
{
    size_t count = 0;

    for (size_t i = 0; i < ITEMS; i++)
        count += m->rank[i].there;
    return count;
}

/* How many are above it. */
static size_t rank_in(const model *m, size_t which)
{
    size_t above = 0;

    for (size_t i = 0; i < ITEMS; i++) {
        double more = m->rank[i].score - m->rank[which].score;

        above += m->rank[i].there && (more > 0 || (!(more < 0) && i > which));
    }
    return above;
}

static void run_ranking(place *at, const step *s, bool adds, text *out)
{
    hf_rank_add_options opts = HF_RANK_ADD_OPTIONS_INIT;
    hf_bytes member = item_id(item_at(s, 0));
    hf_rank_place found = {0, 0, 0};
    hf_status status;

    opts.ttl_ms = ttl_ms(ttl_at(s, 2));
    opts.flags = rank_flags_at(s, 3);
    status = adds ? CALL(at, hf_rank_increment, at->client, rank_name(), member,
                         score_at(s, 1), &opts, &found)
                  : CALL(at, hf_rank_add, at->client, rank_name(), member,
                         score_at(s, 1), &opts, &found);
    text_status(out, status);
    text_add(out, " %g %zu/%zu", found.score, found.rank, found.count);
}

/* HF_OK, or why the score may not be given. */
static hf_status judge(const model_member *one, double score, uint32_t flags)
{
    if ((flags & HF_RANK_NX) != 0 && one->there)
        return HF_CONFLICT;
    if ((flags & HF_RANK_XX) != 0 && !one->there)
        return HF_NOT_FOUND;
    if (one->there && (((flags & HF_RANK_GT) != 0 && score <= one->score) ||
                       ((flags & HF_RANK_LT) != 0 && score >= one->score)))
        return HF_CONFLICT;
    return HF_OK;
}

static void expect_ranking(model *m, const step *s, bool adds, text *out)
{
    size_t which = item_at(s, 0);
    model_member *one = &m->rank[which];
    uint32_t flags = rank_flags_at(s, 3);
    double score = score_at(s, 1) + (adds && one->there ? one->score : 0);
    hf_status status = judge(one, score, flags);

    if (status != HF_OK) {
        text_add(out, "%s 0 0/0", hf_status_name(status));
        return;
    }
    renew(m, one, ttl_at(s, 2), (flags & HF_RANK_KEEPTTL) != 0);
    one->score = score;
    text_add(out, "%s %g %zu/%zu", hf_status_name(HF_OK), score,
             rank_in(m, which), count_ranked(m));
}

static void run_rank_add(place *at, const step *s, text *out)
{
    run_ranking(at, s, false, out);
}

static void expect_rank_add(model *m, const step *s, text *out)
{
    expect_ranking(m, s, false, out);
}

static void run_rank_increment(place *at, const step *s, text *out)
{
    run_ranking(at, s, true, out);
}

static void expect_rank_increment(model *m, const step *s, text *out)
{
    expect_ranking(m, s, true, out);
}

static void run_rank_remove(place *at, const step *s, text *out)
{
    const hf_bytes member = item_id(item_at(s, 0));
    size_t removed = 0;

    text_status(out, CALL(at, hf_rank_remove, at->client, rank_name(), &member,
                          1, &removed));
    text_add(out, " %zu", removed);
}

static void expect_rank_remove(model *m, const step *s, text *out)
{
    model_member *one = &m->rank[item_at(s, 0)];

    text_add(out, "%s %d", hf_status_name(HF_OK), one->there);
    one->there = false;
}

static void run_rank_expire(place *at, const step *s, text *out)
{
    text_status(out, CALL(at, hf_rank_expire, at->client, rank_name(),
                          item_id(item_at(s, 0)), new_ttl_ms(ttl_at(s, 1))));
}

static void expect_rank_expire(model *m, const step *s, text *out)
{
    model_member *one = &m->rank[item_at(s, 0)];

    text_status(out, one->there ? HF_OK : HF_NOT_FOUND);
    one->ttl = ttl_at(s, 1);
}

static void run_rank_trim(place *at, const step *s, text *out)
{
    hf_rank_trimmed trimmed = {0, false};

    text_status(out, CALL(at, hf_rank_trim, at->client, rank_name(),
                          s->n[0] % (ITEMS + 1), &trimmed));
    text_add(out, " %zu %d", trimmed.removed, trimmed.more);
}

static void expect_rank_trim(model *m, const step *s, text *out)
{
    size_t ranks[ITEMS], removed = 0;

    for (size_t i = 0; i < ITEMS; i++)
        ranks[i] = m->rank[i].there ? rank_in(m, i) : 0;
    for (size_t i = 0; i < ITEMS; i++) {
        if (!m->rank[i].there || ranks[i] < s->n[0] % (ITEMS + 1))
            continue;
        m->rank[i].there = false;
        removed++;
    }
    text_add(out, "%s %zu 0", hf_status_name(HF_OK), removed);
}

const call member_calls[] = {
    {"set add", "iitn", run_set_add, expect_set_add},
    {"set add", "iitn", run_set_add, expect_set_add},
    {"set remove", "i", run_set_remove, expect_set_remove},
    {"set expire", "it", run_set_expire, expect_set_expire},
    {"rank add", "intn", run_rank_add, expect_rank_add},
    {"rank increment", "intn", run_rank_increment, expect_rank_increment},
    {"rank remove", "i", run_rank_remove, expect_rank_remove},
    {"rank expire", "it", run_rank_expire, expect_rank_expire},
    {"rank trim", "n", run_rank_trim, expect_rank_trim},
};
const size_t member_call_count = COUNT(member_calls);

/* ---------------------------------------------------------------------- all */

void members_read_store(hf_client *client, text *out)
{
    hf_bytes names[ITEMS];
    int64_t ttls_ms[ITEMS] = {0};
    hf_rank_members page = HF_RANK_MEMBERS_INIT;
    size_t count = 0;

    for (size_t i = 0; i < ITEMS; i++)
        names[i] = item_id(i);
    text_status(out, hf_set_count(client, set_name(), &count, NULL));
    text_add(out, " %zu ", count);
    text_status(out, hf_set_has_members(client, set_name(), names, ITEMS,
                                        ttls_ms, NULL));
    for (size_t i = 0; i < ITEMS; i++) {
        text_add(out, ttls_ms[i] == -2 ? " none" : " there");
        text_ttl(out, ttls_ms[i]);
    }
    text_add(out, " ");
    text_status(out, hf_rank_page(client, rank_name(), 0, 0, 0, &page, NULL));
    for (size_t i = 0; i < page.count; i++) {
        text_add(out, " ");
        text_bytes(out, page.items[i].member);
        text_add(out, "=%g", page.items[i].score);
        text_ttl(out, page.items[i].ttl_ms);
    }
    hf_rank_members_free(&page);
}

static void show_ttl(const model_member *one, text *out)
{
    if (one->ttl != TTL_NONE)
        text_add(out, " ttl=%d", one->ttl);
}

void members_read_model(const model *m, text *out)
{
    size_t count = 0;

    for (size_t i = 0; i < ITEMS; i++)
        count += m->set[i].there;
    text_add(out, "%s %zu %s", hf_status_name(HF_OK), count,
             hf_status_name(HF_OK));
    for (size_t i = 0; i < ITEMS; i++) {
        text_add(out, m->set[i].there ? " there" : " none");
        if (m->set[i].there)
            show_ttl(&m->set[i], out);
    }
    text_add(out, " %s", hf_status_name(HF_OK));
    for (size_t rank = 0; rank < ITEMS; rank++) {
        for (size_t i = 0; i < ITEMS; i++) {
            if (!m->rank[i].there || rank_in(m, i) != rank)
                continue;
            text_add(out, " ");
            text_bytes(out, item_id(i));
            text_add(out, "=%g", m->rank[i].score);
            show_ttl(&m->rank[i], out);
        }
    }
}

void members_empty(hf_client *client)
{
    (void)!hf_key_delete(client, set_name(), NULL);
    (void)!hf_key_delete(client, rank_name(), NULL);
}
