/* SPDX-License-Identifier: Apache-2.0 */
/* lock_adopt_test.c - a held lock is passed on by a text. */
#include <stdlib.h>

#include "holdfast/adopt.h"
#include "holdfast/semaphore.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* Acquire a handle and export it. */
static hf_buffer exported(hf_lock *lock)
{
    hf_buffer text = HF_BUFFER_INIT;

    expect_taken(lock);
    expect_status(HF_OK, hf_lock_export(lock, &text, ERR));
    assert_false(hf_lock_is_held(lock));
    return text;
}

static hf_bytes view(const hf_buffer *text)
{
    return hf_view(text->data, text->size);
}

static hf_lock *adopt(fixture *f, hf_client *client, hf_buffer *text)
{
    hf_lock *lock = NULL;

    expect_status(HF_OK, hf_lock_adopt(client, view(text), NULL, &lock, ERR));
    hf_buffer_free(text);
    return fixture_keep_lock(f, lock);
}

/* Options of a lease that is not renewed. */
static hf_lock_options no_renew(int64_t ttl_ms)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;

    opts.ttl_ms = ttl_ms;
    opts.flags = HF_LOCK_NO_RENEW;
    return opts;
}

TEST(adopted_lock_excludes_and_keeps_its_token)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *first = fixture_lock(f, f->client, name, NULL);
    hf_lock *rival = fixture_lock(f, f->client, name, NULL);
    hf_buffer text = exported(first);
    char before[HF_OWNER_SIZE], after[HF_OWNER_SIZE];
    hf_lock *second;

    expect_status(HF_HELD, fixture_try(rival, ERR));
    expect_status(HF_INVALID, hf_lock_release(first, ERR));
    second = adopt(f, f->other, &text);
    assert_true(hf_lock_is_held(second));
    assert_true(hf_lock_token(second) == hf_lock_token(first));
    hf_lock_owner(first, before);
    hf_lock_owner(second, after);
    assert_string_not_equal(before, after);
    expect_status(HF_HELD, fixture_try(rival, ERR));
    expect_status(HF_HELD, fixture_try(first, ERR));
    expect_status(HF_OK, hf_lock_release(second, ERR));
    expect_taken(rival);
    assert_true(hf_lock_token(rival) > hf_lock_token(second));
}

TEST(adopted_lock_can_be_exported_again)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);
    hf_buffer text = exported(lock);
    uint64_t token = hf_lock_token(lock);

    for (int i = 0; i < 3; i++) {
        lock = adopt(f, i % 2 == 0 ? f->other : f->client, &text);
        expect_status(HF_OK, hf_lock_export(lock, &text, ERR));
    }
    lock = adopt(f, f->other, &text);
    assert_true(hf_lock_token(lock) == token);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
}

TEST(lock_is_adopted_only_once)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);
    hf_buffer text = exported(lock);
    hf_lock *made[2] = {NULL, NULL};
    told said[2] = {{0}, {0}};
    hf_lock *second = NULL;

    for (int i = 0; i < 2; i++) {
        hf_async async = tell(&said[i]);

        expect_status(HF_OK, hf_lock_adopt_start(i == 0 ? f->client : f->other,
                                                 view(&text), NULL, &made[i],
                                                 &async, ERR));
    }
    await_told(f->client, &said[0], 1);
    await_told(f->other, &said[1], 1);
    if (f->store != FIXTURE_QUORUM) /* there both may have got some servers */
        assert_true((said[0].status == HF_OK) != (said[1].status == HF_OK));
    assert_false(said[0].status == HF_OK && said[1].status == HF_OK);
    for (int i = 0; i < 2; i++) {
        assert_true((made[i] != NULL) == (said[i].status == HF_OK));
        if (made[i] != NULL)
            fixture_keep_lock(f, made[i]);
    }
    assert_true(hf_lock_adopt(f->client, view(&text), NULL, &second, NULL) !=
                HF_OK);
    assert_null(second);
    hf_buffer_free(&text);
}

TEST(lock_that_was_adopted_or_released_cannot_be_adopted)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);
    hf_buffer text = exported(lock);
    hf_buffer copy = {NULL, text.size};
    hf_lock *second, *third = NULL;

    copy.data = malloc(text.size);
    assert_non_null(copy.data);
    memcpy(copy.data, text.data, text.size);
    second = adopt(f, f->other, &text);
    expect_status(HF_LOST,
                  hf_lock_adopt(f->client, view(&copy), NULL, &third, ERR));
    assert_true(hf_lock_is_held(second));
    expect_status(HF_OK, hf_lock_renew(second, ERR));
    expect_status(HF_OK, hf_lock_release(second, ERR));
    expect_status(HF_EXPIRED,
                  hf_lock_adopt(f->client, view(&copy), NULL, &third, ERR));
    assert_null(third);
    free(copy.data);
}

TEST(exported_lock_expires_by_itself)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *rival = fixture_lock(f, f->other, name, NULL);
    hf_lock *lock, *late = NULL;
    hf_buffer text;

    opts.ttl_ms = slowed_ms(150);
    lock = fixture_lock(f, f->client, name, &opts);
    text = exported(lock);
    expect_status(HF_OK, hf_lock_acquire(rival, 20000, ERR));
    expect_status(HF_LOST,
                  hf_lock_adopt(f->client, view(&text), NULL, &late, ERR));
    expect_status(HF_OK, hf_lock_release(rival, ERR));
    hf_buffer_free(&text);
}

static int64_t lease_left_ms(fixture *f, hf_bytes name)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;

    expect_status(HF_OK, hf_lock_inspect(f->client, name, &info, ERR));
    return info.remaining_ms;
}

static int64_t waiters_of(fixture *f, const hf_lock *lock)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;

    expect_status(HF_OK,
                  hf_lock_inspect(f->client, hf_lock_name(lock), &info, ERR));
    return info.waiters;
}

TEST(adopted_lock_is_renewed)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_buffer text;
    hf_lock *lock;
    int64_t left_ms, before_ms;

    opts.ttl_ms = slowed_ms(1500);
    text = exported(fixture_lock(f, f->client, name, &opts));
    lock = adopt(f, f->other, &text); /* with the exporter's lease */
    left_ms = lease_left_ms(f, name);
    assert_true(left_ms <= opts.ttl_ms);
    do {
        test_rest();
        before_ms = left_ms;
        left_ms = lease_left_ms(f, name);
    } while (left_ms <= before_ms);
    assert_true(hf_lock_is_held(lock));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
}

TEST(adopting_begins_a_lease_of_its_own_options)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options brief = no_renew(slowed_ms(2000));
    hf_lock_options longer = no_renew(60000);
    hf_buffer text = exported(fixture_lock(f, f->client, name, &brief));
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_lock *lock = NULL;

    expect_status(HF_OK,
                  hf_lock_adopt(f->other, view(&text), &longer, &lock, ERR));
    hf_buffer_free(&text);
    fixture_keep_lock(f, lock);
    assert_true(hf_lock_remaining_ms(lock) > 50000);
    expect_status(HF_OK, hf_lock_inspect(f->client, name, &info, ERR));
    assert_true(info.remaining_ms > 50000);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
}

static hf_buffer exported_when_handed_over(fixture *f, hf_lock *from,
                                           hf_lock *to)
{
    hf_buffer text = HF_BUFFER_INIT;
    told said = {0};
    hf_async async = tell(&said);

    expect_taken(from);
    expect_status(HF_TIMEOUT, hf_lock_acquire(to, 20, ERR)); /* subscribes */
    expect_status(HF_OK, hf_lock_acquire_start(to, HF_FOREVER, &async, ERR));
    expect_soon(waiters_of(f, to) == 1, 10000);
    expect_throughout(waiters_of(f, to) == 1, 50); /* it reads the reply */
    expect_status(HF_OK, hf_lock_release(from, ERR));
    await_told(f->other, &said, 1);
    expect_status(HF_OK, said.status);
    expect_status(HF_OK, hf_lock_export(to, &text, ERR));
    return text;
}

TEST(export_of_a_lock_just_handed_over_lasts_its_lease)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *from = fixture_lock(f, f->client, name, NULL);
    hf_lock *to = fixture_lock(f, f->other, name, NULL);
    hf_buffer text = exported_when_handed_over(f, from, to);
    hf_lock *adopted;

    assert_true(lease_left_ms(f, name) > 5000);
    adopted = adopt(f, f->client, &text);
    expect_status(HF_OK, hf_lock_release(adopted, ERR));
}

TEST(export_of_what_is_not_held_once_is_invalid)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);
    hf_buffer text = HF_BUFFER_INIT;

    expect_status(HF_INVALID, hf_lock_export(lock, &text, ERR));
    expect_taken(lock);
    expect_status(HF_INVALID, hf_lock_export(lock, NULL, ERR));
    expect_taken(lock);
    expect_status(HF_INVALID, hf_lock_export(lock, &text, ERR));
    assert_null(text.data);
    assert_true(hf_lock_is_held(lock));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    expect_status(HF_OK, hf_lock_export(lock, &text, ERR));
    hf_buffer_free(&text);
}

TEST(adopt_refuses_a_damaged_text)
{
    fixture *f = *state;
    hf_lock *made = NULL;
    hf_buffer text =
        exported(fixture_lock(f, f->client, fixture_key(f, "l"), NULL));
    char *bytes_of = text.data;

    for (size_t i = 0; i < text.size; i++) {
        bytes_of[i] ^= 1;
        expect_status(HF_INVALID,
                      hf_lock_adopt(f->other, view(&text), NULL, &made, ERR));
        bytes_of[i] ^= 1;
        expect_status(HF_INVALID, hf_lock_adopt(f->other, hf_view(bytes_of, i),
                                                NULL, &made, ERR));
    }
    expect_status(HF_INVALID,
                  hf_lock_adopt(f->other, hf_str(NULL), NULL, &made, ERR));
    expect_status(HF_INVALID,
                  hf_lock_adopt(f->other, view(&text), NULL, NULL, ERR));
    assert_null(made);
    expect_status(HF_OK, hf_lock_release(adopt(f, f->other, &text), ERR));
}

TEST(adopt_takes_names_of_any_bytes)
{
    fixture *f = *state;
    static const char odd[] = "a b:%41\n\\\xff\xc3\xa9'\"$`";
    char name[256];
    hf_bytes key = fixture_key(f, "l");
    hf_buffer text;

    memcpy(name, key.data, key.size);
    memcpy(name + key.size, odd, sizeof(odd)); /* with the NUL */
    text = exported(fixture_lock(f, f->client,
                                 hf_view(name, key.size + sizeof(odd)), NULL));
    for (size_t i = 0; i < text.size; i++)
        assert_non_null(strchr("0123456789abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ-._/:%",
                               ((const char *)text.data)[i]));
    expect_status(HF_OK, hf_lock_release(adopt(f, f->other, &text), ERR));
}

TEST(adopt_names_a_key_that_is_no_lock)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *made = NULL;
    hf_buffer text;

    fixture_not_quorum(f);
    text = exported(fixture_lock(f, f->client, name, NULL));
    expect_status(HF_OK, hf_lock_break(f->client, name, ERR));
    put_hash(f->client, name, words("a", "b"), 0);
    expect_status(HF_WRONG_TYPE,
                  hf_lock_adopt(f->other, view(&text), NULL, &made, ERR));
    assert_null(made);
    hf_buffer_free(&text);
}

TEST(started_adopt_makes_a_handle)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_buffer text = exported(fixture_lock(f, f->client, name, NULL));
    hf_lock *lock = NULL, *again = NULL;

    expect_told(
        HF_OK, f->other,
        hf_lock_adopt_start(f->other, view(&text), NULL, &lock, &async, ERR));
    fixture_keep_lock(f, lock);
    assert_true(hf_lock_is_held(lock));
    expect_told(
        HF_LOST, f->client,
        hf_lock_adopt_start(f->client, view(&text), NULL, &again, &async, ERR));
    assert_null(again);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    hf_buffer_free(&text);
}

TEST(permit_is_passed_on)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "s");
    hf_lock *permits[3], *heir, *second = NULL;
    hf_buffer text;

    fixture_not_quorum(f);
    for (int i = 0; i < 3; i++) {
        expect_status(HF_OK, hf_semaphore_new(f->client, name, 2, NULL,
                                              &permits[i], ERR));
        fixture_keep_lock(f, permits[i]);
    }
    expect_taken(permits[0]);
    text = exported(permits[1]);
    expect_status(HF_HELD, fixture_try(permits[2], ERR));
    expect_status(HF_OK,
                  hf_lock_adopt(f->other, view(&text), NULL, &heir, ERR));
    fixture_keep_lock(f, heir);
    expect_status(HF_EXPIRED,
                  hf_lock_adopt(f->other, view(&text), NULL, &second, ERR));
    expect_status(HF_HELD, fixture_try(permits[2], ERR));
    expect_status(HF_OK, hf_lock_release(heir, ERR));
    expect_taken(permits[2]);
    expect_status(HF_HELD, fixture_try(heir, ERR));
    hf_buffer_free(&text);
}
