/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lcs.c - LCS: the longest common subsequence of two strings.
 *
 * The lengths for all pairs of prefixes are computed row by row; only one bit
 * of each pair is kept, which is enough for tracing back.
 */
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/keys/type_string.h"

/* Pairs of prefixes: as many as fit Redis's default proto-max-bulk-len, 4 bytes
 * each. They take some 0.3 s. */
#define PAIR_MAX ((size_t)HF_VALUE_MAX / 4)

typedef struct lcs {
    hf__tx *tx;
    const unsigned char *a, *b;
    size_t a_size, b_size;
    unsigned char *ups; /* a bit for each byte of `a` and of `b` */
    size_t size;        /* of the subsequence */
    bool by_length, by_index, with_length;
    int64_t shortest; /* of reported matches */
} lcs;

/* Positions of the first and the last byte, the latter exclusive. */
typedef struct match {
    size_t a_from, a_to, b_from, b_to;
} match;

static bool read_options(lcs *what, const hf_bytes *args, size_t count)
{
    for (size_t i = 3; i < count; i++) {
        if (hf__arg_is(args[i], "idx")) {
            what->by_index = true;
        } else if (hf__arg_is(args[i], "len")) {
            what->by_length = true;
        } else if (hf__arg_is(args[i], "withmatchlen")) {
            what->with_length = true;
        } else if (hf__arg_is(args[i], "minmatchlen") && i + 1 < count) {
            if (!hf__arg_integer(what->tx, args[++i], &what->shortest))
                return false;
        } else {
            return hf__reply_error(what->tx, HF__ERROR_SYNTAX);
        }
    }
    if (!what->by_index || !what->by_length)
        return true;
    return hf__reply_error(what->tx,
                           "ERR If you want both the length and indexes, "
                           "please just use IDX.");
}

/* A missing key is an empty string. false: another type, replied. */
static bool find_text(hf__tx *tx, hf_bytes key, hf__record **record)
{
    *record = hf__key_find(tx, key);
    if (tx->fatal != HF_OK)
        return false;
    if (*record == NULL || (*record)->type == HF__TYPE_STRING)
        return true;
    return hf__reply_error(tx,
                           "ERR The specified keys must contain string values");
}

static bool read_text(hf__tx *tx, hf__record *record, const unsigned char **at,
                      size_t *size)
{
    hf_bytes text;

    *at = (const unsigned char *)"";
    *size = 0;
    if (record == NULL)
        return true;
    text = hf__string_bytes(tx, record);
    *at = text.data;
    *size = text.size;
    return text.data != NULL;
}

/* Tracing back from these prefixes, whose last bytes differ: drop `a`'s? */
static bool goes_up(const lcs *what, size_t i, size_t j)
{
    size_t at = (i - 1) * what->b_size + (j - 1);

    return (unsigned)what->ups[at / 8] >> at % 8 & 1u;
}

/* Compute a row of lengths from the previous one. */
static void fill_row(const lcs *what, size_t i, const uint32_t *above,
                     uint32_t *row)
{
    size_t at = (i - 1) * what->b_size;

    for (size_t j = 1; j <= what->b_size; j++, at++) {
        if (what->a[i - 1] == what->b[j - 1]) {
            row[j] = above[j - 1] + 1;
        } else if (above[j] > row[j - 1]) {
            row[j] = above[j];
            what->ups[at / 8] |= (unsigned char)(1u << at % 8);
        } else {
            row[j] = row[j - 1];
        }
    }
}

static bool fill_table(lcs *what)
{
    size_t columns = what->b_size + 1;
    size_t ups_size = what->a_size * what->b_size / 8 + 1;
    uint32_t *rows[2];

    if (columns > PAIR_MAX / (what->a_size + 1))
        return hf__reply_error(what->tx,
                               "ERR Insufficient memory, transient memory for "
                               "LCS exceeds proto-max-bulk-len");
    rows[0] = hf__tx_alloc(what->tx, 2 * columns * sizeof(*rows[0]));
    what->ups = rows[0] == NULL ? NULL : hf__tx_alloc(what->tx, ups_size);
    if (what->ups == NULL)
        return false;
    rows[1] = rows[0] + columns;
    memset(rows[0], 0, 2 * columns * sizeof(*rows[0]));
    memset(what->ups, 0, ups_size);
    for (size_t i = 1; i <= what->a_size; i++) {
        if (!hf__tx_spend(what->tx, 4 * columns))
            return false;
        fill_row(what, i, rows[(i - 1) % 2], rows[i % 2]);
    }
    what->size = rows[what->a_size % 2][what->b_size];
    return true;
}

/* Trace one step back. true: over a common byte. */
static bool step_back(const lcs *what, size_t *i, size_t *j)
{
    if (what->a[*i - 1] == what->b[*j - 1]) {
        (*i)--;
        (*j)--;
        return true;
    }
    if (goes_up(what, *i, *j))
        (*i)--;
    else
        (*j)--;
    return false;
}

static void reply_text(const lcs *what)
{
    size_t i = what->a_size;
    size_t j = what->b_size;
    size_t at = what->size;
    unsigned char *text = hf__tx_alloc(what->tx, at + 1);

    if (text == NULL)
        return;
    while (i > 0 && j > 0) {
        if (step_back(what, &i, &j))
            text[--at] = what->a[i];
    }
    hf__reply_bytes(what->tx, text, what->size);
}

/* ---------------------------------------------------------------- indices */

static void reply_range(hf__tx *tx, size_t from, size_t to)
{
    hf__reply_array(tx, 2);
    hf__reply_integer(tx, (int64_t)from);
    hf__reply_integer(tx, (int64_t)to - 1);
}

static void reply_match(const lcs *what, const match *found)
{
    hf__tx *tx = what->tx;

    hf__reply_array(tx, what->with_length ? 3 : 2);
    reply_range(tx, found->a_from, found->a_to);
    reply_range(tx, found->b_from, found->b_to);
    if (what->with_length)
        hf__reply_integer(tx, (int64_t)(found->a_to - found->a_from));
}

/* The next run of common bytes before i and j. false: none. */
static bool next_match(const lcs *what, size_t *i, size_t *j, match *found)
{
    while (*i > 0 && *j > 0) {
        size_t a_to = *i;
        size_t b_to = *j;

        if (!step_back(what, i, j))
            continue;
        while (*i > 0 && *j > 0 && what->a[*i - 1] == what->b[*j - 1])
            (void)step_back(what, i, j);
        *found = (match){*i, a_to, *j, b_to};
        return true;
    }
    return false;
}

static size_t walk_matches(const lcs *what, bool say)
{
    size_t i = what->a_size;
    size_t j = what->b_size;
    size_t count = 0;
    match found;

    while (next_match(what, &i, &j, &found)) {
        if ((int64_t)(found.a_to - found.a_from) < what->shortest)
            continue;
        if (say)
            reply_match(what, &found);
        count++;
    }
    return count;
}

static void reply_indices(const lcs *what)
{
    hf__tx *tx = what->tx;

    hf__reply_map(tx, 2);
    hf__reply_bytes(tx, "matches", 7);
    hf__reply_array(tx, walk_matches(what, false));
    (void)walk_matches(what, true);
    hf__reply_bytes(tx, "len", 3);
    hf__reply_integer(tx, (int64_t)what->size);
}

static void run_lcs(hf__tx *tx, const hf_bytes *args, size_t count)
{
    lcs what = {.tx = tx};
    hf__record *a, *b;

    if (!find_text(tx, args[1], &a) || !find_text(tx, args[2], &b) ||
        !read_options(&what, args, count) ||
        !read_text(tx, a, &what.a, &what.a_size) ||
        !read_text(tx, b, &what.b, &what.b_size) || !fill_table(&what))
        return;
    if (what.by_index)
        reply_indices(&what);
    else if (what.by_length)
        hf__reply_integer(tx, (int64_t)what.size);
    else
        reply_text(&what);
}

const hf__command_entry hf__commands_lcs[] = {{"lcs", 0, run_lcs},
                                              {NULL, 0, NULL}};
