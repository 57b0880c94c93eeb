/* SPDX-License-Identifier: Apache-2.0 */
/* redis_key_tracking_test.c - which reply on the subscription belongs to which
 * request. */
#include "store/redis/events/key_tracking.h"
#include "support/expect.h"

typedef struct place {
    hf__key_tracking lookout;
    hf__buf out;
} place;

static place open_place(void)
{
    place made;

    hf__key_tracking_reset(&made.lookout);
    hf__buf_init(&made.out, 65536);
    return made;
}

static hf__key_tracking_kind answer(place *at, hf_reply_kind kind,
                                    uint32_t *bucket, bool *moved)
{
    hf_reply reply = {.kind = kind};

    return hf__key_tracking_answer(&at->lookout, &reply, bucket, moved);
}

TEST(lookout_answers_are_to_the_oldest_question)
{
    place at = open_place();
    uint32_t bucket;
    bool moved;

    assert_true(hf__key_tracking_ping(&at.lookout, &at.out));
    assert_true(
        hf__key_tracking_key(&at.lookout, hf_str("a"), 1, true, &at.out));
    assert_true(
        hf__key_tracking_key(&at.lookout, hf_str("b"), 2, true, &at.out));
    assert_int_equal(answer(&at, HF_REPLY_STATUS, &bucket, &moved),
                     HF__TRACKING_PING);
    assert_int_equal(answer(&at, HF_REPLY_STATUS, &bucket, &moved),
                     HF__TRACKING_TRACK);
    assert_int_equal(answer(&at, HF_REPLY_STRING, &bucket, &moved),
                     HF__TRACKING_KEY);
    assert_true(bucket == 1 && !moved);
    assert_int_equal(answer(&at, HF_REPLY_NIL, &bucket, &moved),
                     HF__TRACKING_KEY);
    assert_true(bucket == 2 && moved);
    assert_int_equal(answer(&at, HF_REPLY_STATUS, &bucket, &moved),
                     HF__TRACKING_NONE);
    hf__buf_done(&at.out);
}

TEST(key_that_should_not_exist_moves_if_it_does)
{
    place at = open_place();
    uint32_t bucket;
    bool moved;

    for (int i = 0; i < 2; i++)
        assert_true(
            hf__key_tracking_key(&at.lookout, hf_str("a"), 1, false, &at.out));
    (void)answer(&at, HF_REPLY_STATUS, &bucket, &moved); /* tracking is on */
    (void)answer(&at, HF_REPLY_NIL, &bucket, &moved);
    assert_true(bucket == 1 && !moved);
    (void)answer(&at, HF_REPLY_STRING, &bucket, &moved);
    assert_true(bucket == 1 && moved);
    hf__buf_done(&at.out);
}

TEST(lookout_without_the_right_asks_no_more)
{
    place at = open_place();
    uint32_t bucket;
    bool moved;

    assert_true(
        hf__key_tracking_key(&at.lookout, hf_str("a"), 1, true, &at.out));
    assert_int_equal(answer(&at, HF_REPLY_ERROR, &bucket, &moved),
                     HF__TRACKING_TRACK);
    assert_false(
        hf__key_tracking_key(&at.lookout, hf_str("a"), 1, true, &at.out));
    assert_true(hf__key_tracking_ping(&at.lookout, &at.out));
    hf__buf_done(&at.out);
}

TEST(lookout_asks_a_bounded_number_and_has_room_for_a_ping)
{
    place at = open_place();
    unsigned asked = 0;

    while (hf__key_tracking_key(&at.lookout, hf_str("a"), 1, true, &at.out))
        asked++;
    assert_true(asked > 50 && asked < HF__TRACKING_MAX);
    assert_true(hf__key_tracking_ping(&at.lookout, &at.out));
    hf__buf_done(&at.out);
}
