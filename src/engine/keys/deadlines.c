/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadlines.c - storing deadlines of fields of a hash (keyhead.h).
 *
 * The first and the last deadline are in the key's record: as long as the first
 * is in the future, a field is read without looking for its own.
 */
#include "engine/keys/deadlines.h"

#include <math.h>
#include <string.h>

#include "engine/files/header.h"
#include "engine/files/keyhead.h"
#include "engine/keys/elements.h"
#include "engine/keys/members.h"
#include "store/limits.h"

/* Fields deleted at a time: less than 0.2 ms. */
#define RECLAIM_MAX 64u

static bool read_head(hf__tx *tx, hf__record *record, hf__deadlines *head)
{
    return record->form == HF__FORM_DEADLINES &&
           hf__content_copy(tx, record, head, sizeof(*head));
}

/* Earlier versions accepted later ones by RESTORE: such a field lives on, and
 * its deadline can be dumped and loaded. */
static int64_t deadline_of(double score)
{
    if (score >= (double)HF__DEADLINE_MAX)
        return HF__DEADLINE_MAX;
    return score > 0 ? (int64_t)score : 0;
}

/* The first or the last of all. */
static int64_t end_of(hf__tx *tx, uint64_t id, bool last)
{
    double score = 0;
    hf__walk walk;
    hf_bytes field;

    (void)hf__walk_begin_at(&walk, tx, id, last ? INFINITY : -INFINITY, last);
    if (!hf__walk_next(&walk, &field, NULL, &score))
        score = 0;
    hf__walk_end(&walk);
    return deadline_of(score);
}

static void write_head(hf__tx *tx, hf__record *record, hf__deadlines *head)
{
    if (head->count == 0) {
        record->form = HF__FORM_ELEMENTS;
        (void)hf__content_set(tx, record, "", 0);
        return;
    }
    head->first_ms = end_of(tx, head->id, false);
    head->last_ms =
        head->count == record->count ? end_of(tx, head->id, true) : 0;
    (void)hf__content_set(tx, record, head, sizeof(*head));
}

void hf__deadlines_refresh(hf__tx *tx, hf__record *record)
{
    hf__deadlines head;

    if (read_head(tx, record, &head))
        write_head(tx, record, &head);
}

/* ------------------------------------------------------------- one field's */

static bool find_deadline(hf__tx *tx, const hf__deadlines *head, hf_bytes field,
                          double *score)
{
    hf_bytes found;

    if (!hf__element_get(tx, head->id, field, &found))
        return false;
    if (found.size != sizeof(*score)) {
        hf__tx_fail(tx, MDB_CORRUPTED);
        return false;
    }
    memcpy(score, found.data, sizeof(*score));
    return true;
}

bool hf__deadline_get(hf__tx *tx, hf__record *record, hf_bytes field,
                      int64_t *expire_ms)
{
    hf__deadlines head;
    double score;

    if (!read_head(tx, record, &head) ||
        !find_deadline(tx, &head, field, &score))
        return false;
    *expire_ms = deadline_of(score);
    return true;
}

void hf__deadline_set(hf__tx *tx, hf__record *record, hf_bytes field,
                      int64_t expire_ms)
{
    hf__deadlines head = {0};
    double score = (double)expire_ms;
    double old;

    if (record->form == HF__FORM_DEADLINES) {
        if (!read_head(tx, record, &head))
            return;
    } else if (!hf__tx_raise_format(tx, HF__FORMAT_DEADLINES) ||
               !hf__keyid_new(tx, &head.id)) {
        return;
    }
    if (find_deadline(tx, &head, field, &old))
        hf__order_delete(tx, head.id, old, field);
    else
        head.count++;
    hf__element_put(tx, head.id, field, hf_view(&score, sizeof(score)));
    hf__order_put(tx, head.id, score, field);
    record->form = HF__FORM_DEADLINES;
    write_head(tx, record, &head);
}

bool hf__deadline_clear(hf__tx *tx, hf__record *record, hf_bytes field)
{
    hf__deadlines head;
    double score;

    if (!read_head(tx, record, &head) ||
        !find_deadline(tx, &head, field, &score))
        return false;
    hf__member_delete(tx, head.id, score, field);
    head.count--;
    write_head(tx, record, &head);
    return true;
}

/* ------------------------------------------------------------------- passed */

bool hf__deadlines_passed(hf__tx *tx, hf__record *record)
{
    hf__deadlines head;

    return read_head(tx, record, &head) && head.first_ms <= tx->now_ms;
}

bool hf__deadline_passed(hf__tx *tx, hf__record *record, hf_bytes field)
{
    int64_t expire_ms;

    return hf__deadlines_passed(tx, record) &&
           hf__deadline_get(tx, record, field, &expire_ms) &&
           expire_ms <= tx->now_ms;
}

bool hf__deadlines_all_passed(hf__tx *tx, hf__record *record)
{
    hf__deadlines head;

    return read_head(tx, record, &head) && head.last_ms != 0 &&
           head.last_ms <= tx->now_ms;
}

uint64_t hf__deadlines_count_passed(hf__tx *tx, hf__record *record)
{
    hf__deadlines head;
    uint64_t count = 0;
    hf_bytes field;
    hf__walk walk;
    double score;

    if (!read_head(tx, record, &head) || head.first_ms > tx->now_ms)
        return 0;
    (void)hf__walk_begin_at(&walk, tx, head.id, -INFINITY, false);
    while (hf__walk_next(&walk, &field, NULL, &score) &&
           deadline_of(score) <= tx->now_ms)
        count++;
    hf__walk_end(&walk);
    return count;
}

static void list_passed(hf__tx *tx, uint64_t id, hf__members *list)
{
    hf_bytes field;
    hf__walk walk;
    double score;

    (void)hf__walk_begin_at(&walk, tx, id, -INFINITY, false);
    while (list->count < RECLAIM_MAX &&
           hf__walk_next(&walk, &field, NULL, &score) &&
           deadline_of(score) <= tx->now_ms &&
           hf__members_add(list, field, score))
        ;
    hf__walk_end(&walk);
}

void hf__deadlines_reclaim(hf__tx *tx, hf__record *record)
{
    hf__deadlines head;
    hf__members list;
    hf_bytes value;

    if (!read_head(tx, record, &head) || head.first_ms > tx->now_ms)
        return;
    hf__members_init(&list, tx);
    list_passed(tx, head.id, &list);
    for (size_t i = 0; i < list.count && tx->fatal == HF_OK; i++) {
        hf_bytes field = list.items[i].name;

        hf__member_delete(tx, head.id, list.items[i].score, field);
        head.count--;
        if (hf__element_get(tx, record->keyid, field, &value)) {
            hf__element_delete(tx, record->keyid, field);
            record->count--;
        }
    }
    write_head(tx, record, &head);
}
