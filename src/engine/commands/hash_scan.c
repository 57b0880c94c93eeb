/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_scan.c - commands that return some fields of a hash: HRANDFIELD, HSCAN.
 */
#include "engine/commands/command_row.h"
#include "engine/keys/deadlines.h"
#include "engine/keys/random_sample.h"
#include "engine/keys/scan.h"
#include "engine/keys/type_hash.h"

static bool refer_pair(hf__members *list, hf_bytes field, hf_bytes value)
{
    return hf__members_refer(list, field, 0) &&
           hf__members_refer(list, value, 0);
}

/* Views of all fields, or those that match the scan, and their values. */
static void gather_pairs(hf__record *record, const hf__scan *scan,
                         hf__members *list)
{
    hf__hash_walk walk;
    hf_bytes field, value;

    hf__hash_walk_begin(&walk, list->tx, record);
    while (hf__hash_walk_next(&walk, &field, &value)) {
        if (hf__scan_fits(scan, field) && !refer_pair(list, field, value))
            break;
    }
    hf__hash_walk_end(&walk);
}

static void run_hrandfield(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__members list;
    hf__record *record;
    hf__random_sample sample;

    if (!hf__random_sample_read(&sample, tx, args + 2, count - 2,
                                "withvalues") ||
        !hf__hash_open(tx, args[1], &record))
        return;
    hf__members_init(&list, tx);
    if (record != NULL)
        gather_pairs(record, NULL, &list);
    hf__random_sample_reply(&sample, &list, true);
}

static void remove_passed(hf__record *record, hf__members *list)
{
    if (!hf__deadlines_passed(list->tx, record))
        return;
    for (size_t i = 0; i + 1 < list->count; i += 2) {
        list->items[i].gone =
            hf__deadline_passed(list->tx, record, list->items[i].name);
        list->items[i + 1].gone = list->items[i].gone;
    }
    hf__members_sweep(list);
}

static void run_hscan(hf__tx *tx, const hf_bytes *args, size_t count)
{
    uint64_t cursor = 0;
    hf__record *record;
    hf__members list;
    hf__scan scan;

    if (!hf__scan_open(&scan, tx, args, count, hf__hash_open, &record))
        return;
    hf__members_init(&list, tx);
    if (record->form == HF__FORM_INLINE) {
        gather_pairs(record, &scan, &list);
    } else {
        cursor = hf__scan_elements(&scan, record, refer_pair, &list);
        remove_passed(record, &list);
    }
    hf__scan_reply_cursor(tx, cursor);
    hf__members_reply(&list, false);
}

const hf__command_entry hf__commands_hash_scan[] = {
    {"hrandfield", 0, run_hrandfield},
    {"hscan", 0, run_hscan},
    {NULL, 0, NULL}};
