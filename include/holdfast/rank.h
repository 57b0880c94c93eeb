/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/rank.h - ranks: members ordered by a score, each with its own
 * expiry. A leaderboard.
 *
 * Contents:
 * - hf_rank_add(), hf_rank_increment()
 * - hf_rank_get(): the score and the rank of a member
 * - hf_rank_page(), hf_rank_around(), hf_rank_members_free()
 * - hf_rank_count()
 * - hf_rank_remove(), hf_rank_trim(), hf_rank_expire()
 * - hf_rank_add_many()
 *
 * Each but hf_rank_members_free() has a `_start` form.
 *
 * Rank 0 is the **top**, the member with the greatest score; members of the
 * same score are ordered by their bytes, the greatest first, as by ZREVRANK of
 * Redis. A score is a finite double.
 *
 * A member that has expired is never returned, counted nor ranked; each write
 * removes up to 16 of them. A member without a time to live stays until it is
 * removed. hf_key_delete() removes a whole rank. When the key itself expires is
 * as for a set: see set.h, also for what other programs may do.
 *
 * Reading passes over members that have expired and are not yet removed. Where
 * there are 100 or more of them, hf_rank_get(), page, around, count, and an add
 * or increment that asks for the place first remove them, 1000 with each
 * request, so that other clients are not kept waiting. Only then does reading
 * write: a user of a server who may only read is HF_DENIED. The `_start` forms,
 * which are one request, pass over fewer than 1000; with more, they are
 * HF_UNAVAILABLE and nothing is done, in a transaction nothing of all of it:
 * call hf_rank_trim().
 *
 * A rank costs O(log members) on every store. In a key that an earlier version
 * wrote to an embedded store it costs O(members) until each of some changes has
 * counted 2048 members; they begin once no program of such a version has the
 * store open.
 *
 * @code
 * hf_status score(hf_client *client, hf_bytes player, double points,
 *                 hf_rank_place *place, hf_error *err)
 * {
 *     hf_rank_add_options opts = HF_RANK_ADD_OPTIONS_INIT;
 *
 *     opts.ttl_ms = 7 * 86400000; // a player who does not play for a week
 *     return hf_rank_increment(client, hf_str("players"), player, points,
 * &opts, place, err);
 * }
 * @endcode
 *
 * A timeline and a work queue are sorted sets too: each write here is
 * HF_WRONG_TYPE on one, as each of timeline.h is on a rank. Reading does not
 * tell: hf_rank_page() of a timeline has its items by their times, of a
 * semaphore those who hold it.
 *
 * The key is a sorted set of the store, so that ZADD or ZRANGE of other
 * programs can be used on it too: what they add has no time to live and goes
 * with the key, and they see members that have expired until these are removed.
 * Members are to be removed by hf_rank_remove(): one that ZREM has removed
 * keeps its time, which is that of a member of the same name that ZADD adds.
 */
#ifndef HOLDFAST_RANK_H
#define HOLDFAST_RANK_H

#include "holdfast/set.h" /* HF_MEMBER_MAX, HF_MEMBER_COUNT_MAX */

#ifdef __cplusplus
extern "C" {
#endif

/** Most members of a page, and most on each side of hf_rank_around(). */
#define HF_RANK_LIMIT_MAX 1000
/** Most members that a page may skip by its offset. */
#define HF_RANK_OFFSET_MAX 1000000000

/** Flags of hf_rank_add() and hf_rank_increment(). NX excludes the others, GT
 *  excludes LT. */
enum {
    HF_RANK_NX = 1u << 0,      /**< only if the member is not there */
    HF_RANK_XX = 1u << 1,      /**< only if it is there */
    HF_RANK_KEEPTTL = 1u << 2, /**< one that is there keeps its time to live */
    HF_RANK_GT =
        1u << 3,         /**< only if its score becomes greater, or it is new */
    HF_RANK_LT = 1u << 4 /**< only if its score becomes less, or it is new */
};

/** Options of hf_rank_add() and hf_rank_increment(). */
typedef struct hf_rank_add_options {
    size_t struct_size; /**< #HF_RANK_ADD_OPTIONS_INIT sets it */
    uint32_t flags;     /**< HF_RANK_* bits */
    uint32_t reserved0; /**< must be 0 */
    /** Time to live of the member, ms, 1..#HF_TTL_MAX_MS; 0: a member that is
     *  there keeps its own, a new one does not expire. */
    int64_t ttl_ms;
} hf_rank_add_options;

/* clang-format off */
#define HF_RANK_ADD_OPTIONS_INIT { sizeof(hf_rank_add_options), 0, 0, 0 }
/* clang-format on */

/** Where a member is. */
typedef struct hf_rank_place {
    double score;
    size_t rank;  /**< 0: the top; from the bottom it is count - 1 - rank */
    size_t count; /**< of all members, at least 1 */
} hf_rank_place;

/**
 * Give a member a score, and set its time to live, in one step.
 *
 * @param key     the rank
 * @param member  1..#HF_MEMBER_MAX bytes
 * @param score   finite; -0 is stored as 0
 * @param opts    NULL: it does not expire, unless it is there and does
 * @param place   [out] where it is now; NULL: not wanted, which costs less
 *
 * @retval HF_OK           it has the score
 * @retval HF_CONFLICT     refused by HF_RANK_NX, GT or LT
 * @retval HF_NOT_FOUND    HF_RANK_XX, and there is no such member
 * @retval HF_HELD         the key is a read-write lock or a semaphore that is
 *                         held, or a barrier at which parties wait
 * @retval HF_WRONG_TYPE   the key holds something else
 * @retval HF_UNAVAILABLE  also: see above
 */
HF_API HF_MUST_USE hf_status hf_rank_add(hf_client *client, hf_bytes key,
                                         hf_bytes member, double score,
                                         const hf_rank_add_options *opts,
                                         hf_rank_place *place, hf_error *err);

/**
 * Add to the score of a member; that of a new one is 0 before.
 *
 * @param key     the rank
 * @param member  1..#HF_MEMBER_MAX bytes
 * @param delta   finite; may be negative
 * @param opts    as for hf_rank_add()
 * @param place   [out] where it is now, with its new score; NULL: not wanted
 *
 * @retval HF_OK  done; the others as of hf_rank_add()
 * @retval HF_INVALID  also: the sum would be infinite
 */
HF_API HF_MUST_USE hf_status hf_rank_increment(hf_client *client, hf_bytes key,
                                               hf_bytes member, double delta,
                                               const hf_rank_add_options *opts,
                                               hf_rank_place *place,
                                               hf_error *err);

/**
 * Read a member.
 *
 * @param key     the rank
 * @param member  1..#HF_MEMBER_MAX bytes
 * @param place   [out] its score and rank; may be NULL
 * @param ttl_ms  [out] its remaining time to live, ms, at least 1; -1: it does
 *                not expire; may be NULL
 *
 * @retval HF_OK           it is there
 * @retval HF_NOT_FOUND    no such member, or it has expired
 * @retval HF_WRONG_TYPE   the key holds something else
 * @retval HF_UNAVAILABLE  also: see above
 */
HF_API HF_MUST_USE hf_status hf_rank_get(hf_client *client, hf_bytes key,
                                         hf_bytes member, hf_rank_place *place,
                                         int64_t *ttl_ms, hf_error *err);

/** A member, as it is read. */
typedef struct hf_rank_member {
    hf_bytes member;
    double score;
    size_t rank;    /**< in the order of the page: 0 is the first of all */
    int64_t ttl_ms; /**< ms to live, at least 1; -1: it does not expire */
} hf_rank_member;

/** Members, owned by the caller; free with hf_rank_members_free(). */
typedef struct hf_rank_members {
    hf_rank_member *items;
    size_t count;
} hf_rank_members;

/* clang-format off */
#define HF_RANK_MEMBERS_INIT { NULL, 0 }
/* clang-format on */

/**
 * Free what was read, and reset it.
 *
 * @param members  may be NULL
 */
HF_API void hf_rank_members_free(hf_rank_members *members);

/** Flags of hf_rank_page() and hf_rank_around(). */
enum {
    /** From the bottom: the least score first. Without it the greatest. */
    HF_RANK_ASCENDING = 1u << 0
};

/**
 * Read members in the order of their scores.
 *
 * @param key     the rank
 * @param offset  members to skip, 0..#HF_RANK_OFFSET_MAX
 * @param limit   most members, 1..#HF_RANK_LIMIT_MAX; 0: 20
 * @param flags   0: the top members, or #HF_RANK_ASCENDING
 * @param page    [out] the members, perhaps none; free them with
 *                hf_rank_members_free()
 *
 * @retval HF_OK           `*page` is set
 * @retval HF_WRONG_TYPE   the key holds something else
 * @retval HF_UNAVAILABLE  also: see above
 */
HF_API HF_MUST_USE hf_status hf_rank_page(hf_client *client, hf_bytes key,
                                          size_t offset, size_t limit,
                                          uint32_t flags, hf_rank_members *page,
                                          hf_error *err);

/**
 * Read a member and those around it.
 *
 * @param key     the rank
 * @param member  1..#HF_MEMBER_MAX bytes
 * @param each    most members on each side of it, 0..#HF_RANK_LIMIT_MAX
 * @param flags   0, or #HF_RANK_ASCENDING: the order of the page
 * @param page    [out] the members, at least the one; free them with
 *                hf_rank_members_free()
 *
 * @retval HF_OK           `*page` is set
 * @retval HF_NOT_FOUND    no such member, or it has expired
 * @retval HF_WRONG_TYPE   the key holds something else
 * @retval HF_UNAVAILABLE  also: see above
 */
HF_API HF_MUST_USE hf_status hf_rank_around(hf_client *client, hf_bytes key,
                                            hf_bytes member, size_t each,
                                            uint32_t flags,
                                            hf_rank_members *page,
                                            hf_error *err);

/**
 * Count the members, or those whose score is in a range.
 *
 * @param key    the rank
 * @param min    least score, included; NULL: no limit
 * @param max    greatest score, included; NULL: no limit
 * @param count  [out] how many there are; 0: no such key
 *
 * @retval HF_OK           `*count` is set
 * @retval HF_WRONG_TYPE   the key holds something else
 * @retval HF_UNAVAILABLE  also: see above
 */
HF_API HF_MUST_USE hf_status hf_rank_count(hf_client *client, hf_bytes key,
                                           const double *min, const double *max,
                                           size_t *count, hf_error *err);

/**
 * Remove members.
 *
 * @param key      the rank
 * @param members  `count` members
 * @param count    1..#HF_MEMBER_COUNT_MAX
 * @param removed  [out] how many of them were there; may be NULL
 *
 * @retval HF_OK          none of them is there
 * @retval HF_HELD        the key is a read-write lock or a semaphore that is
 *                        held, or a barrier at which parties wait
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_rank_remove(hf_client *client, hf_bytes key,
                                            const hf_bytes *members,
                                            size_t count, size_t *removed,
                                            hf_error *err);

/** Most members that one hf_rank_trim() removes. */
#define HF_RANK_TRIM_MAX 1000

/** What hf_rank_trim() did. */
typedef struct hf_rank_trimmed {
    size_t removed; /**< members, 0..#HF_RANK_TRIM_MAX; not those that had
                         expired */
    bool more;      /**< not all were removed; call it again */
} hf_rank_trimmed;

/**
 * Remove members that have expired, then the lowest ranks, of each at most
 * #HF_RANK_TRIM_MAX in one call.
 *
 * @param key      the rank
 * @param keep     how many of the top members may remain, 0 or more; -1: all
 * @param trimmed  [out] what was removed
 *
 * @retval HF_OK          `*trimmed` is set
 * @retval HF_HELD        the key is a read-write lock or a semaphore that is
 *                        held, or a barrier at which parties wait
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_rank_trim(hf_client *client, hf_bytes key,
                                          int64_t keep,
                                          hf_rank_trimmed *trimmed,
                                          hf_error *err);

/**
 * Set or remove the time to live of a member.
 *
 * @param key     the rank
 * @param member  1..#HF_MEMBER_MAX bytes
 * @param ttl_ms  1..#HF_TTL_MAX_MS from now by the store's clock; -1: it no
 *                longer expires
 *
 * @retval HF_OK          done
 * @retval HF_NOT_FOUND   no such member, or it has expired
 * @retval HF_HELD        the key is a read-write lock or a semaphore that is
 *                        held, or a barrier at which parties wait
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_rank_expire(hf_client *client, hf_bytes key,
                                            hf_bytes member, int64_t ttl_ms,
                                            hf_error *err);

/** An item of hf_rank_add_many(); see hf_rank_add(). */
typedef struct hf_rank_add_item {
    hf_bytes member;
    double score;
} hf_rank_add_item;

/**
 * Add many members to a rank, each as by hf_rank_add().
 *
 * @param key       the rank
 * @param items     `count` of them
 * @param count     any number
 * @param opts      for all of them; NULL for defaults
 * @param statuses  [out] `count` statuses
 *
 * @retval HF_OK  see "Batch calls" in base.h
 */
HF_API HF_MUST_USE hf_status hf_rank_add_many(hf_client *client, hf_bytes key,
                                              const hf_rank_add_item *items,
                                              size_t count,
                                              const hf_rank_add_options *opts,
                                              hf_status *statuses,
                                              hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START(hf_rank_add_start, hf_bytes key, hf_bytes member, double score,
         const hf_rank_add_options *opts, hf_rank_place *place);
HF_START(hf_rank_increment_start, hf_bytes key, hf_bytes member, double delta,
         const hf_rank_add_options *opts, hf_rank_place *place);
HF_START(hf_rank_get_start, hf_bytes key, hf_bytes member, hf_rank_place *place,
         int64_t *ttl_ms);
HF_START(hf_rank_page_start, hf_bytes key, size_t offset, size_t limit,
         uint32_t flags, hf_rank_members *page);
HF_START(hf_rank_around_start, hf_bytes key, hf_bytes member, size_t each,
         uint32_t flags, hf_rank_members *page);
HF_START(hf_rank_count_start, hf_bytes key, const double *min,
         const double *max, size_t *count);
HF_START(hf_rank_remove_start, hf_bytes key, const hf_bytes *members,
         size_t count, size_t *removed);
HF_START(hf_rank_trim_start, hf_bytes key, int64_t keep,
         hf_rank_trimmed *trimmed);
HF_START(hf_rank_expire_start, hf_bytes key, hf_bytes member, int64_t ttl_ms);
HF_START(hf_rank_add_many_start, hf_bytes key, const hf_rank_add_item *items,
         size_t count, const hf_rank_add_options *opts, hf_status *statuses);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_RANK_H */
