/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_kill_test.c - processes that wait for an element, and that push, are
 * killed: no element is lost but one that was in a reply under way, and none is
 * left while one waits. The processes are process_worker.c, whose path the
 * build passes in PROCESS_WORKER.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/command.h"
#include "support/child_process.h"
#include "support/expect.h"
#include "support/store_fixture.h"
#include "support/test_clock.h"

#define PROCESSES 52
#define COUNT 200 /* that each pushes: 1 to COUNT */
#define START_MS 20000

static child_process children[PROCESSES];

static int close_processes(void **state)
{
    for (size_t i = 0; i < PROCESSES; i++)
        child_kill(&children[i]);
    return fixture_close(state);
}

EACH_TEST_WITH(fixture_open, close_processes);
ALL_TESTS_WITH(fixture_start, fixture_stop);

/* Processes that pop, from 0 on, and those that push, which have begun to. */
static void start_all(fixture *f, const char *list, size_t poppers,
                      size_t pushers)
{
    char line[CHILD_LINE_SIZE];

    for (size_t i = 0; i < poppers + pushers; i++) {
        bool pops = i < poppers;
        const char *argv[] = {PROCESS_WORKER,           f->url,
                              pops ? "pop" : "push",    list,
                              pops ? "1000000" : "200", NULL};

        assert_true(child_start(&children[i], argv));
    }
    for (size_t i = 0; i < poppers + pushers; i++) {
        assert_true(child_line(&children[i], line, START_MS));
        assert_string_equal(line, i < poppers ? "pops" : "pushes");
    }
    for (size_t i = poppers; i < poppers + pushers; i++)
        assert_true(child_tell(&children[i], ""));
}

static void kill_some(size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        test_rest();
        assert_int_equal(kill(children[i].pid, SIGKILL), 0);
    }
}

/* false: it has ended. */
static bool read_number(size_t i, size_t *number)
{
    char line[CHILD_LINE_SIZE];

    if (!child_line(&children[i], line, START_MS))
        return false;
    *number = strtoul(line, NULL, 10);
    assert_in_range(*number, 1, COUNT);
    return true;
}

/* What a child has printed up to its end; how many numbers. */
static size_t gather_numbers(size_t i, unsigned counts[])
{
    size_t number, lines = 0;

    for (; read_number(i, &number); lines++)
        counts[number]++;
    return lines;
}

/* What was pushed was taken, once, or is in the list, but for one element of
 * each that was killed while its reply was under way. */
TEST(killed_waiters_take_one_element_at_most)
{
    enum { POPPERS = 50, PUSHERS = 2 };
    static unsigned pushed[COUNT + 1], taken[COUNT + 1];
    fixture *f = *state;
    hf_bytes list = fixture_key(f, "l");
    hf_bytes words[] = {bytes("LRANGE"), list, bytes("0"), bytes("-1")};
    size_t lost = 0;
    hf_reply *left;

    memset(pushed, 0, sizeof(pushed));
    memset(taken, 0, sizeof(taken));
    start_all(f, list.data, POPPERS, PUSHERS);
    kill_some(0, POPPERS);
    for (size_t i = POPPERS; i < POPPERS + PUSHERS; i++)
        assert_int_equal(gather_numbers(i, pushed), COUNT);
    for (size_t i = 0; i < POPPERS; i++)
        (void)gather_numbers(i, taken);
    expect_status(HF_OK, hf_command(f->client, 4, words, &left, ERR));
    for (size_t i = 0; i < hf_reply_count(left); i++)
        taken[strtoul(hf_reply_bytes(hf_reply_at(left, i)).data, NULL, 10)]++;
    hf_reply_free(left);
    for (size_t i = 1; i <= COUNT; i++) {
        assert_true(taken[i] <= pushed[i]);
        lost += pushed[i] - taken[i];
    }
    assert_in_range(lost, 0, POPPERS);
}

/* Whatever a writer was killed at, what it has pushed is taken. */
TEST(killed_writers_leave_no_waiter_asleep)
{
    enum { WRITERS = 12 };
    static unsigned pushed[COUNT + 1];
    fixture *f = *state;
    size_t left = 0, number;

    memset(pushed, 0, sizeof(pushed));
    start_all(f, fixture_key(f, "l").data, 1, WRITERS);
    kill_some(1, WRITERS);
    for (size_t i = 1; i <= WRITERS; i++)
        left += gather_numbers(i, pushed);
    while (left > 0) {
        assert_true(read_number(0, &number));
        if (pushed[number] > 0) {
            pushed[number]--;
            left--;
        }
    }
}
