/* SPDX-License-Identifier: Apache-2.0 */
/* wait_queue_test.c - the order in which calls of one client lead the queue. */
#include <string.h>

#include "holdfast/lock.h"
#include "lease/handle.h"
#include "lease/queue.h"
#include "support/test.h"
#include "util/mem.h"

#define PLACES 5

static hf__wait_queues queues;
static hf__wait_place places[PLACES];
static char order[PLACES + 1];

static hf_status join(hf__wait_place *place)
{
    return hf__wait_queue_join(&queues, hf_str("name"), 0, place, NULL);
}

static void lead(hf__wait_place *place)
{
    order[strlen(order)] = (char)('1' + (place - places));
    hf__wait_queue_leave(&queues, place->queue, NULL);
}

TEST(wait_queue_is_led_in_the_order_of_arrival)
{
    hf__wait_place head;

    hf__wait_queues_init(&queues);
    assert_int_equal(join(&head), HF_OK);
    for (int i = 0; i < PLACES; i++) {
        places[i] = (hf__wait_place){.entered = lead};
        assert_int_equal(join(&places[i]), HF_HELD);
    }
    assert_true(hf__wait_queue_withdraw(&queues, &places[2]));
    hf__wait_queue_leave(&queues, head.queue, NULL);
    assert_string_equal(order, "1245");
    assert_false(hf__wait_queue_withdraw(&queues, &places[4]));
    hf__wait_queues_done(&queues);
}

/* Its first try at the store was answered when later calls had joined. */
TEST(call_that_joins_late_is_before_later_ones)
{
    static const uint64_t arrivals[PLACES] = {2, 5, 1, 4, 3};
    hf__wait_place head = {0};

    hf__wait_queues_init(&queues);
    memset(order, 0, sizeof(order));
    assert_int_equal(join(&head), HF_OK);
    for (int i = 0; i < PLACES; i++) {
        places[i] = (hf__wait_place){.entered = lead, .arrival = arrivals[i]};
        assert_int_equal(join(&places[i]), HF_HELD);
    }
    assert_true(hf__wait_queue_withdraw(&queues, &places[1])); /* the last */
    places[1].arrival = 6;
    assert_int_equal(join(&places[1]), HF_HELD);
    hf__wait_queue_leave(&queues, head.queue, NULL);
    assert_string_equal(order, "31542");
    hf__wait_queues_done(&queues);
}

static int passes;

static void note_pass(hf__wait_place *place)
{
    (void)place;
    passes++;
}

/* A place that is passed to while it stops waiting is entered once. */
TEST(pass_is_awaited_until_the_holder_releases)
{
    hf_client client = {0};
    hf_lock holder = {.client = &client, .keys.topic = {"name", 4}};
    hf__pass offer = {.entry = "entry", .entered_ms = 7};
    hf__wait_place head = {0}, next = {.entered = note_pass, .pass = &offer};
    int64_t entered_ms = 0;
    char *entry;

    hf__wait_queues_init(&queues);
    assert_int_equal(join(&head), HF_OK);
    assert_int_equal(join(&next), HF_HELD);
    hf__wait_queue_leave(&queues, head.queue, &holder);
    assert_int_equal(passes, 1); /* it is the head */
    assert_false(hf__wait_queue_await_pass(&queues, &next));
    entry = hf__wait_queue_take_offer(&queues, &holder, &entered_ms);
    assert_string_equal(entry, "entry");
    assert_int_equal(entered_ms, 7);
    hf__free(entry);
    assert_false(hf__wait_queue_stop_pass(&queues, &next, true));
    assert_int_equal(passes, 1);
    hf__wait_queue_pass(&queues, &holder, NULL, 0, 3);
    assert_int_equal(passes, 2);
    assert_int_equal(offer.rest_ms, 3);
    assert_true(offer.queued);
    assert_true(hf__wait_queue_await_pass(&queues, &next));
    hf__wait_queue_leave(&queues, next.queue, NULL);
    hf__wait_queues_done(&queues);
}

/* A request that took 300 ms makes the clock look as much ahead. */
TEST(delay_does_not_move_the_clock)
{
    hf__wait_place head = {0};

    hf__wait_queues_init(&queues);
    assert_int_equal(
        hf__wait_queue_join(&queues, hf_str("name"), 0, &head, NULL), HF_OK);
    assert_int_equal(hf__wait_queue_clock(&queues, head.queue, 1000), 0);
    hf__wait_queue_note_clock(&queues, head.queue, 1000, 7300000);
    hf__wait_queue_note_clock(&queues, head.queue, 1500, 7501000);
    hf__wait_queue_note_clock(&queues, head.queue, 2000, 8200000);
    assert_int_equal(hf__wait_queue_clock(&queues, head.queue, 1200), 7201000);
    hf__wait_queue_leave(&queues, head.queue, NULL);
    hf__wait_queues_done(&queues);
}

/* One that is at the head and awaits nothing yet, as its call was cancelled. */
TEST(pass_under_way_is_awaited_by_a_head_that_stops)
{
    hf_client client = {0};
    hf_lock holder = {.client = &client, .keys.topic = {"name", 4}};
    hf__pass offer = {.entry = "entry"};
    hf__wait_place head = {0}, next = {.entered = note_pass, .pass = &offer};
    int64_t entered_ms;
    char *entry;

    hf__wait_queues_init(&queues);
    passes = 0;
    assert_int_equal(join(&head), HF_OK);
    assert_int_equal(join(&next), HF_HELD);
    hf__wait_queue_leave(&queues, head.queue, &holder);
    entry = hf__wait_queue_take_offer(&queues, &holder, &entered_ms);
    assert_non_null(entry);
    hf__free(entry);
    assert_false(hf__wait_queue_stop_pass(&queues, &next, false));
    hf__wait_queue_pass(&queues, &holder, NULL, 0, 0);
    assert_int_equal(passes, 2);
    assert_true(hf__wait_queue_stop_pass(&queues, &next, false));
    hf__wait_queue_leave(&queues, next.queue, NULL);
    hf__wait_queues_done(&queues);
}
