/* SPDX-License-Identifier: Apache-2.0 */
/* ids_test.c - ids are unique, only grow, and survive what they promise. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/ids.h"
#include "holdfast/key.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

#define COUNT 2000
#define THREADS 4

static hf_ids *ids_of(hf_client *client, hf_bytes name, uint32_t block,
                      uint32_t flags)
{
    hf_ids_options options = HF_IDS_OPTIONS_INIT;
    hf_ids *ids = NULL;

    options.block = block;
    options.flags = flags;
    expect_status(HF_OK, hf_ids_new(client, name, &options, &ids, ERR));
    return ids;
}

static int64_t next(hf_ids *ids)
{
    int64_t id = -1;

    expect_status(HF_OK, hf_ids_next(ids, &id, ERR));
    return id;
}

TEST(dense_ids_count_from_1)
{
    fixture *f = *state;
    hf_ids *ids = ids_of(f->client, fixture_key(f, "n"), 10, HF_IDS_DENSE);

    for (int64_t i = 1; i <= 25; i++)
        assert_int_equal(next(ids), i);
    assert_no_ttl(f->client, fixture_key(f, "n"));
    hf_ids_free(ids);
}

TEST(ids_of_a_block_need_no_request)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    hf_ids *ids = ids_of(f->client, name, 0, HF_IDS_DENSE);

    assert_int_equal(next(ids), 1);
    put_value(f->other, name, bytes("not a counter"), 0);
    for (int64_t i = 2; i <= 100; i++)
        assert_int_equal(next(ids), i);
    expect_status(HF_WRONG_TYPE, hf_ids_next(ids, &(int64_t){0}, ERR));
    hf_ids_free(ids);
}

TEST(blocks_of_clients_do_not_overlap)
{
    fixture *f = *state;
    hf_ids *a = ids_of(f->client, fixture_key(f, "n"), 3, HF_IDS_DENSE);
    hf_ids *b = ids_of(f->other, fixture_key(f, "n"), 3, HF_IDS_DENSE);

    assert_int_equal(next(a), 1);
    assert_int_equal(next(b), 4);
    assert_int_equal(next(a), 2);
    assert_int_equal(next(a), 3);
    assert_int_equal(next(a), 7);
    assert_int_equal(next(b), 5);
    hf_ids_free(a);
    a = ids_of(f->client, fixture_key(f, "n"), 1, HF_IDS_DENSE);
    assert_int_equal(next(a), 10); /* 8 and 9 are a gap */
    hf_ids_free(a);
    hf_ids_free(b);
}

TEST(ids_of_1_are_ordered_between_clients)
{
    fixture *f = *state;
    hf_ids *ids[] = {ids_of(f->client, fixture_key(f, "n"), 1, 0),
                     ids_of(f->other, fixture_key(f, "n"), 1, 0)};
    int64_t last = 0;

    for (int i = 0; i < 20; i++) {
        int64_t id = next(ids[i % 3 % 2]);

        assert_true(id > last);
        last = id;
    }
    hf_ids_free(ids[0]);
    hf_ids_free(ids[1]);
}

TEST(ids_survive_the_loss_of_their_counter)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    hf_ids *ids = ids_of(f->client, name, 1, 0);
    int64_t before = next(ids);

    assert_ttl(f->client, name, 7 * 86400000);
    expect_status(HF_OK, hf_key_delete(f->client, name, ERR));
    assert_true(next(ids) > before);
    hf_ids_free(ids);
}

TEST(dense_ids_do_not_survive_it)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    hf_ids *ids = ids_of(f->client, name, 1, HF_IDS_DENSE);

    assert_int_equal(next(ids), 1);
    expect_status(HF_OK, hf_key_delete(f->client, name, ERR));
    assert_int_equal(next(ids), 1);
    hf_ids_free(ids);
}

/* Doubles skip numbers beyond 2^53; the clock is far below. */
TEST(ids_are_exact_up_to_2_to_63)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    hf_ids *ids = ids_of(f->client, name, 2, 0);

    put_value(f->client, name, bytes("9007199254740992"), 0);
    assert_int_equal(next(ids), INT64_C(9007199254740993));
    assert_int_equal(next(ids), INT64_C(9007199254740994));
    put_value(f->client, name, bytes("9223372036854775804"), 0);
    assert_int_equal(next(ids), INT64_MAX - 2);
    assert_int_equal(next(ids), INT64_MAX - 1);
    expect_status(HF_CONFLICT, hf_ids_next(ids, &(int64_t){0}, ERR));
    assert_value(f->client, name, bytes("9223372036854775806"));
    hf_ids_free(ids);
    ids = ids_of(f->client, name, 1, 0);
    assert_int_equal(next(ids), INT64_MAX);
    expect_status(HF_CONFLICT, hf_ids_next(ids, &(int64_t){0}, ERR));
    hf_ids_free(ids);
}

TEST(what_is_no_counter_is_wrong_type)
{
    static const char *const wrong[] = {"",
                                        "0",
                                        "x",
                                        "-1",
                                        "01",
                                        "1.0",
                                        "9223372036854775808",
                                        "10000000000000000000"};
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    hf_ids *ids = ids_of(f->client, name, 1, 0);

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        put_value(f->client, name, hf_str(wrong[i]), 0);
        expect_status(HF_WRONG_TYPE, hf_ids_next(ids, &(int64_t){0}, ERR));
        assert_value(f->client, name, hf_str(wrong[i]));
    }
    hf_ids_free(ids);
}

typedef struct taker {
    hf_ids *ids;
    int64_t got[COUNT];
    hf_status status;
} taker;

static void *take_many(void *user)
{
    taker *self = user;

    for (int i = 0; i < COUNT && self->status == HF_OK; i++)
        self->status = hf_ids_next(self->ids, &self->got[i], NULL);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

static void check_unique(int64_t *all, size_t count)
{
    qsort(all, count, sizeof(*all), compare);
    for (size_t i = 1; i < count; i++)
        assert_true(all[i] > all[i - 1]);
}

/* Two threads of each of two clients. */
TEST(ids_of_threads_are_unique_and_grow)
{
    static taker takers[THREADS];
    static int64_t all[THREADS * COUNT];
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    hf_ids *ids[] = {ids_of(f->client, name, 50, 0),
                     ids_of(f->other, name, 7, 0)};
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        takers[i] = (taker){.ids = ids[i % 2], .status = HF_OK};
        assert_int_equal(
            pthread_create(&threads[i], NULL, take_many, &takers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        expect_status(HF_OK, takers[i].status);
        for (int j = 1; j < COUNT; j++)
            assert_true(takers[i].got[j] > takers[i].got[j - 1]);
        memcpy(all + i * COUNT, takers[i].got, sizeof(takers[i].got));
    }
    check_unique(all, THREADS * COUNT);
    hf_ids_free(ids[0]);
    hf_ids_free(ids[1]);
}

TEST(started_ids_are_unique_and_later_ones_greater)
{
    enum { STARTED = 200 };
    static int64_t got[STARTED + 1];
    fixture *f = *state;
    hf_ids *ids = ids_of(f->client, fixture_key(f, "n"), 10, 0);
    told said = {0};
    hf_async async = tell(&said);

    for (int i = 0; i < STARTED; i++)
        expect_status(HF_OK, hf_ids_next_start(ids, &got[i], &async, ERR));
    await_told(f->client, &said, STARTED);
    expect_status(HF_OK, said.status);
    got[STARTED] = next(ids);
    for (int i = 0; i < STARTED; i++)
        assert_true(got[i] < got[STARTED]);
    check_unique(got, STARTED + 1);
    hf_ids_free(ids);
}

TEST(started_many_are_of_one_block)
{
    fixture *f = *state;
    hf_ids *ids = ids_of(f->client, fixture_key(f, "n"), 10, HF_IDS_DENSE);
    int64_t got[12];
    told said = {0};
    hf_async async = tell(&said);

    assert_int_equal(next(ids), 1);
    expect_status(HF_OK, hf_ids_next_many_start(ids, got, 4, &async, ERR));
    await_told(f->client, &said, 1);
    for (int i = 0; i < 4; i++)
        assert_int_equal(got[i], i + 2); /* of those that were left */
    expect_status(HF_OK, hf_ids_next_many_start(ids, got, 12, &async, ERR));
    await_told(f->client, &said, 2);
    expect_status(HF_OK, said.status);
    for (int i = 0; i < 12; i++)
        assert_int_equal(got[i], i + 11);
    assert_int_equal(next(ids), 23);
    expect_status(HF_OK, hf_ids_next_many_start(ids, got, 0, &async, ERR));
    await_told(f->client, &said, 3);
    expect_status(HF_INVALID, hf_ids_next_many_start(
                                  ids, got, HF_IDS_BLOCK_MAX + 1, &async, ERR));
    hf_ids_free(ids);
}

TEST(handle_may_be_freed_under_a_started_call)
{
    fixture *f = *state;
    hf_ids *ids = ids_of(f->client, fixture_key(f, "n"), 10, HF_IDS_DENSE);
    int64_t id = -1;
    told said = {0};
    hf_async async = tell(&said);

    expect_status(HF_OK, hf_ids_next_start(ids, &id, &async, ERR));
    hf_ids_free(ids);
    await_told(f->client, &said, 1);
    expect_status(HF_OK, said.status);
    assert_int_equal(id, 1);
}

TEST(many_ids_need_one_block)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "n");
    hf_ids *ids = ids_of(f->client, name, 5, HF_IDS_DENSE);
    int64_t got[40];

    expect_status(HF_OK, hf_ids_next_many(ids, got, 2, ERR));
    expect_status(HF_OK, hf_ids_next_many(ids, got + 2, 38, ERR));
    for (int i = 0; i < 40; i++)
        assert_int_equal(got[i], i + 1);
    assert_value(f->client, name, bytes("40"));
    expect_status(HF_OK, hf_ids_next_many(ids, got, 0, ERR));
    expect_status(HF_INVALID,
                  hf_ids_next_many(ids, got, HF_IDS_BLOCK_MAX + 1, ERR));
    hf_ids_free(ids);
}

TEST(bad_ids_are_refused)
{
    fixture *f = *state;
    hf_ids_options options = HF_IDS_OPTIONS_INIT;
    hf_ids *ids = NULL;

    options.block = HF_IDS_BLOCK_MAX + 1;
    expect_status(HF_INVALID,
                  hf_ids_new(f->client, bytes("n"), &options, &ids, ERR));
    options = (hf_ids_options)HF_IDS_OPTIONS_INIT;
    options.flags = 0x80;
    expect_status(HF_UNSUPPORTED,
                  hf_ids_new(f->client, bytes("n"), &options, &ids, ERR));
    expect_status(HF_INVALID,
                  hf_ids_new(f->client, bytes(""), NULL, &ids, ERR));
    expect_status(HF_INVALID,
                  hf_ids_new(f->client, bytes("n"), NULL, NULL, ERR));
    ids = ids_of(f->client, fixture_key(f, "n"), 1, 0);
    expect_status(HF_INVALID, hf_ids_next(ids, NULL, ERR));
    expect_status(HF_INVALID, hf_ids_next(NULL, &(int64_t){0}, ERR));
    hf_ids_free(ids);
    hf_ids_free(NULL);
}
