/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quorum_tally_test.c - the tally of the replies of five nodes, by tables.
 *
 * The replies are written as text, one word for each node:
 *
 *   .          outstanding         7, 1, -1  an integer
 *   ,          the same, but silent
 *   u          not reached         A9        refused: A holds it for 9 ms
 *   i          no reply            [2:0]     renewed, but for lock 2: gone
 *   c          malformed reply
 *   d          refused the command (A,9,7,2) inspected: holder, lease, token,
 *   ?7         7, and may not vote           waiters; "-" for no holder
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/quorum/tally.h"
#include "support/test.h"

#define NODES 5
#define MAJORITY 3
#define TEXT_SIZE 128

/* ------------------------------------------------------------ reading replies
 */

static void read_refusal(const char *word, hf_reply *reply, hf__arena *arena)
{
    assert_true(hf__reply_set_array(reply, 3, arena));
    hf__reply_set_integer(&reply->array.items[0], strtoll(word + 1, NULL, 10));
    assert_true(hf__reply_set_bytes(&reply->array.items[1], HF_REPLY_STRING,
                                    word, 1, arena));
    hf__reply_set_integer(&reply->array.items[2], 100 + word[0]);
}

static void read_renewals(const char *word, hf_reply *reply, hf__arena *arena)
{
    size_t count = 0;

    for (const char *at = word; *at != '\0'; at++)
        count += *at == ':';
    assert_true(hf__reply_set_array(reply, 2 * count, arena));
    for (size_t i = 0; i < 2 * count; i++) {
        word++;
        hf__reply_set_integer(&reply->array.items[i],
                              strtoll(word, (char **)(void *)&word, 10));
    }
}

static void read_part(const char *text, size_t size, bool is_number,
                      hf_reply *reply, hf__arena *arena)
{
    if (is_number)
        hf__reply_set_integer(reply, strtoll(text, NULL, 10));
    else if (size == 1 && text[0] == '-')
        hf__reply_set_nil(reply);
    else
        assert_true(
            hf__reply_set_bytes(reply, HF_REPLY_STRING, text, size, arena));
}

static void read_inspection(const char *word, hf_reply *reply, hf__arena *arena)
{
    assert_true(hf__reply_set_array(reply, 4, arena));
    for (size_t i = 0; i < 4; i++) {
        size_t size = strcspn(++word, ",)");

        read_part(word, size, i % 2 == 1, &reply->array.items[i], arena);
        word += size;
    }
}

static void read_reply(const char *word, hf_reply *reply, hf__arena *arena)
{
    if (word[0] == '[')
        read_renewals(word, reply, arena);
    else if (word[0] == '(')
        read_inspection(word, reply, arena);
    else if (word[0] >= 'A' && word[0] <= 'Z')
        read_refusal(word, reply, arena);
    else
        hf__reply_set_integer(reply, strtoll(word, NULL, 10));
}

static void read_vote(const char *word, hf__node_vote *vote, hf_reply *reply,
                      hf__arena *arena)
{
    memset(vote, 0, sizeof(*vote));
    hf__reply_set_nil(reply);
    vote->reply = reply;
    vote->done = word[0] != '.' && word[0] != ',';
    vote->silent = word[0] == ',';
    if (word[0] == 'u')
        vote->status = HF_UNAVAILABLE;
    else if (word[0] == 'i')
        vote->status = HF_INDETERMINATE;
    else if (word[0] == 'd')
        vote->status = HF_DENIED;
    else if (word[0] == 'c')
        vote->status = HF_CORRUPT;
    else if (vote->done)
        read_reply(word[0] == '?' ? word + 1 : word, reply, arena);
    vote->counts = vote->done && vote->status == HF_OK && word[0] != '?';
}

/* ------------------------------------------------------------ writing verdicts
 */

static int write_one(const hf_reply *reply, char *text, size_t room)
{
    if (reply->kind == HF_REPLY_INTEGER)
        return snprintf(text, room, "%lld", (long long)reply->integer);
    if (reply->kind == HF_REPLY_STRING)
        return snprintf(text, room, "%s", reply->bytes.data);
    return snprintf(text, room, "-");
}

static void write_verdict(const hf__tally *tally, char text[TEXT_SIZE])
{
    const hf_reply *reply = &tally->reply;
    size_t size = 0;

    if (tally->kind == HF__TALLY_OPEN) {
        snprintf(text, TEXT_SIZE, "open");
    } else if (tally->kind == HF__TALLY_TOKEN) {
        snprintf(text, TEXT_SIZE, "token %llu",
                 (unsigned long long)tally->token);
    } else if (tally->kind == HF__TALLY_FAILED) {
        snprintf(text, TEXT_SIZE, "%s", hf_status_name(tally->status));
    } else if (reply->kind == HF_REPLY_ARRAY) {
        text[0] = '\0';
        for (size_t i = 0; i < reply->array.count; i++) {
            size += (size_t)snprintf(text + size, TEXT_SIZE - size, "%s",
                                     i == 0 ? "" : " ");
            size += (size_t)write_one(&reply->array.items[i], text + size,
                                      TEXT_SIZE - size);
        }
    } else {
        (void)write_one(reply, text, TEXT_SIZE);
    }
}

typedef struct row {
    const char *answers;
    const char *verdict;
} row;

static bool tally_row(const hf__request *request, const row *one, size_t number)
{
    char words[TEXT_SIZE];
    char text[TEXT_SIZE] = "";
    char *next = words;
    hf__node_vote votes[NODES];
    hf_reply replies[NODES];
    hf__arena arena;
    hf__tally tally;

    hf__arena_init(&arena);
    snprintf(words, sizeof(words), "%s", one->answers);
    for (size_t i = 0; i < NODES; i++) {
        const char *word = strsep(&next, " ");

        assert_non_null(word);
        read_vote(word, &votes[i], &replies[i], &arena);
    }
    assert_null(next);
    assert_true(
        hf__tally_votes(request, votes, NODES, MAJORITY, &arena, &tally));
    write_verdict(&tally, text);
    hf__arena_free(&arena);
    if (strcmp(text, one->verdict) == 0)
        return true;
    print_error("row %zu: %s: \"%s\", not \"%s\"\n", number, one->answers, text,
                one->verdict);
    return false;
}

static void expect_rows(uint32_t script, size_t keys, const row *rows,
                        size_t count)
{
    hf_bytes words[8] = {{NULL, 0}};
    hf__request request;
    size_t wrong = 0;

    hf__request_script(&request, &hf__scripts[script], words, 7, keys);
    assert_true(hf__tally_knows(request.script));
    for (size_t i = 0; i < count; i++)
        wrong += !tally_row(&request, &rows[i], i);
    assert_int_equal(wrong, 0);
}

#define EXPECT(script, keys, rows)                                             \
    expect_rows(script, keys, rows, sizeof(rows) / sizeof((rows)[0]))

/* --------------------------------------------------------------------- rules
 */

TEST(tally_of_an_acquire)
{
    static const row rows[] = {
        /* granted by a majority, with the greatest token */
        {"7 . . . .", "open"},
        {"7 9 . . .", "open"},
        {"7 9 8 . .", "token 9"},
        {"7 9 8 10 .", "token 10"},
        {"7 u 8 i 3", "token 8"},
        {"7 A5 8 B6 3", "token 8"},
        {"?9 7 8 6 .", "token 8"},
        /* votes that do not count */
        {"?9 ?9 7 . .", "open"},
        {"?9 ?9 7 8 u", "UNAVAILABLE"},
        {"?A9 ?A9 ?A9 8 7", "UNAVAILABLE"},
        /* held: the lease is the longest of the holder's */
        {"A9 . . . .", "open"},
        {"A9 A5 . . .", "open"},
        {"A9 A5 A7 . .", "9 A 165"},
        {"A5 A9 u A7 .", "9 A 165"},
        {"A5 7 A9 A7 .", "9 A 165"},
        /* split: no holder */
        {"7 8 A9 . .", "open"},
        {"7 8 A9 A4 .", "open"},
        {"7 8 A9 A4 u", "0 A 165"},
        {"7 8 A9 B4 C3", "0 A 165"},
        {"7 A9 B4 B3 .", "0 B 166"},
        {"A1 B4 C3 . .", "0 B 166"},
        {"A1 B4 C3 D9 E2", "0 D 168"},
        /* too few are reachable */
        {"7 8 u u .", "open"},
        {"7 8 u u u", "UNAVAILABLE"},
        {"7 8 i i i", "UNAVAILABLE"},
        {"7 u u u .", "UNAVAILABLE"},
        {"A9 A9 u u .", "open"},
        {"A9 A9 u u u", "UNAVAILABLE"},
        {"u u u . .", "UNAVAILABLE"},
        {"c c c . .", "UNAVAILABLE"},
        {"c c . . .", "open"},
        {"u u . . .", "open"},
        {"u u u u u", "UNAVAILABLE"},
        {"A9 A9 u u A9", "9 A 165"},
        /* silent nodes change only how long it takes */
        {"7 8 A9 , ,", "0 A 165"},
        {"7 8 . , ,", "open"},
        {"7 8 u , ,", "UNAVAILABLE"},
        {"7 8 , 9 ,", "token 9"},
        {"A9 A9 A9 , ,", "9 A 165"},
        /* refused commands */
        {"d d . . .", "open"},
        {"d d d . .", "DENIED"},
        {"d d 7 8 9", "token 9"},
        {"d 7 8 u u", "DENIED"},
    };

    EXPECT(HF__SCRIPT_LOCK_ACQUIRE, 3, rows);
}

TEST(tally_of_a_release)
{
    static const row rows[] = {
        {"1 1 . . .", "open"},
        {"1 1 1 . .", "1"},
        {"0 1 1 -1 1", "1"},
        {"0 0 0 . .", "0"},
        {"0 0 -1 . .", "0"},
        {"-1 -1 0 . .", "0"},
        {"-1 -1 -1 . .", "-1"},
        /* released where it was held; the others were never reached */
        {"1 1 0 u u", "1"},
        {"1 1 0 i i", "1"},
        {"1 1 0 i .", "open"},
        {"1 1 0 , ,", "1"},
        /* it had ended on most */
        {"1 0 -1 u u", "1"},
        {"1 1 0 -1 u", "1"},
        {"1 0 0 -1 u", "0"},
        {"1 1 0 -1 0", "0"},
        {"1 0 0 0 .", "0"},
        /* too few: some of it is done, or may be */
        {"1 1 u u u", "INDETERMINATE"},
        {"0 u u u u", "INDETERMINATE"},
        {"u u u u i", "INDETERMINATE"},
        {"u u u u c", "INDETERMINATE"},
        {"1 1 1 c c", "1"},
        {"c c c 1 1", "INDETERMINATE"},
        {"u u u u u", "UNAVAILABLE"},
        {"u u u u .", "open"},
        {"?1 ?1 ?1 1 1", "INDETERMINATE"},
        {"d d d . .", "DENIED"},
    };

    EXPECT(HF__SCRIPT_LOCK_RELEASE, 3, rows);
}

TEST(tally_of_renewals)
{
    static const row rows[] = {
        {"[] [] . . .", "open"},
        {"[] [] [] . .", ""},
        {"[] u [] i []", ""},
        /* three of five nodes are without it: whatever the others say */
        {"[2:0] [2:0] . . .", "open"},
        {"[2:0] [2:0] [2:0] . .", "2 0"},
        {"[2:0] [2:0] [2:-1] . .", "2 0"},
        {"[2:-1] [2:-1] [2:-1] . .", "2 -1"},
        {"[2:-1] [2:-1] [2:0] [2:-1] .", "2 -1"},
        {"[2:0] [2:0] [] [] []", ""},
        {"[2:0] [2:0] [] [] .", "open"},
        /* each lock separately */
        {"[1:0,3:-1] [1:0,3:-1] [1:0,3:-1] . .", "1 0 3 -1"},
        {"[1:0] [2:0] [3:0] . .", "open"},
        {"[1:0] [2:0] [3:0] [] .", ""},
        {"[1:0,2:0] [1:0,3:0] [1:0,2:0] . .", "open"},
        {"[1:0,2:0] [1:0,3:0] [1:0,2:0] [] []", "1 0"},
        /* an unknown one does not affect the others */
        {"[2:0] [2:0] [] [] u", "2 1"},
        {"[2:0] [2:0] [] [] i", "2 1"},
        {"[1:0,2:0] [1:0,2:-1] [1:0] [1:0] u", "1 0 2 1"},
        {"[2:0] [] [] u u", "2 1"},
        {"[] [] u u u", "INDETERMINATE"},
        {"[] [2:0] u u .", "open"},
        {"?[] ?[] ?[] [] []", "INDETERMINATE"},
        {"u u u u u", "UNAVAILABLE"},
        {"d d d . .", "DENIED"},
    };

    EXPECT(HF__SCRIPT_LOCK_RENEW, 3, rows);
}

TEST(tally_of_an_inspection)
{
    static const row rows[] = {
        {"(A,9,7,0) (A,5,9,2) . . .", "open"},
        /* the shortest lease, the greatest token, the queue of a majority */
        {"(A,9,7,0) (A,5,9,2) (A,7,8,1) . .", "A 5 9 0"},
        {"(A,9,7,3) (A,5,9,2) (A,7,8,4) . .", "A 5 9 2"},
        {"(-,-2,7,3) (-,-2,9,2) (A,7,8,4) (-,-2,9,0) (-,-2,9,4)", "- -2 9 3"},
        {"(-,-2,7,0) (-,-2,-,0) (-,-2,8,0) . .", "- -2 8 0"},
        {"(-,-2,-,0) (-,-2,-,0) (-,-2,-,0) . .", "- -2 - 0"},
        /* a holder who needs one more node */
        {"(A,9,7,0) (A,5,9,2) (-,-2,-,0) . .", "open"},
        {"(A,9,7,0) (A,5,9,2) (-,-2,-,1) (A,6,1,3) .", "A 5 9 1"},
        {"(A,9,7,0) (A,5,9,2) (-,-2,-,0) u u", "- -2 9 0"},
        {"(A,9,7,0) (-,-2,-,0) (-,-2,-,0) . .", "open"},
        {"(A,9,7,0) (-,-2,-,0) (-,-2,-,0) (-,-2,-,0) .", "- -2 7 0"},
        /* split */
        {"(A,9,7,0) (A,5,9,2) (B,9,1,0) (B,9,1,2) u", "- -2 9 0"},
        {"(B,9,7,0) (A,5,9,2) (A,8,1,4) (A,6,1,2) u", "A 5 9 2"},
        /* it changes nothing: never indeterminate */
        {"(A,9,7,0) (A,5,9,2) i u u", "UNAVAILABLE"},
        {"(A,9,7,0) (A,5,9,2) i u .", "open"},
    };

    EXPECT(HF__SCRIPT_LOCK_INSPECT, 3, rows);
}

TEST(tally_of_what_any_node_may_have_to_do)
{
    static const row rows[] = {
        {"1 0 . . .", "open"},
        {"1 0 0 . .", "1"},
        {"0 0 0 . .", "0"},
        {"0 u 0 i 0", "0"},
        {"1 u u u 0", "INDETERMINATE"},
        {"u u u i u", "INDETERMINATE"},
        {"u u u u u", "UNAVAILABLE"},
        {"u u u . .", "open"},
        {"d d d . .", "DENIED"},
    };

    EXPECT(HF__SCRIPT_LOCK_BREAK, 3, rows);
}

/* A reply that no script returns must do no harm. */
TEST(tally_of_nonsense)
{
    static const row acquired[] = {
        {"[1:2] [] (A,9,7,2) [1:2] .", "UNAVAILABLE"},
        {"[1:2] [] (A,9,7,2) 7 7", "UNAVAILABLE"},
    };
    static const row inspected[] = {
        {"7 A9 [] 7 7", "- -2 - 0"},
    };
    static const row released[] = {
        {"A9 [] (A,9,7,2) A9 A9", "INDETERMINATE"},
        {"5 5 5 5 5", "INDETERMINATE"},
    };
    static const row renewed[] = {
        {"7 7 7 7 7", "1 1 2 1 3 1"},
        {"[9:0] [9:0] [9:0] . .", "open"},
        {"[9:0] [0:0] [-1:0] [4:0] [9:0]", "1 1 2 1 3 1"},
        {"(1,1,1,1) (1,1,1,1) (1,1,1,1) [] []", "1 1 2 1 3 1"},
    };

    EXPECT(HF__SCRIPT_LOCK_ACQUIRE, 3, acquired);
    EXPECT(HF__SCRIPT_LOCK_INSPECT, 3, inspected);
    EXPECT(HF__SCRIPT_LOCK_RELEASE, 3, released);
    EXPECT(HF__SCRIPT_LOCK_RENEW, 3, renewed);
}

TEST(scripts_without_a_rule)
{
    assert_false(hf__tally_knows(NULL));
    assert_false(hf__tally_knows(&hf__scripts[HF__SCRIPT_VALUE_CAS]));
    assert_false(hf__tally_knows(&hf__scripts[HF__SCRIPT_LOCK_CONFIRM]));
}
