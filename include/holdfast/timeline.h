/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/timeline.h - timelines: items ordered by time, each with its
 * own expiry.
 *
 * Contents:
 * - hf_timeline_add(), hf_timeline_get(), hf_timeline_remove()
 * - hf_timeline_count(), hf_timeline_page(), hf_timeline_range()
 * - hf_timeline_update(), hf_timeline_trim(), hf_timeline_delete()
 * - hf_timeline_count_matching(): what a filter or a range has
 * - hf_timeline_add_many(), hf_timeline_remove_many()
 * - hf_attribute_number(), hf_attribute_text(): what items can be ordered by
 * - hf_timeline_items_free()
 *
 * Those of the first five lines have a `_start` form.
 *
 * An item has an id, a payload, a time, a time to live and up to
 * #HF_ATTRIBUTE_COUNT_MAX attributes. Items are ordered by time, and by each
 * attribute: by its value, items of the same value by time. Items of the same
 * time are ordered by id. An item that has expired is never returned nor
 * counted; each write removes up to 16 of them, and with the last item the
 * timeline is gone.
 *
 * @code
 * hf_status newest(hf_client *client, hf_bytes key, hf_error *err)
 * {
 *     hf_timeline_page_options opts = HF_TIMELINE_PAGE_OPTIONS_INIT;
 *     hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
 *     hf_status status = hf_timeline_add(client, key, hf_str("id1"),
 *                                        hf_str("data1"), 3600000, NULL, err);
 *
 *     opts.limit = 2;
 *     if (status == HF_OK)
 *         status = hf_timeline_page(client, key, &opts, &page, err);
 *     for (size_t i = 0; i < page.count; i++)
 *         printf("%s\n", (const char *)page.items[i].payload.data);
 *     hf_timeline_items_free(&page);
 *     return status;
 * }
 * @endcode
 */
#ifndef HOLDFAST_TIMELINE_H
#define HOLDFAST_TIMELINE_H

#include "holdfast/async.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Longest id of an item, bytes. */
#define HF_TIMELINE_ID_MAX 512

/** Last time of an item, ms of Unix time: in the year 2255. */
#define HF_TIMELINE_AT_MAX_MS 9007199254740

/** Most items of a page, and most that one may skip by its offset. */
#define HF_TIMELINE_LIMIT_MAX 1000
#define HF_TIMELINE_OFFSET_MAX 10000
/** Most items that a page in the order of an attribute, or a count, looks at to
 *  find those that match. */
#define HF_TIMELINE_LOOK_MAX 5000

/** Limits of attributes: of an item, of a name and of a text, bytes. */
#define HF_ATTRIBUTE_COUNT_MAX 16
#define HF_ATTRIBUTE_NAME_MAX 64
#define HF_ATTRIBUTE_TEXT_MAX 255

/** The kinds of attributes. In the order of an attribute that some items have
 *  as a number and some as a text, numbers come first. */
typedef enum hf_attribute_kind {
    HF_ATTRIBUTE_NUMBER,
    HF_ATTRIBUTE_TEXT
} hf_attribute_kind;

/** An attribute of an item. */
typedef struct hf_attribute {
    hf_bytes name; /**< 1..#HF_ATTRIBUTE_NAME_MAX bytes, none of them NUL */
    hf_attribute_kind kind;
    double number; /**< of HF_ATTRIBUTE_NUMBER: finite; -0 is stored as 0 */
    hf_bytes text; /**< of HF_ATTRIBUTE_TEXT: 0..#HF_ATTRIBUTE_TEXT_MAX bytes,
                        ordered byte by byte */
} hf_attribute;

/** A numeric attribute. */
static inline hf_attribute hf_attribute_number(hf_bytes name, double number)
{
    hf_attribute attribute = {name, HF_ATTRIBUTE_NUMBER, 0, {NULL, 0}};

    attribute.number = number;
    return attribute;
}

/** A text attribute. */
static inline hf_attribute hf_attribute_text(hf_bytes name, hf_bytes text)
{
    hf_attribute attribute = {name, HF_ATTRIBUTE_TEXT, 0, {NULL, 0}};

    attribute.text = text;
    return attribute;
}

/** An item, as it is read. */
typedef struct hf_timeline_item {
    hf_bytes id;
    hf_bytes payload;
    int64_t at_ms;  /**< its time, ms of Unix time */
    int64_t ttl_ms; /**< ms to live by the store's clock, at least 1 */
    const hf_attribute *attributes;
    size_t attribute_count;
} hf_timeline_item;

/** Items, owned by the caller; free with hf_timeline_items_free(). */
typedef struct hf_timeline_items {
    hf_timeline_item *items;
    size_t count;
    /** Of a page: what hf_timeline_page_options::cursor is for the page that
     *  follows, printable ASCII; size 0: no items follow. */
    hf_bytes next;
} hf_timeline_items;

/* clang-format off */
#define HF_TIMELINE_ITEMS_INIT { NULL, 0, { NULL, 0 } }
/* clang-format on */

/**
 * Free what was read, and reset it.
 *
 * @param items  may be NULL
 */
HF_API void hf_timeline_items_free(hf_timeline_items *items);

/** Flags of hf_timeline_add(). */
enum {
    HF_TIMELINE_NX = 1u << 0 /**< only if there is no item with the id */
};

/** Options of hf_timeline_add() and hf_timeline_add_many(). */
typedef struct hf_timeline_add_options {
    size_t struct_size; /**< #HF_TIMELINE_ADD_OPTIONS_INIT sets it */
    uint32_t flags;     /**< HF_TIMELINE_NX */
    uint32_t reserved0; /**< must be 0 */
    /** Time of the item, ms of Unix time, 1..#HF_TIMELINE_AT_MAX_MS; 0: now by
     *  the store's clock, which orders by microseconds. */
    int64_t at_ms;
    /** `attribute_count` attributes, 0..#HF_ATTRIBUTE_COUNT_MAX, of different
     *  names. */
    const hf_attribute *attributes;
    size_t attribute_count;
} hf_timeline_add_options;

/* clang-format off */
#define HF_TIMELINE_ADD_OPTIONS_INIT \
    { sizeof(hf_timeline_add_options), 0, 0, 0, NULL, 0 }
/* clang-format on */

/**
 * Add an item, or replace the one with its id.
 *
 * @param key      the timeline
 * @param id       of the item, 1..#HF_TIMELINE_ID_MAX bytes
 * @param payload  its bytes
 * @param ttl_ms   its time to live, 1..#HF_TTL_MAX_MS
 * @param opts     NULL for defaults
 *
 * @retval HF_OK          the item is there, and no other of its id
 * @retval HF_CONFLICT    HF_TIMELINE_NX, and there is an item with the id
 * @retval HF_HELD        the key is a read-write lock or a semaphore that is
 * held
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_timeline_add(
    hf_client *client, hf_bytes key, hf_bytes id, hf_bytes payload,
    int64_t ttl_ms, const hf_timeline_add_options *opts, hf_error *err);

/**
 * Read an item.
 *
 * @param key    the timeline
 * @param id     of the item
 * @param found  [out] the one item; free it with hf_timeline_items_free()
 *
 * @retval HF_OK          `*found` is set
 * @retval HF_NOT_FOUND   no such item, or it has expired
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_timeline_get(hf_client *client, hf_bytes key,
                                             hf_bytes id,
                                             hf_timeline_items *found,
                                             hf_error *err);

/**
 * Remove an item.
 *
 * @param key  the timeline
 * @param id   of the item
 *
 * @retval HF_OK          the item was removed
 * @retval HF_NOT_FOUND   no such item, or it had expired
 * @retval HF_HELD        the key is a read-write lock or a semaphore that is
 * held
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_timeline_remove(hf_client *client, hf_bytes key,
                                                hf_bytes id, hf_error *err);

/**
 * Count the items that have not expired.
 *
 * @param key    the timeline
 * @param count  [out] how many there are; 0: no such key
 *
 * @retval HF_OK          `*count` is set
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_timeline_count(hf_client *client, hf_bytes key,
                                               size_t *count, hf_error *err);

/** Flags of hf_timeline_page(). */
enum {
    /** Oldest or lowest first; without it newest or greatest first. */
    HF_TIMELINE_ASCENDING = 1u << 0
};

/** Options of hf_timeline_page(). */
typedef struct hf_timeline_page_options {
    size_t struct_size; /**< #HF_TIMELINE_PAGE_OPTIONS_INIT sets it */
    uint32_t flags;     /**< HF_TIMELINE_ASCENDING */
    uint32_t reserved0; /**< must be 0 */
    size_t limit;       /**< most items, 1..#HF_TIMELINE_LIMIT_MAX; 0: 20 */
    /** Items of the order to skip, 0..#HF_TIMELINE_OFFSET_MAX. Use cursors to
     *  go further: an offset costs its length. */
    size_t offset;
    /** hf_timeline_items::next of the page before, read with the same options;
     *  size 0: the first page. The page begins after the last item of that one,
     *  whatever was added or removed since. */
    hf_bytes cursor;
    /** Order by the attribute of this name; only items that have it are on the
     *  page. Size 0: order by time. */
    hf_bytes order_by;
    /** With order_by: only numbers from `*min` to `*max`, both included; NULL:
     *  no limit. */
    const double *min;
    const double *max;
    /** Only items with this attribute; NULL: all. */
    const hf_attribute *equals;
    /** Only items of these times, both included, ms of Unix time,
     *  0..#HF_TIMELINE_AT_MAX_MS; 0: no limit. */
    int64_t from_ms;
    int64_t to_ms;
} hf_timeline_page_options;

/* clang-format off */
#define HF_TIMELINE_PAGE_OPTIONS_INIT \
    { sizeof(hf_timeline_page_options), 0, 0, 0, 0, { NULL, 0 }, { NULL, 0 }, \
      NULL, NULL, NULL, 0, 0 }
/* clang-format on */

/**
 * Read items in the order of their times or of an attribute.
 *
 * With order_by, `equals`, from_ms and to_ms choose among the items on the way:
 * a page ends after #HF_TIMELINE_LOOK_MAX of them, perhaps with fewer than
 * `limit` or none, and its `next` leads on; an offset is HF_INVALID then. In
 * the order of time they cost nothing.
 *
 * Costs O(log items + offset + limit), and the number of items on the way that
 * have expired and were not yet removed. It only reads: on an embedded store it
 * does not wait for writers. After passing more than 100 such items
 * hf_timeline_page() also has up to 1000 of them removed, by a second request
 * whose failure is ignored; hf_timeline_page_start() leaves them to others.
 *
 * @param key   the timeline
 * @param opts  NULL for defaults: the 20 newest items
 * @param page  [out] the items, perhaps none; free them with
 *              hf_timeline_items_free()
 *
 * @retval HF_OK          `*page` is set
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_timeline_page(
    hf_client *client, hf_bytes key, const hf_timeline_page_options *opts,
    hf_timeline_items *page, hf_error *err);

/**
 * Count the items that pages with these options would have, in all.
 *
 * A call looks at #HF_TIMELINE_LOOK_MAX items of the order at most: a timeline
 * with more is counted by several calls, each with the `next` of the one before
 * as cursor, which together are not of one instant. Costs O(log items + items
 * looked at), some 4 us each; it only reads.
 *
 * @param key    the timeline
 * @param opts   as for hf_timeline_page(); limit and offset have no effect, and
 *               with a cursor the items that follow it are counted. NULL: all
 * @param count  [out] how many match among those looked at
 * @param next   [out] the cursor for the rest; size 0: there is none. Free it
 *               with hf_buffer_free()
 *
 * @retval HF_OK          both are set
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_timeline_count_matching(
    hf_client *client, hf_bytes key, const hf_timeline_page_options *opts,
    size_t *count, hf_buffer *next, hf_error *err);

/**
 * Read items of a range of times, oldest first: hf_timeline_page() without
 * its other options.
 *
 * @param key      the timeline
 * @param from_ms  first time, ms of Unix time; 0: no limit
 * @param to_ms    last time, included; 0: no limit
 * @param limit    most items, 1..#HF_TIMELINE_LIMIT_MAX; 0: 20
 * @param page     [out] as of hf_timeline_page()
 *
 * @retval HF_OK          `*page` is set
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_timeline_range(hf_client *client, hf_bytes key,
                                               int64_t from_ms, int64_t to_ms,
                                               size_t limit,
                                               hf_timeline_items *page,
                                               hf_error *err);

/** Flags of hf_timeline_update(). */
enum {
    HF_TIMELINE_REPLACE = 1u << 0 /**< drop the attributes not given */
};

/** What hf_timeline_update() changes; zero keeps it. */
typedef struct hf_timeline_update_options {
    size_t struct_size;      /**< #HF_TIMELINE_UPDATE_OPTIONS_INIT sets it */
    uint32_t flags;          /**< HF_TIMELINE_REPLACE */
    uint32_t reserved0;      /**< must be 0 */
    const hf_bytes *payload; /**< NULL: keep it */
    int64_t at_ms;           /**< 1..#HF_TIMELINE_AT_MAX_MS; 0: keep it */
    int64_t ttl_ms;          /**< from now, 1..#HF_TTL_MAX_MS; 0: keep it */
    /** Set these `attribute_count` attributes, and keep those of other names
     *  unless HF_TIMELINE_REPLACE is given. */
    const hf_attribute *attributes;
    size_t attribute_count;
} hf_timeline_update_options;

/* clang-format off */
#define HF_TIMELINE_UPDATE_OPTIONS_INIT \
    { sizeof(hf_timeline_update_options), 0, 0, NULL, 0, 0, NULL, 0 }
/* clang-format on */

/**
 * Change an item in one step.
 *
 * @param key   the timeline
 * @param id    of the item
 * @param opts  what to change; NULL: nothing, only find out whether it is there
 *
 * @retval HF_OK          the item is changed
 * @retval HF_NOT_FOUND   no such item, or it has expired
 * @retval HF_INVALID     also: it would have too many attributes
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status
hf_timeline_update(hf_client *client, hf_bytes key, hf_bytes id,
                   const hf_timeline_update_options *opts, hf_error *err);

/** Most items that one hf_timeline_trim() removes. */
#define HF_TIMELINE_TRIM_MAX 1000

/** What hf_timeline_trim() did. */
typedef struct hf_timeline_trimmed {
    size_t removed; /**< items, 0..#HF_TIMELINE_TRIM_MAX; not those that had
                         expired */
    bool more;      /**< not all were removed; call it again */
} hf_timeline_trimmed;

/**
 * Remove the oldest items, at most #HF_TIMELINE_TRIM_MAX in one call.
 *
 * @param key      the timeline
 * @param to_ms    remove items up to this time, included, ms of Unix time,
 *                 1..#HF_TIMELINE_AT_MAX_MS; 0: none by time
 * @param keep     remove all but the newest `keep` items, 0 or more; -1: none
 *                 by count
 * @param trimmed  [out] what was removed
 *
 * @retval HF_OK          `*trimmed` is set
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_timeline_trim(hf_client *client, hf_bytes key,
                                              int64_t to_ms, int64_t keep,
                                              hf_timeline_trimmed *trimmed,
                                              hf_error *err);

/**
 * Remove a timeline with all its items, in one step. hf_value_delete() of its
 * key would leave the payloads until the next item is added or the last would
 * have expired.
 *
 * @param key  the timeline
 *
 * @retval HF_OK          removed
 * @retval HF_NOT_FOUND   no such timeline
 * @retval HF_HELD        the key is a read-write lock or a semaphore that is
 * held
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_timeline_delete(hf_client *client, hf_bytes key,
                                                hf_error *err);

/** An item of hf_timeline_add_many(); see hf_timeline_add(). */
typedef struct hf_timeline_add_item {
    hf_bytes id;
    hf_bytes payload;
    int64_t ttl_ms;
    int64_t at_ms;
    const hf_attribute *attributes;
    size_t attribute_count;
} hf_timeline_add_item;

/**
 * Add many items to a timeline, each as by hf_timeline_add().
 *
 * @param key       the timeline
 * @param items     `count` of them
 * @param count     any number
 * @param flags     HF_TIMELINE_NX for all of them, or 0
 * @param statuses  [out] `count` statuses
 *
 * @retval HF_OK  see "Batch calls" in base.h
 */
HF_API HF_MUST_USE hf_status hf_timeline_add_many(
    hf_client *client, hf_bytes key, const hf_timeline_add_item *items,
    size_t count, uint32_t flags, hf_status *statuses, hf_error *err);

/**
 * Remove many items of a timeline, each as by hf_timeline_remove().
 *
 * @param key       the timeline
 * @param ids       `count` ids
 * @param count     any number
 * @param statuses  [out] `count` statuses
 *
 * @retval HF_OK  see "Batch calls" in base.h
 */
HF_API HF_MUST_USE hf_status
hf_timeline_remove_many(hf_client *client, hf_bytes key, const hf_bytes *ids,
                        size_t count, hf_status *statuses, hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START(hf_timeline_count_matching_start, hf_bytes key,
         const hf_timeline_page_options *opts, size_t *count, hf_buffer *next);
HF_START(hf_timeline_update_start, hf_bytes key, hf_bytes id,
         const hf_timeline_update_options *opts);
HF_START(hf_timeline_trim_start, hf_bytes key, int64_t to_ms, int64_t keep,
         hf_timeline_trimmed *trimmed);
HF_START(hf_timeline_delete_start, hf_bytes key);
HF_START(hf_timeline_add_start, hf_bytes key, hf_bytes id, hf_bytes payload,
         int64_t ttl_ms, const hf_timeline_add_options *opts);
HF_START(hf_timeline_get_start, hf_bytes key, hf_bytes id,
         hf_timeline_items *found);
HF_START(hf_timeline_remove_start, hf_bytes key, hf_bytes id);
HF_START(hf_timeline_count_start, hf_bytes key, size_t *count);
HF_START(hf_timeline_page_start, hf_bytes key,
         const hf_timeline_page_options *opts, hf_timeline_items *page);
HF_START(hf_timeline_range_start, hf_bytes key, int64_t from_ms, int64_t to_ms,
         size_t limit, hf_timeline_items *page);
HF_START(hf_timeline_add_many_start, hf_bytes key,
         const hf_timeline_add_item *items, size_t count, uint32_t flags,
         hf_status *statuses);
HF_START(hf_timeline_remove_many_start, hf_bytes key, const hf_bytes *ids,
         size_t count, hf_status *statuses);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_TIMELINE_H */
