/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_entries.c - commands that add and remove entries of streams.
 */
#include "engine/commands/stream_args.h"

/* Where it is not given, entries that one trim by whole packs removes. */
#define LIMIT_DEFAULT (100u * HF__PACK_ENTRIES)

/* Redis refuses larger entries. */
#define ENTRY_MAX (1u << 30)

/* ----------------------------------------------------------------- options */

typedef struct xadd_options {
    bool trims;
    bool makes_none; /* NOMKSTREAM */
    bool any_id;     /* `*` */
    bool any_seq;    /* `ms-*` */
    bool limited;
    hf__stream_id id;
    hf__stream_trim trim;
    size_t at; /* of the id */
} xadd_options;

/* `[= | ~] threshold` after args[at], which advances. */
static bool read_threshold(hf__tx *tx, const hf_bytes *args, size_t count,
                           size_t *at, xadd_options *o)
{
    hf__stream_trim *trim = &o->trim;
    bool by_id = hf__arg_is(args[*at], "minid");

    if (o->trims)
        return hf__reply_error(
            tx, "ERR syntax error, MAXLEN and MINID options at the "
                "same time are not compatible");
    o->trims = true;
    *trim = (hf__stream_trim){.by_id = by_id, .limit = trim->limit};
    if (*at + 2 < count &&
        (hf__arg_is(args[*at + 1], "~") || hf__arg_is(args[*at + 1], "=")))
        trim->by_packs = hf__arg_is(args[++*at], "~");
    (*at)++;
    return by_id ? hf__arg_stream_id(tx, args[*at], 0, NULL, &trim->id)
                 : hf__arg_from(tx, args[*at], 0,
                                "ERR The MAXLEN argument must be >= 0.",
                                &trim->count);
}

static bool check_trim(hf__tx *tx, bool adds, xadd_options *o)
{
    const char *error = NULL;

    if (o->trim.limit > 0 && !o->trims)
        error = "LIMIT cannot be used without specifying a trimming strategy";
    else if (!adds && !o->trims)
        error = "XTRIM must be called with a trimming strategy";
    else if (o->limited && !o->trim.by_packs)
        error = "LIMIT cannot be used without the special ~ option";
    else if (!o->limited && o->trim.by_packs)
        o->trim.limit = LIMIT_DEFAULT;
    if (error != NULL)
        hf__reply_error(tx, "ERR syntax error, %s", error);
    return error == NULL;
}

/* One option or, of XADD, the id, at args[o->at]. false: replied with an
 * error. */
static bool read_option(hf__tx *tx, const hf_bytes *args, size_t count,
                        bool adds, xadd_options *o, bool *done)
{
    hf_bytes arg = args[o->at];
    bool more = o->at + 1 < count;

    if (adds && hf__arg_is(arg, "*")) {
        *done = o->any_id = true;
    } else if (more &&
               (hf__arg_is(arg, "maxlen") || hf__arg_is(arg, "minid"))) {
        return read_threshold(tx, args, count, &o->at, o);
    } else if (more && hf__arg_is(arg, "limit")) {
        o->limited = true;
        return hf__arg_from(tx, args[++o->at], 0,
                            "ERR The LIMIT argument must be >= 0.",
                            &o->trim.limit);
    } else if (adds && hf__arg_is(arg, "nomkstream")) {
        o->makes_none = true;
    } else if (adds) {
        *done = true;
        return hf__arg_stream_id(tx, arg, 0, &o->any_seq, &o->id);
    } else {
        return hf__reply_error(tx, HF__ERROR_SYNTAX);
    }
    return true;
}

static bool read_options(hf__tx *tx, const hf_bytes *args, size_t count,
                         bool adds, xadd_options *o)
{
    bool done = false;

    memset(o, 0, sizeof(*o));
    for (o->at = 2; o->at < count; o->at++) {
        if (!read_option(tx, args, count, adds, o, &done))
            return false;
        if (done)
            break;
    }
    return check_trim(tx, adds, o);
}

/* Returns the number of entries removed. */
static uint64_t trim_stream(hf__open_stream *s, const xadd_options *o)
{
    uint64_t gone = o->trims ? hf__stream_cut(s, &o->trim) : 0;

    if (gone > 0)
        hf__record_event(s->tx, HF__EVENT_STREAM, "xtrim", s->record);
    return gone;
}

/* -------------------------------------------------------------------- XADD */

/* The id of the next entry. false: replied with an error. */
static bool choose_id(hf__tx *tx, const hf__stream_head *head,
                      const xadd_options *o, hf__stream_id *id)
{
    uint64_t now_ms = (uint64_t)hf__stream_now(tx);
    bool fits = true;

    *id = o->id;
    if (hf__stream_id_compare(head->last, HF__STREAM_ID_LAST) == 0)
        return hf__reply_error(tx,
                               "ERR The stream has exhausted the last possible "
                               "ID, unable to add more items");
    if (o->any_id && now_ms > head->last.ms) {
        *id = (hf__stream_id){now_ms, 0};
    } else if (o->any_id) {
        *id = head->last;
        fits = hf__stream_id_next(id);
    } else if (o->any_seq && id->ms == head->last.ms) {
        fits = head->last.seq < UINT64_MAX;
        id->seq = head->last.seq + 1;
    }
    if (fits && hf__stream_id_compare(*id, head->last) > 0)
        return true;
    return hf__reply_error(
        tx, "ERR The ID specified in XADD is equal or smaller than "
            "the target stream top item");
}

/* false: replied with an error. */
static bool check_entry(hf__tx *tx, const hf_bytes *args, size_t count,
                        const xadd_options *o)
{
    size_t size = 0;

    if (o->at + 2 >= count || (count - o->at) % 2 == 0)
        return hf__reply_arity(tx, "xadd");
    if (!o->any_id && !o->any_seq && hf__stream_id_is_zero(o->id))
        return hf__reply_error(
            tx, "ERR The ID specified in XADD must be greater than "
                "0-0");
    for (size_t i = o->at + 1; i < count && size <= ENTRY_MAX; i++)
        size += args[i].size;
    if (size > ENTRY_MAX)
        hf__reply_error(tx, "ERR Elements are too large to be stored");
    return size <= ENTRY_MAX;
}

static void run_xadd(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__stream_id id;
    xadd_options o;
    hf__open_stream s;

    if (!read_options(tx, args, count, true, &o) ||
        !check_entry(tx, args, count, &o) || !hf__stream_open(&s, tx, args[1]))
        return;
    if (s.record == NULL && o.makes_none) {
        hf__reply_nil(tx);
        return;
    }
    if (!choose_id(tx, &s.head, &o, &id))
        return;
    if (s.record == NULL)
        s.record = hf__stream_make(tx, args[1]);
    else if (tx->made != NULL)
        tx->made(tx, args[1]);
    if (s.record == NULL)
        return;
    hf__stream_append(&s, id, args + o.at + 1, (count - o.at - 1) / 2);
    hf__record_event(tx, HF__EVENT_STREAM, "xadd", s.record);
    (void)trim_stream(&s, &o);
    hf__stream_save(&s);
    hf__reply_stream_id(tx, id);
}

/* ------------------------------------------------------------------ others */

static void run_xlen(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__open_stream s;

    (void)count;
    if (hf__stream_open(&s, tx, args[1]))
        hf__reply_integer(tx, s.record == NULL ? 0 : (int64_t)s.record->count);
}

static void run_xtrim(hf__tx *tx, const hf_bytes *args, size_t count)
{
    uint64_t gone = 0;
    xadd_options o;
    hf__open_stream s;

    if (!read_options(tx, args, count, false, &o) ||
        !hf__stream_open(&s, tx, args[1]))
        return;
    if (s.record != NULL)
        gone = trim_stream(&s, &o);
    if (gone > 0)
        hf__stream_save(&s);
    hf__reply_integer(tx, (int64_t)gone);
}

static void run_xdel(hf__tx *tx, const hf_bytes *args, size_t count)
{
    const hf__stream_id *ids = NULL;
    int64_t gone = 0;
    hf__open_stream s;

    if (!hf__stream_open(&s, tx, args[1]))
        return;
    if (s.record != NULL) {
        ids = hf__arg_stream_ids(tx, args + 2, count - 2);
        if (ids == NULL)
            return;
    }
    for (size_t i = 0; ids != NULL && i < count - 2; i++) {
        if (!hf__stream_delete(&s, ids[i]))
            continue;
        gone++;
        if (hf__stream_id_compare(ids[i], s.head.deleted) > 0)
            s.head.deleted = ids[i];
    }
    if (gone > 0) {
        hf__stream_save(&s);
        hf__record_event(tx, HF__EVENT_STREAM, "xdel", s.record);
    }
    hf__reply_integer(tx, gone);
}

/* ------------------------------------------------------------------ XSETID */

typedef struct setid {
    hf__stream_id id, deleted;
    int64_t added; /* -1: as it is */
} setid;

static bool read_setid(hf__tx *tx, const hf_bytes *args, size_t count,
                       setid *what)
{
    *what = (setid){.added = -1};
    if (!hf__arg_stream_id(tx, args[2], 0, NULL, &what->id))
        return false;
    for (size_t i = 3; i < count; i += 2) {
        if (i + 1 < count && hf__arg_is(args[i], "entriesadded")) {
            if (!hf__arg_from(tx, args[i + 1], 0,
                              "ERR entries_added must be positive",
                              &what->added))
                return false;
        } else if (i + 1 < count && hf__arg_is(args[i], "maxdeletedid")) {
            if (!hf__arg_stream_id(tx, args[i + 1], 0, NULL, &what->deleted))
                return false;
            if (hf__stream_id_compare(what->id, what->deleted) < 0)
                return hf__reply_error(
                    tx, "ERR The ID specified in XSETID is smaller "
                        "than the provided max_deleted_entry_id");
        } else {
            return hf__reply_error(tx, HF__ERROR_SYNTAX);
        }
    }
    return true;
}

/* NULL: it may be set. */
static const char *setid_error(hf__open_stream *s, const setid *what)
{
    hf__entry last;

    if (!hf__stream_edge(s, true, &last))
        return NULL;
    if (hf__stream_id_compare(what->id, last.id) < 0)
        return "ID specified in XSETID is smaller than the target stream top "
               "item";
    if (what->added >= 0 && s->record->count > (uint64_t)what->added)
        return "entries_added specified in XSETID is smaller than the target "
               "stream length";
    return NULL;
}

static void run_xsetid(hf__tx *tx, const hf_bytes *args, size_t count)
{
    const char *error;
    setid what;
    hf__open_stream s;

    if (!read_setid(tx, args, count, &what) ||
        !hf__need_stream(&s, tx, args[1], "ERR no such key"))
        return;
    error = setid_error(&s, &what);
    if (error != NULL) {
        hf__reply_error(tx, "ERR The %s", error);
        return;
    }
    s.head.last = what.id;
    if (what.added >= 0)
        s.head.added = (uint64_t)what.added;
    if (!hf__stream_id_is_zero(what.deleted))
        s.head.deleted = what.deleted;
    hf__stream_save(&s);
    hf__record_event(tx, HF__EVENT_STREAM, "xsetid", s.record);
    hf__reply_line(tx, "OK");
}

/* ------------------------------------------------------------------ ranges */

static bool read_count(hf__tx *tx, const hf_bytes *args, size_t count,
                       int64_t *most)
{
    *most = INT64_MAX;
    for (size_t i = 4; i < count; i += 2) {
        if (i + 1 == count || !hf__arg_is(args[i], "count"))
            return hf__reply_error(tx, HF__ERROR_SYNTAX);
        if (!hf__arg_integer(tx, args[i + 1], most))
            return false;
        if (*most < 0)
            *most = 0;
    }
    return true;
}

static void run_xrange(hf__tx *tx, const hf_bytes *args, size_t count)
{
    bool backward = hf__variant(tx) != 0;
    hf__stream_id from, to;
    int64_t most;
    hf__open_stream s;

    if (!hf__arg_stream_bound(tx, args[backward ? 3 : 2], false, &from) ||
        !hf__arg_stream_bound(tx, args[backward ? 2 : 3], true, &to) ||
        !read_count(tx, args, count, &most) ||
        !hf__stream_open(&s, tx, args[1]))
        return;
    if (s.record == NULL)
        hf__reply_array(tx, 0);
    else if (most == 0)
        hf__reply_nil_array(tx);
    else
        hf__reply_stream_range(&s, from, to, backward,
                               hf__stream_count(&s, from, to, (uint64_t)most));
}

#define WRITES HF__COMMAND_WRITES
#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_stream[] = {
    {"xadd", GROWS, run_xadd},     {"xlen", 0, run_xlen},
    {"xrange", 0, run_xrange},     {"xrevrange", HF__VARIANT(1), run_xrange},
    {"xdel", WRITES, run_xdel},    {"xtrim", WRITES, run_xtrim},
    {"xsetid", GROWS, run_xsetid}, {NULL, 0, NULL}};
