/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set_scan.c - SSCAN.
 *
 * The cursor is the next member's position in the order of hashes, which never
 * changes: unlike the other scans' it need not be stored. A small set is
 * returned at once.
 */
#include "engine/commands/command_row.h"
#include "engine/keys/scan.h"
#include "engine/keys/type_set.h"

/* Copy matching members to the buffer; returns the next cursor. */
static uint64_t gather_members(const hf__scan *scan, hf__record *record,
                               hf__packed_buf *buf)
{
    bool all = record->form == HF__FORM_INLINE;
    uint64_t left = scan->count;
    uint64_t last = 0;
    uint64_t cursor = 0;
    hf__set_walk walk;
    hf_bytes member;

    hf__set_walk_begin_at(&walk, scan->tx, record, scan->cursor);
    while (hf__set_walk_next(&walk, &member)) {
        /* Members of one position are returned together. */
        if (!all && left == 0 && walk.place != last) {
            cursor = walk.place;
            break;
        }
        last = walk.place;
        left -= left > 0 ? 1 : 0;
        if (hf__scan_fits(scan, member) && !hf__packed_buf_add(buf, member))
            break;
    }
    hf__set_walk_end(&walk);
    return cursor;
}

static void run_sscan(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__packed_buf buf = {.tx = tx};
    hf__packed at = {0};
    hf__record *record;
    hf__scan scan;
    uint64_t cursor;

    if (!hf__scan_open(&scan, tx, args, count, hf__set_open, &record))
        return;
    cursor = gather_members(&scan, record, &buf);
    if (tx->fatal != HF_OK)
        return;
    hf__scan_reply_cursor(tx, cursor);
    hf__reply_array(tx, buf.count);
    while (hf__packed_buf_next(&buf, &at))
        hf__reply_bytes(tx, at.text.data, at.text.size);
}

const hf__command_entry hf__commands_set_scan[] = {{"sscan", 0, run_sscan},
                                                   {NULL, 0, NULL}};
