/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_outgoing_test.c - what a connection has to send, of which long words
 * stay where they are: in every order, at every split, and taken back.
 */
#include <stdlib.h>
#include <string.h>

#include "store/redis/wire/resp.h"
#include "support/test.h"
#include "util/mem.h"

#define LONG HF__OUTGOING_LOAN_MIN
#define LIMIT ((size_t)1 << 24)

/* Send all that is left in parts of `step` bytes, and append it to `sent`. */
static void send_all(hf__outgoing *out, size_t step, hf__buf *sent)
{
    struct iovec pieces[HF__OUTGOING_PIECES];

    while (hf__outgoing_size(out) > 0) {
        size_t count = hf__outgoing_pieces(out, pieces, step), all = 0;

        assert_in_range(count, 1, HF__OUTGOING_PIECES);
        for (size_t i = 0; i < count; i++) {
            assert_true(pieces[i].iov_len > 0);
            assert_true(
                hf__buf_append(sent, pieces[i].iov_base, pieces[i].iov_len));
            all += pieces[i].iov_len;
        }
        assert_in_range(all, 1, step);
        hf__outgoing_consume(out, all);
    }
    assert_int_equal(out->lent, 0);
}

static void assert_same(const hf__buf *sent, const hf__buf *wanted)
{
    assert_int_equal(hf__buf_size(sent), hf__buf_size(wanted));
    assert_memory_equal(hf__buf_front(sent), hf__buf_front(wanted),
                        hf__buf_size(wanted));
}

/* Words of alternating length, the long ones of different bytes. */
static void fill_words(hf_bytes *words, size_t count, char *space)
{
    for (size_t i = 0; i < count; i++) {
        size_t size = i % 3 == 2 ? 5 : LONG + i * 7;

        memset(space, 'a' + (int)(i % 26), size);
        words[i] = hf_view(space, size);
        space += size;
    }
}

TEST(lent_words_are_sent_as_copied_ones_are)
{
    enum { WORDS = 20, REQUESTS = 6 };
    char *space = malloc(WORDS * (LONG + 1000));
    hf_bytes words[WORDS];
    hf__request request;
    hf__outgoing out;
    hf__buf sent, wanted;

    fill_words(words, WORDS, space);
    hf__outgoing_init(&out, LIMIT);
    hf__buf_init(&sent, LIMIT);
    hf__buf_init(&wanted, LIMIT);
    for (size_t step = 999; step < LIMIT; step *= 7) {
        for (size_t i = 0; i < REQUESTS; i++) {
            hf__request_command(&request, words + i, 1 + 2 * i, false);
            assert_true(hf__resp_lend_request(&out, &request, false));
            assert_true(hf__resp_put_request(&wanted, &request, false));
            /* Some are sent before the next are there. */
            if (i == REQUESTS / 2)
                send_all(&out, step, &sent);
        }
        send_all(&out, step, &sent);
        assert_same(&sent, &wanted);
        hf__buf_clear(&sent);
        hf__buf_clear(&wanted);
    }
    hf__outgoing_done(&out);
    hf__buf_done(&sent);
    hf__buf_done(&wanted);
    free(space);
}

TEST(long_words_are_not_copied)
{
    static char value[4 * LONG];
    hf_bytes words[] = {hf_str("SET"), hf_str("k"),
                        hf_view(value, sizeof(value))};
    struct iovec pieces[HF__OUTGOING_PIECES];
    hf__request request;
    hf__outgoing out;

    hf__outgoing_init(&out, LIMIT);
    hf__request_command(&request, words, 3, false);
    assert_true(hf__resp_lend_request(&out, &request, false));
    assert_int_equal(hf__outgoing_pieces(&out, pieces, SIZE_MAX), 3);
    assert_ptr_equal(pieces[1].iov_base, value);
    assert_int_equal(pieces[1].iov_len, sizeof(value));
    assert_true(out.text.capacity < LONG);
    hf__outgoing_done(&out);
}

TEST(taken_back_words_are_sent_as_they_were)
{
    char *value = malloc(2 * LONG);
    hf_bytes words[] = {hf_str("SET"), hf_view(value, 2 * LONG)};
    hf__request request, other;
    hf__outgoing out;
    hf__buf sent, wanted;

    memset(value, 'v', 2 * LONG);
    hf__outgoing_init(&out, LIMIT);
    hf__buf_init(&sent, LIMIT);
    hf__buf_init(&wanted, LIMIT);
    hf__request_command(&request, words, 2, false);
    hf__request_command(&other, words, 2, false);
    for (int i = 0; i < 2; i++)
        assert_true(hf__resp_put_request(&wanted, &request, false));
    assert_true(hf__resp_lend_request(&out, &request, false));
    assert_true(hf__resp_lend_request(&out, &other, false));
    /* Half of the first is gone, of the second nothing. */
    assert_true(hf__buf_append(&sent, hf__buf_front(&wanted), LONG));
    hf__outgoing_consume(&out, LONG);
    hf__outgoing_take_back(&out, &request);
    hf__outgoing_take_back(&out, &other);
    memset(value, 'x', 2 * LONG);
    free(value);
    send_all(&out, 10000, &sent);
    assert_same(&sent, &wanted);
    assert_false(out.damaged);
    hf__outgoing_done(&out);
    hf__buf_done(&sent);
    hf__buf_done(&wanted);
}

TEST(without_memory_nothing_half_is_sent)
{
    static char value[LONG];
    hf_bytes word = hf_view(value, sizeof(value));
    hf__request request;
    hf__outgoing out;

    hf__outgoing_init(&out, LIMIT);
    hf__request_command(&request, &word, 1, false);
    /* The text, then the list. */
    for (long after = 0; after < 2; after++) {
        hf__alloc_fail_after(after);
        assert_false(hf__resp_lend_request(&out, &request, false));
        assert_int_equal(hf__outgoing_size(&out), 0);
        hf__outgoing_done(&out);
    }
    hf__alloc_fail_after(-1);
    assert_true(hf__resp_lend_request(&out, &request, false));
    hf__alloc_fail_after(0);
    hf__outgoing_take_back(&out, &request);
    hf__alloc_fail_after(-1);
    assert_true(out.damaged);
    hf__outgoing_clear(&out);
    assert_false(out.damaged);
    hf__outgoing_done(&out);
}
