/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/set.h - sets: members without order, each with its own expiry.
 *
 * Contents:
 * - hf_set_add(), hf_set_remove(), hf_set_expire()
 * - hf_set_has(), hf_set_has_members(), hf_set_count()
 * - hf_set_page(), hf_set_members_free()
 *
 * Each but the last has a `_start` form.
 *
 * A member that has expired is never returned nor counted; each write removes
 * up to 16 of them, hf_set_add() 16 more than it is given members, so that they
 * do not pile up. A member without a time to live stays until it is removed.
 * hf_key_delete() removes a whole set.
 *
 * The key is gone once its last member is removed. While members have a time to
 * live, it expires by itself only if all that were added here have one, and not
 * before any of them: a longer one extends its expiry, also one that
 * hf_key_expire() has set, and a member without one removes it. An expiry that
 * hf_key_expire() sets while no member has a time to live stays; but once
 * members have been given one, the write after which none has one any more
 * removes the expiry, too. Where members without one were removed, or were
 * given one, the key expires by itself again after the next write that finds
 * none of them, and at most 100 that have one; members of a larger set that
 * expire stay stored until writes remove them.
 *
 * @code
 * hf_status seen(hf_client *c, hf_bytes user, size_t *count, hf_error *err)
 * {
 *     hf_bytes online = hf_str("online");
 *     hf_set_add_options opts = HF_SET_ADD_OPTIONS_INIT;
 *     hf_status status;
 *
 *     opts.ttl_ms = 60000; // from now: adding it again renews it
 *     status = hf_set_add(c, online, &user, 1, &opts, NULL, err);
 *     if (status == HF_OK)
 *         status = hf_set_count(c, online, count, err);
 *     return status;
 * }
 * @endcode
 *
 * The key is a set of the store, so that SADD or SISMEMBER of other programs
 * can be used on it too. What they add has no time to live, and goes with the
 * key: hf_set_add() of the member makes it stay. They see members that have
 * expired until these are removed. Members are to be removed by
 * hf_set_remove(): one that SREM has removed keeps its time, which is that of a
 * member of the same name that SADD adds; after a DEL of the key the times of
 * its members stay, perhaps in a key that never expires, until the next write
 * here. The expiry of the key is to be changed by hf_key_expire(): after
 * PERSIST or PEXPIRE of another program members that have expired may return.
 */
#ifndef HOLDFAST_SET_H
#define HOLDFAST_SET_H

#include "holdfast/value.h" /* HF_SET_NX, HF_SET_XX, HF_SET_KEEPTTL */

#ifdef __cplusplus
extern "C" {
#endif

/** Longest member of a set or a rank, bytes. */
#define HF_MEMBER_MAX 4096
/** Most members of one call. */
#define HF_MEMBER_COUNT_MAX 1000

/** Options of hf_set_add(). */
typedef struct hf_set_add_options {
    size_t struct_size; /**< #HF_SET_ADD_OPTIONS_INIT sets it */
    /** HF_SET_NX: only members that are not there. HF_SET_XX: only those that
     *  are. HF_SET_KEEPTTL: only new members get ttl_ms, the others keep
     *  theirs. NX excludes both. */
    uint32_t flags;
    uint32_t reserved0; /**< must be 0 */
    /** Time to live of the members, ms, 1..#HF_TTL_MAX_MS; 0: a member that is
     *  there keeps its own, a new one does not expire. */
    int64_t ttl_ms;
} hf_set_add_options;

/* clang-format off */
#define HF_SET_ADD_OPTIONS_INIT { sizeof(hf_set_add_options), 0, 0, 0 }
/* clang-format on */

/**
 * Add members, and set their time to live, in one step.
 *
 * @param key      the set
 * @param members  `count` members, each of 1..#HF_MEMBER_MAX bytes
 * @param count    1..#HF_MEMBER_COUNT_MAX
 * @param opts     NULL: they do not expire, unless they are there and do
 * @param added    [out] how many of them are new; may be NULL
 *
 * @retval HF_OK          the members that the flags allow are there
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_set_add(hf_client *client, hf_bytes key,
                                        const hf_bytes *members, size_t count,
                                        const hf_set_add_options *opts,
                                        size_t *added, hf_error *err);

/**
 * Remove members.
 *
 * @param key      the set
 * @param members  `count` members
 * @param count    1..#HF_MEMBER_COUNT_MAX
 * @param removed  [out] how many of them were there; may be NULL
 *
 * @retval HF_OK          none of them is there
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_set_remove(hf_client *client, hf_bytes key,
                                           const hf_bytes *members,
                                           size_t count, size_t *removed,
                                           hf_error *err);

/**
 * Is a member there, and for how long?
 *
 * @param key     the set
 * @param member  1..#HF_MEMBER_MAX bytes
 * @param ttl_ms  [out] its remaining time to live, ms, at least 1; -1: it does
 *                not expire; may be NULL
 *
 * @retval HF_OK          it is
 * @retval HF_NOT_FOUND   no such member, or it has expired
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_set_has(hf_client *client, hf_bytes key,
                                        hf_bytes member, int64_t *ttl_ms,
                                        hf_error *err);

/**
 * Which of some members are there, and for how long, at one instant?
 *
 * @param key      the set
 * @param members  `count` members
 * @param count    1..#HF_MEMBER_COUNT_MAX
 * @param ttls_ms  [out] `count` of them: as of hf_set_has(); -2: no such member
 *
 * @retval HF_OK          all are set
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_set_has_members(hf_client *client, hf_bytes key,
                                                const hf_bytes *members,
                                                size_t count, int64_t *ttls_ms,
                                                hf_error *err);

/**
 * Count the members that have not expired. It looks at each that has expired
 * and is not yet removed, of which SREM may have removed some: a million takes
 * about a second, in which a server serves no one else.
 *
 * @param key    the set
 * @param count  [out] how many there are; 0: no such key
 *
 * @retval HF_OK          `*count` is set
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_set_count(hf_client *client, hf_bytes key,
                                          size_t *count, hf_error *err);

/**
 * Set or remove the time to live of members.
 *
 * @param key      the set
 * @param ttl_ms   1..#HF_TTL_MAX_MS from now by the store's clock; -1: they no
 *                 longer expire
 * @param members  `count` members
 * @param count    1..#HF_MEMBER_COUNT_MAX
 * @param found    [out] how many of them are there, and so have the new time to
 *                 live; may be NULL
 *
 * @retval HF_OK          done
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_set_expire(hf_client *client, hf_bytes key,
                                           int64_t ttl_ms,
                                           const hf_bytes *members,
                                           size_t count, size_t *found,
                                           hf_error *err);

/** A member, as it is read. */
typedef struct hf_set_member {
    hf_bytes member;
    int64_t ttl_ms; /**< ms to live, at least 1; -1: it does not expire */
} hf_set_member;

/** Members, owned by the caller; free with hf_set_members_free(). */
typedef struct hf_set_members {
    hf_set_member *items; /**< in no particular order */
    size_t count;
    hf_bytes next; /**< where the next page begins; size 0: there is none */
} hf_set_members;

/* clang-format off */
#define HF_SET_MEMBERS_INIT { NULL, 0, { NULL, 0 } }
/* clang-format on */

/**
 * Free what was read, and reset it.
 *
 * @param members  may be NULL
 */
HF_API void hf_set_members_free(hf_set_members *members);

/**
 * Read members. A member that is there from the first page to the last is
 * returned at least once, one that is added or removed meanwhile perhaps.
 *
 * @param key     the set
 * @param cursor  hf_set_members::next of the page before; size 0: the first
 *                page
 * @param limit   about how many, 1..#HF_MEMBER_COUNT_MAX; 0: 100. A page may
 *                have more, of a small set all; or fewer or none although
 *                others follow, where members have expired
 * @param page    [out] the members; free them with hf_set_members_free()
 *
 * @retval HF_OK          `*page` is set
 * @retval HF_WRONG_TYPE  the key holds something else
 */
HF_API HF_MUST_USE hf_status hf_set_page(hf_client *client, hf_bytes key,
                                         hf_bytes cursor, size_t limit,
                                         hf_set_members *page, hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START(hf_set_add_start, hf_bytes key, const hf_bytes *members, size_t count,
         const hf_set_add_options *opts, size_t *added);
HF_START(hf_set_remove_start, hf_bytes key, const hf_bytes *members,
         size_t count, size_t *removed);
HF_START(hf_set_has_start, hf_bytes key, hf_bytes member, int64_t *ttl_ms);
HF_START(hf_set_has_members_start, hf_bytes key, const hf_bytes *members,
         size_t count, int64_t *ttls_ms);
HF_START(hf_set_count_start, hf_bytes key, size_t *count);
HF_START(hf_set_expire_start, hf_bytes key, int64_t ttl_ms,
         const hf_bytes *members, size_t count, size_t *found);
HF_START(hf_set_page_start, hf_bytes key, hf_bytes cursor, size_t limit,
         hf_set_members *page);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_SET_H */
