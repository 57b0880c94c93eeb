/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shapes.c - the shape of each script's reply, as its header's `Returns` says.
 * A script without a shape does not link.
 */
#include "script/script.h"

#define SHAPE_OF(script, ...) const hf__shape hf__shape_##script = __VA_ARGS__

#define NUMBER HF__SHAPE_INTEGER
#define STRING HF__SHAPE_KIND(HF__IS_STRING)
#define COUNT NUMBER(0, INT64_MAX)
#define PTTL NUMBER(-2, INT64_MAX)

/* ------------------------------------------------------------------- locks */

/* {pttl, owner, since} and, if it was queued, its position. */
static const hf__shape refusal_items[] = {PTTL, STRING, COUNT, COUNT};
static const hf__shape refusal = HF__SHAPE_TUPLE(refusal_items, 3);

SHAPE_OF(lock_acquire, {.kinds = HF__IS_INTEGER,
                        .low = 1,
                        .high = HF__TOKEN_MAX,
                        .otherwise = &refusal});

static const hf__shape inspect_items[] = {
    HF__SHAPE_KIND(HF__IS_STRING | HF__IS_NIL),
    PTTL,
    HF__SHAPE_KIND(HF__IS_STRING | HF__IS_NIL),
    COUNT,
    NUMBER(-1, INT64_MAX),
    COUNT,
    NUMBER(0, 2),
    STRING,
    NUMBER(1, 1)};
SHAPE_OF(lock_inspect, HF__SHAPE_TUPLE(inspect_items, 4));

/* {i, why, ...} */
static const hf__shape renew_items[] = {NUMBER(1, HF__KEY_COUNT),
                                        NUMBER(-1, 0)};
/* {taken, token} */
static const hf__shape all_items[] = {NUMBER(0, HF__KEY_COUNT),
                                      NUMBER(0, HF__TOKEN_MAX - 1)};
SHAPE_OF(lock_acquire_all, HF__SHAPE_TUPLE(all_items, 2));

SHAPE_OF(lock_adopt, HF__SHAPE_LIST(renew_items));
SHAPE_OF(lock_renew, HF__SHAPE_LIST(renew_items));

/* Or a grant. */
#define RELEASED                                                               \
    {                                                                          \
        .kinds = HF__IS_INTEGER | HF__IS_STRING, .low = -1, .high = 2          \
    }

SHAPE_OF(lock_break, NUMBER(0, 1));
SHAPE_OF(redisson_break, NUMBER(0, 1));
SHAPE_OF(lock_confirm, NUMBER(0, 1));
SHAPE_OF(lock_undo, NUMBER(-1, 1));
SHAPE_OF(lock_notify, NUMBER(1, 1));
SHAPE_OF(lock_release, RELEASED);
SHAPE_OF(token_raise, NUMBER(0, 1));

SHAPE_OF(semaphore_adopt, HF__SHAPE_LIST(renew_items));
SHAPE_OF(redisson_acquire, {.kinds = HF__IS_INTEGER,
                            .low = 1,
                            .high = HF__TOKEN_MAX,
                            .otherwise = &refusal});
#define TOKEN_OR_REFUSAL                                                       \
    {                                                                          \
        .kinds = HF__IS_INTEGER, .low = 1, .high = HF__TOKEN_MAX,              \
        .otherwise = &refusal                                                  \
    }
SHAPE_OF(redisson_fair_acquire, TOKEN_OR_REFUSAL);
SHAPE_OF(redisson_fair_release, NUMBER(-1, 1));
SHAPE_OF(redisson_read_acquire, TOKEN_OR_REFUSAL);
SHAPE_OF(redisson_read_release, NUMBER(-1, INT64_MAX));
SHAPE_OF(redisson_write_acquire, TOKEN_OR_REFUSAL);
SHAPE_OF(redisson_write_release, NUMBER(-1, INT64_MAX));
SHAPE_OF(redisson_permit_acquire, TOKEN_OR_REFUSAL);
SHAPE_OF(redisson_permit_renew, HF__SHAPE_LIST(renew_items));
SHAPE_OF(redisson_permit_release, NUMBER(0, INT64_MAX));
SHAPE_OF(redisson_count_set, NUMBER(0, 1));
SHAPE_OF(redisson_count_set_once, NUMBER(-1, 1));
SHAPE_OF(redisson_count_read, NUMBER(-HF__TOKEN_MAX, HF__TOKEN_MAX));
SHAPE_OF(redisson_latch_arrive, NUMBER(0, 1));
SHAPE_OF(redisson_latch_arrive_once, NUMBER(-1, 1));
SHAPE_OF(redisson_semaphore_acquire, NUMBER(0, 1));
SHAPE_OF(redisson_semaphore_release, NUMBER(1, INT64_MAX));
SHAPE_OF(redisson_semaphore_release_once, NUMBER(-1, INT64_MAX));
SHAPE_OF(redisson_release, NUMBER(-1, INT64_MAX));
SHAPE_OF(redisson_renew, HF__SHAPE_LIST(renew_items));

SHAPE_OF(semaphore_acquire, {.kinds = HF__IS_INTEGER,
                             .low = 1,
                             .high = HF__TOKEN_MAX,
                             .otherwise = &refusal});
SHAPE_OF(semaphore_renew, HF__SHAPE_LIST(renew_items));
SHAPE_OF(semaphore_release, RELEASED);
SHAPE_OF(semaphore_resize, NUMBER(0, 1));
static const hf__shape permit_items[] = {COUNT, COUNT, COUNT, COUNT};
SHAPE_OF(semaphore_inspect, HF__SHAPE_TUPLE(permit_items, 4));

/* {token, id, payload, taken, at most, order, put, group} */
#define JOB STRING, STRING, COUNT, COUNT, COUNT, COUNT, STRING
static const hf__shape taken_items[] = {NUMBER(1, HF__TOKEN_MAX), JOB};
static const hf__shape job_items[] = {JOB};
SHAPE_OF(queue_list, HF__SHAPE_LIST(job_items));
SHAPE_OF(queue_pause, NUMBER(0, 1));
SHAPE_OF(queue_drop, NUMBER(-1, 1));
SHAPE_OF(queue_revive, NUMBER(0, 1000)); /* HF_QUEUE_LIST_MAX */
SHAPE_OF(queue_take, {.kinds = HF__IS_ARRAY,
                      .items = taken_items,
                      .item_count = 8,
                      .count_min = 8,
                      .otherwise = &refusal});
SHAPE_OF(queue_release, NUMBER(0, 1));
SHAPE_OF(queue_put, NUMBER(0, 1));
SHAPE_OF(queue_put_once, NUMBER(-1, 1));
static const hf__shape queue_items[] = {COUNT, COUNT, COUNT, COUNT,
                                        COUNT, COUNT, COUNT, NUMBER(0, 1)};
SHAPE_OF(queue_inspect, HF__SHAPE_TUPLE(queue_items, 8));

SHAPE_OF(rwlock_acquire, {.kinds = HF__IS_INTEGER,
                          .low = 1,
                          .high = HF__TOKEN_MAX,
                          .otherwise = &refusal});
SHAPE_OF(rwlock_renew, HF__SHAPE_LIST(renew_items));
SHAPE_OF(rwlock_release, RELEASED);
SHAPE_OF(rwlock_downgrade, NUMBER(-1, 1));

/* {owner, remaining, permits, token, ...} */
static const hf__shape holder_items[] = {STRING, PTTL, NUMBER(1, INT64_MAX),
                                         STRING};
SHAPE_OF(lock_holders, HF__SHAPE_LIST(holder_items));
SHAPE_OF(lock_list, HF__SHAPE_LIST(holder_items));

SHAPE_OF(election_acquire, {.kinds = HF__IS_INTEGER,
                            .low = 1,
                            .high = HF__TOKEN_MAX,
                            .otherwise = &refusal});
SHAPE_OF(election_renew, HF__SHAPE_LIST(renew_items));
SHAPE_OF(election_release, RELEASED);
SHAPE_OF(election_proclaim, NUMBER(-1, 1));
static const hf__shape leader_items[] = {PTTL, COUNT, STRING,
                                         HF__SHAPE_KIND(HF__IS_DIGITS), STRING};
static const hf__shape no_leader = {.kinds = HF__IS_ARRAY,
                                    .items = leader_items,
                                    .item_count = 2,
                                    .count_min = 2};
SHAPE_OF(election_inspect, {.kinds = HF__IS_ARRAY,
                            .items = leader_items,
                            .item_count = 5,
                            .count_min = 5,
                            .otherwise = &no_leader});

/* A refusal, or a negative number for what it is instead. */
static const hf__shape unclaimed_items[] = {
    NUMBER(-5, INT64_MAX), STRING, NUMBER(INT32_MIN, INT64_MAX), COUNT};
static const hf__shape unclaimed = HF__SHAPE_TUPLE(unclaimed_items, 3);
SHAPE_OF(once_acquire, {.kinds = HF__IS_INTEGER,
                        .low = 1,
                        .high = HF__TOKEN_MAX,
                        .otherwise = &unclaimed});
SHAPE_OF(once_renew, HF__SHAPE_LIST(renew_items));
SHAPE_OF(once_release, NUMBER(-1, 1));
SHAPE_OF(once_complete, NUMBER(-1, 1));
SHAPE_OF(once_delete, NUMBER(0, 1));
#define DIGITS HF__SHAPE_KIND(HF__IS_DIGITS)
static const hf__shape once_items[] = {NUMBER(0, 3), PTTL,   COUNT,  DIGITS,
                                       STRING,       DIGITS, STRING, STRING};
SHAPE_OF(once_inspect, HF__SHAPE_TUPLE(once_items, 8));

static const hf__shape find_items[] = {
    HF__SHAPE_KIND(HF__IS_STRING | HF__IS_NIL), COUNT};
SHAPE_OF(client_find, HF__SHAPE_TUPLE(find_items, 2));
SHAPE_OF(client_register, NUMBER(1, 1));

/* --------------------------------------------------------- values, hashes */

/* 1 or 0, else the current value; of a twin also -1. */
#define COMPARED(least)                                                        \
    {                                                                          \
        .kinds = HF__IS_INTEGER | HF__IS_STRING, .low = (least), .high = 1     \
    }

SHAPE_OF(value_cas, COMPARED(0));
SHAPE_OF(value_cas_once, COMPARED(-1));
static const hf__shape add_items[] = {NUMBER(0, 1), STRING};
SHAPE_OF(value_add, HF__SHAPE_TUPLE(add_items, 2));
SHAPE_OF(hash_add, HF__SHAPE_TUPLE(add_items, 2));
SHAPE_OF(value_delete, NUMBER(-1, 1));
SHAPE_OF(value_delete_if, COMPARED(0));
SHAPE_OF(value_delete_if_once, COMPARED(-1));
SHAPE_OF(value_cas_versioned, COMPARED(0));
SHAPE_OF(value_cas_versioned_once, COMPARED(-1));
SHAPE_OF(value_delete_versioned, COMPARED(0));
SHAPE_OF(value_delete_versioned_once, COMPARED(-1));
SHAPE_OF(value_expire_if, COMPARED(0));
SHAPE_OF(value_expire_if_once, COMPARED(-1));
SHAPE_OF(hash_cas, COMPARED(0));
SHAPE_OF(hash_cas_once, COMPARED(-1));
SHAPE_OF(hash_delete, NUMBER(0, 1));
SHAPE_OF(hash_put, NUMBER(0, 1));
SHAPE_OF(hash_put_fenced, NUMBER(0, HF__TOKEN_MAX));
SHAPE_OF(value_put_fenced, NUMBER(0, HF__TOKEN_MAX));

static const hf__shape revised_items[] = {NUMBER(0, 1),
                                          NUMBER(0, HF__TOKEN_MAX - 1)};
SHAPE_OF(value_put_revised, HF__SHAPE_TUPLE(revised_items, 2));
SHAPE_OF(value_delete_revised, HF__SHAPE_TUPLE(revised_items, 2));
static const hf__shape revision_items[] = {NUMBER(1, HF__TOKEN_MAX - 1),
                                           STRING};
SHAPE_OF(value_get_revised, {.kinds = HF__IS_INTEGER | HF__IS_ARRAY,
                             .low = 0,
                             .high = 0,
                             .items = revision_items,
                             .item_count = 2,
                             .count_min = 2});

/* When the next expires, then {name, revision, ...}. */
static const hf__shape change_items[] = {STRING, DIGITS};
static const hf__shape changes_items[] = {NUMBER(-1, INT64_MAX),
                                          {.kinds = HF__IS_ARRAY,
                                           .items = change_items,
                                           .item_count = 2,
                                           .repeated = 2,
                                           .count_min = 0}};
SHAPE_OF(value_changes, HF__SHAPE_TUPLE(changes_items, 2));

/* --------------------------------------------------------------- timelines */

/* A cursor, a count of items that are due, then {id, time, time to live,
 * payload, attributes} of each item. */
static const hf__shape timeline_items[] = {
    STRING, COUNT, STRING, COUNT, NUMBER(1, INT64_MAX), STRING, STRING};
#define TIMELINE_ITEMS                                                         \
    {                                                                          \
        .kinds = HF__IS_ARRAY, .items = timeline_items, .item_count = 7,       \
        .repeated = 5, .count_min = 2                                          \
    }

SHAPE_OF(timeline_add, NUMBER(0, 1));
SHAPE_OF(timeline_count, COUNT);
static const hf__shape matching_items[] = {STRING, COUNT};
SHAPE_OF(timeline_count_matching, HF__SHAPE_TUPLE(matching_items, 2));
SHAPE_OF(timeline_delete, NUMBER(0, 1));
SHAPE_OF(timeline_get, TIMELINE_ITEMS);
SHAPE_OF(timeline_page, TIMELINE_ITEMS);
SHAPE_OF(timeline_remove, NUMBER(0, 1));
static const hf__shape trim_items[] = {NUMBER(0, 1000), NUMBER(0, 1)};
SHAPE_OF(timeline_trim, HF__SHAPE_TUPLE(trim_items, 2));
SHAPE_OF(timeline_update, NUMBER(0, 1));

/* -------------------------------------------------------------------- sets */

SHAPE_OF(set_add, NUMBER(0, 1000));
SHAPE_OF(set_count, COUNT);
SHAPE_OF(set_expire, NUMBER(0, 1000));
/* A cursor, then {member, time to live} of each. */
static const hf__shape set_page_items[] = {STRING, STRING,
                                           NUMBER(-1, INT64_MAX)};
SHAPE_OF(set_page, {.kinds = HF__IS_ARRAY,
                    .items = set_page_items,
                    .item_count = 3,
                    .repeated = 2,
                    .count_min = 1});
SHAPE_OF(set_remove, NUMBER(0, 1000));
static const hf__shape set_ttls[] = {PTTL};
SHAPE_OF(set_ttl, HF__SHAPE_LIST(set_ttls));

/* ------------------------------------------------------------------- ranks */

#define MEMBER_TTL NUMBER(-1, INT64_MAX)

/* {1, rank, members, score}, or why not. */
static const hf__shape refused_items[] = {NUMBER(-2, 0)};
static const hf__shape not_added = HF__SHAPE_TUPLE(refused_items, 1);
static const hf__shape added_items[] = {NUMBER(1, 1), COUNT, COUNT, STRING};
SHAPE_OF(rank_add, {.kinds = HF__IS_ARRAY,
                    .items = added_items,
                    .item_count = 4,
                    .count_min = 4,
                    .otherwise = &not_added});
SHAPE_OF(rank_count, COUNT);
SHAPE_OF(rank_expire, NUMBER(0, 1));
static const hf__shape place_items[] = {COUNT, COUNT, MEMBER_TTL, STRING};
SHAPE_OF(rank_get, {.kinds = HF__IS_INTEGER | HF__IS_ARRAY,
                    .low = 0,
                    .high = 0,
                    .items = place_items,
                    .item_count = 4,
                    .count_min = 4});
/* The rank of the first, then {member, time to live, score} of each. */
static const hf__shape ranked_items[] = {COUNT, STRING, MEMBER_TTL, STRING};
SHAPE_OF(rank_page, {.kinds = HF__IS_INTEGER | HF__IS_ARRAY,
                     .low = 0,
                     .high = 0,
                     .items = ranked_items,
                     .item_count = 4,
                     .repeated = 3,
                     .count_min = 1});
SHAPE_OF(rank_remove, NUMBER(0, 1000));
SHAPE_OF(rank_trim, HF__SHAPE_TUPLE(trim_items, 2));

/* ------------------------------------------------------------------- cache */

/* {state, clock}, then versions, or pttl. */
static const hf__shape leased_items[] = {NUMBER(0, 1), COUNT, STRING};
static const hf__shape leased = {.kinds = HF__IS_ARRAY,
                                 .items = leased_items,
                                 .item_count = 3,
                                 .repeated = 1,
                                 .count_min = 2};
static const hf__shape unleased_items[] = {NUMBER(2, 4), COUNT, PTTL};
SHAPE_OF(cache_lease, {.kinds = HF__IS_ARRAY,
                       .items = unleased_items,
                       .item_count = 3,
                       .count_min = 3,
                       .otherwise = &leased});

SHAPE_OF(cache_put, NUMBER(0, 1));
SHAPE_OF(cache_fail, NUMBER(0, 1));
SHAPE_OF(cache_delete, NUMBER(0, 1));
SHAPE_OF(cache_renew, NUMBER(0, 1));

/* ---------------------------------------------------------------- limiters */

static const hf__shape take_items[] = {NUMBER(0, 1), NUMBER(0, HF__TOKEN_MAX),
                                       NUMBER(0, 1000000000)};
SHAPE_OF(limiter_take, HF__SHAPE_TUPLE(take_items, 3));

/* --------------------------------------------------------------------- ids */

SHAPE_OF(ids_take,
         {.kinds = HF__IS_INTEGER | HF__IS_DIGITS, .low = 0, .high = 0});

/* ----------------------------------------------------------------- latches */

#define LEFT NUMBER(-1, 1000000)

static const hf__shape set_items[] = {NUMBER(0, 1), NUMBER(0, 1000000)};
static const hf__shape left_items[] = {LEFT, PTTL};
SHAPE_OF(latch_set, HF__SHAPE_TUPLE(set_items, 2));
SHAPE_OF(latch_arrive, LEFT);
SHAPE_OF(latch_await, HF__SHAPE_TUPLE(left_items, 2));
SHAPE_OF(latch_delete, NUMBER(0, 1));

/* ---------------------------------------------------------------- barriers */

/* {state, generation, number} */
static const hf__shape barrier_items[] = {NUMBER(0, 3), COUNT, COUNT};
SHAPE_OF(barrier_arrive, HF__SHAPE_TUPLE(barrier_items, 3));
SHAPE_OF(barrier_leave, HF__SHAPE_TUPLE(barrier_items, 3));
SHAPE_OF(barrier_reset, COUNT);

/* -------------------------------------------------------------------- keys */

/* {type}, or {type, expiry, count, mark} and the elements. */
static const hf__shape type_items[] = {STRING};
static const hf__shape type_alone = HF__SHAPE_TUPLE(type_items, 1);
static const hf__shape read_items[] = {STRING, NUMBER(-2, INT64_MAX), COUNT,
                                       STRING, STRING};
SHAPE_OF(key_read, {.kinds = HF__IS_ARRAY,
                    .items = read_items,
                    .item_count = 5,
                    .repeated = 1,
                    .count_min = 4,
                    .otherwise = &type_alone});

SHAPE_OF(key_build, NUMBER(0, 1));
/* Below 0: what is held. */
SHAPE_OF(key_persist, NUMBER(-5, 1));
SHAPE_OF(key_expire, NUMBER(-5, 1));
SHAPE_OF(key_delete, NUMBER(-5, 1));
SHAPE_OF(key_rename, NUMBER(-11, 1));
SHAPE_OF(key_copy, NUMBER(-11, 1));
SHAPE_OF(key_type, STRING);
SHAPE_OF(key_place, NUMBER(-1, 1));
SHAPE_OF(key_write, NUMBER(0, 1));

/* ------------------------------------------------------------ transactions */

/* What each operation returned, or a number; see the script. */
static const hf__shape returned[] = {HF__SHAPE_KIND(HF__IS_ANY)};
SHAPE_OF(txn_run, {.kinds = HF__IS_INTEGER | HF__IS_ARRAY,
                   .low = -1,
                   .high = INT64_MAX,
                   .items = returned,
                   .item_count = 1,
                   .repeated = 1});
