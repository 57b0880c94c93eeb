/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_hook_test.c - from which thread, how often and in which form the program
 * is called.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "store/log_hook.h"
#include "support/log_lines.h"
#include "support/test.h"
#include "support/test_clock.h"
#include "util/clock.h"

typedef struct heard {
    hf__loop *loop;
    hf__log_hook *hook;
    log_lines *lines;
    size_t elsewhere;    /* calls on another thread than the loop's */
    atomic_bool answers; /* each call puts another message */
} heard;

static void on_log(void *user, hf_log_level level, const char *message)
{
    heard *self = user;

    if (atomic_load(&self->answers))
        hf__log_hook_put(self->hook, HF_LOG_INFO, "said %s", message);
    self->elsewhere += !hf__loop_here(self->loop);
    log_lines_take(self->lines, level, message);
}

static heard one;

static int set_up(void **state)
{
    memset(&one, 0, sizeof(one));
    one.lines = log_lines_new();
    one.loop = hf__loop_new();
    if (one.loop == NULL || hf__loop_start(one.loop, NULL) != HF_OK)
        return -1;
    one.hook = hf__log_hook_new(one.loop, on_log, &one, HF_LOG_INFO);
    *state = &one;
    return one.hook == NULL ? -1 : 0;
}

static int tear_down(void **state)
{
    heard *self = *state;

    hf__log_hook_close(self->hook);
    hf__loop_free(self->loop);
    hf__log_hook_free(self->hook);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

/* What was put before is reported. */
static void settle(heard *self)
{
    hf__loop_call(self->loop, NULL);
}

TEST(log_hook_is_called_on_the_loop_thread_without_its_mutex)
{
    heard *self = *state;

    /* An answer would wait for a mutex that is held. */
    atomic_store(&self->answers, true);
    hf__log_hook_put(self->hook, HF_LOG_ERROR, "lost %d", 3);
    expect_soon(log_lines_count(self->lines) >= 2, 5000);
    atomic_store(&self->answers, false);
    settle(self);
    assert_string_equal(self->lines->texts[0], "lost 3");
    assert_int_equal(self->lines->levels[0], HF_LOG_ERROR);
    assert_string_equal(self->lines->texts[1], "said lost 3");
    assert_int_equal(self->elsewhere, 0);
}

TEST(log_hook_drops_what_matters_less)
{
    heard *self = *state;

    hf__log_hook_put(self->hook, HF_LOG_DEBUG, "a");
    hf__log_hook_put(self->hook, HF_LOG_INFO, "b");
    settle(self);
    assert_int_equal(self->lines->count, 1);
    assert_string_equal(self->lines->texts[0], "b");
}

TEST(log_message_is_one_line)
{
    heard *self = *state;

    hf__log_hook_put(self->hook, HF_LOG_INFO, "a\nb\x1b[m\r%400s.", "");
    settle(self);
    assert_null(strpbrk(self->lines->texts[0], "\n\r\x1b"));
    assert_memory_equal(self->lines->texts[0], "a b [m ", 7);
    assert_true(strlen(self->lines->texts[0]) < 400); /* cut */
}

/* Once at first, then with a count when the pause of a second ends. */
TEST(repeated_message_is_counted)
{
    heard *self = *state;
    int64_t began_ms = hf__clock_boot_ms();

    for (int i = 0; i < 5; i++) {
        hf__log_hook_put(self->hook, HF_LOG_WARNING, "again");
        hf__log_hook_put(self->hook, HF_LOG_WARNING, "other %d", i);
        settle(self);
    }
    /* Else a second has passed, and this says nothing. */
    if (hf__clock_boot_ms() < began_ms + 900)
        assert_int_equal(self->lines->count, 6);
    expect_soon(log_lines_count(self->lines) == 7, 10000);
    assert_true(hf__clock_boot_ms() >= began_ms + 1000);
    assert_string_equal(self->lines->texts[6], "again (4 more times)");
}

/* The longer it lasts, the rarer it is. */
TEST(recurring_message_comes_more_rarely)
{
    heard *self = *state;
    int64_t until_ms = hf__clock_boot_ms() + 3500;

    while (hf__clock_boot_ms() < until_ms) {
        hf__log_hook_put(self->hook, HF_LOG_INFO, "down");
        hf__clock_sleep_until(hf__clock_boot_ms() + 20);
    }
    settle(self);
    /* At 0, 1 and 3 s; later ones on a busy machine. */
    assert_in_range(self->lines->count, 2, 3);
}

TEST(count_is_reported_by_the_close)
{
    heard *self = *state;

    hf__log_hook_put(self->hook, HF_LOG_INFO, "again");
    hf__log_hook_put(self->hook, HF_LOG_INFO, "again");
    hf__log_hook_close(self->hook);
    assert_int_equal(self->lines->count, 2);
    assert_string_equal(self->lines->texts[1], "again (1 more time)");
    hf__log_hook_put(self->hook, HF_LOG_INFO, "too late");
    settle(self);
    assert_int_equal(self->lines->count, 2);
}

/* Else it would seem to fail after it is back. */
TEST(count_is_reported_before_good_news)
{
    heard *self = *state;

    hf__log_hook_put(self->hook, HF_LOG_WARNING, "down");
    hf__log_hook_put(self->hook, HF_LOG_WARNING, "down");
    hf__log_hook_put(self->hook, HF_LOG_INFO, "back");
    settle(self);
    assert_int_equal(self->lines->count, 3);
    assert_string_equal(self->lines->texts[1], "down (1 more time)");
    assert_string_equal(self->lines->texts[2], "back");
}

/* As if a thousand leases were lost at once. */
TEST(different_messages_are_limited_and_counted)
{
    heard *self = *state;
    unsigned long long left_out = 0;

    for (int i = 0; i < 1000; i++)
        hf__log_hook_put(self->hook, HF_LOG_ERROR, "lost %d", i);
    hf__log_hook_close(self->hook);
    assert_in_range(self->lines->count, 2, 200);
    for (size_t i = 0; i < self->lines->count; i++) {
        unsigned long long some = 0;

        if (sscanf(self->lines->texts[i],
                   "too many messages at once: %llu were left out", &some) == 1)
            left_out += some - 1; /* this line is one more */
    }
    assert_int_equal(left_out + self->lines->count, 1000);
}
