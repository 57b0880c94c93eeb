/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_sentinel_vote_test.c - the rule by which sentinels name a master, and
 * what a URL may say about them. No sentinel is queried.
 */
#include "redis_driver.h"

#include <stdio.h>

#include "store/redis/topology/sentinel_url.h"
#include "store/redis/topology/sentinel_vote.h"

#define ANSWERS_MAX 5

/* "id host epoch": port 1 for all; host "-": no such master. */
typedef struct vote_row {
    const char *answers[ANSWERS_MAX];
    size_t known;
    bool is_final;
    const char *master; /* "host epoch" or NULL */
    hf__sentinel_vote vote;
    const char *winner; /* "host epoch" or NULL */
    bool newer;
} vote_row;

static void read_answer(const char *text, hf__sentinel_answer *answer)
{
    unsigned long long epoch = 0;

    memset(answer, 0, sizeof(*answer));
    assert_int_equal(
        sscanf(text, "%40s %200s %llu", answer->id, answer->host, &epoch), 3);
    answer->epoch = epoch;
    answer->port = strcmp(answer->host, "-") != 0;
    if (strcmp(answer->id, "?") == 0)
        answer->id[0] = '\0';
}

static void check_row(const vote_row *row, size_t number)
{
    hf__sentinel_answer answers[ANSWERS_MAX];
    const hf__sentinel_answer *pointers[ANSWERS_MAX];
    hf__sentinel_ballot ballot = {
        .answers = pointers, .known = row->known, .is_final = row->is_final};
    hf__sentinel_answer master;
    hf__sentinel_answer winner;
    char text[300];
    bool newer;

    for (; ballot.count < ANSWERS_MAX && row->answers[ballot.count] != NULL;
         ballot.count++) {
        read_answer(row->answers[ballot.count], &answers[ballot.count]);
        pointers[ballot.count] = &answers[ballot.count];
    }
    if (row->master != NULL) {
        snprintf(text, sizeof(text), "? %s", row->master);
        read_answer(text, &master);
        ballot.master = &master;
    }
    if (hf__sentinel_count(&ballot, &winner, &newer) != row->vote ||
        newer != row->newer)
        fail_msg("row %zu: another outcome", number);
    if (row->winner == NULL)
        return;
    snprintf(text, sizeof(text), "%s %llu", winner.host,
             (unsigned long long)winner.epoch);
    assert_string_equal(text, row->winner);
}

static const vote_row vote_rows[] = {
    /* Early: a majority of all known ones. */
    {{"a m 1"}, 3, false, NULL, HF__BALLOT_OPEN, NULL, false},
    {{"a m 1", "b m 1"}, 3, false, NULL, HF__BALLOT_DECIDED, "m 1", false},
    {{"a m 1", "b n 1"}, 3, false, NULL, HF__BALLOT_OPEN, NULL, false},
    {{"a m 1"}, 1, false, NULL, HF__BALLOT_DECIDED, "m 1", false},
    {{"a m 1", "b m 1"}, 4, false, NULL, HF__BALLOT_OPEN, NULL, false},
    {{NULL}, 3, false, NULL, HF__BALLOT_OPEN, NULL, false},
    {{"a - 0"}, 3, false, NULL, HF__BALLOT_OPEN, NULL, false},
    /* When no other will reply: a majority of those that name one. */
    {{"a m 1"}, 3, true, NULL, HF__BALLOT_DECIDED, "m 1", false},
    {{"a m 1", "b - 0"}, 3, true, NULL, HF__BALLOT_DECIDED, "m 1", false},
    {{"a m 1", "b n 1"}, 3, true, NULL, HF__BALLOT_SPLIT, NULL, false},
    {{"a m 1", "b n 2"}, 2, true, NULL, HF__BALLOT_SPLIT, NULL, false},
    {{"a m 1", "b n 1", "c o 1"}, 3, true, NULL, HF__BALLOT_SPLIT, NULL, false},
    {{"a m 1", "b m 1", "c n 1"},
     3,
     true,
     NULL,
     HF__BALLOT_DECIDED,
     "m 1",
     false},
    {{NULL}, 3, true, NULL, HF__BALLOT_SILENT, NULL, false},
    {{"a - 0", "b - 0"}, 3, true, NULL, HF__BALLOT_NAMELESS, NULL, false},
    /* One sentinel at two addresses has one vote. */
    {{"a n 1", "a n 1", "b m 1", "c m 1"},
     3,
     true,
     NULL,
     HF__BALLOT_DECIDED,
     "m 1",
     false},
    {{"a m 1", "a m 1"}, 3, false, NULL, HF__BALLOT_OPEN, NULL, false},
    {{"? m 1", "? m 1"}, 3, false, NULL, HF__BALLOT_DECIDED, "m 1", false},
    /* A minority that knows of a later failover. */
    {{"a m 5", "b m 5", "c n 6"},
     3,
     true,
     NULL,
     HF__BALLOT_DECIDED,
     "m 5",
     true},
    {{"a n 6", "b m 5", "c n 5"},
     3,
     true,
     NULL,
     HF__BALLOT_DECIDED,
     "n 6",
     false},
    /* An earlier epoch needs all sentinels. */
    {{"a m 5"}, 3, true, "n 6", HF__BALLOT_STALE, NULL, false},
    {{"a m 5", "b m 5"}, 3, true, "n 6", HF__BALLOT_STALE, NULL, false},
    {{"a m 5", "b m 5", "c n 6"}, 4, true, "n 6", HF__BALLOT_STALE, NULL, true},
    {{"a m 5", "b m 5", "c m 5"},
     3,
     false,
     "n 6",
     HF__BALLOT_DECIDED,
     "m 5",
     false},
    {{"a n 6", "b n 6"}, 3, false, "n 6", HF__BALLOT_DECIDED, "n 6", false},
    {{"a m 7", "b m 7"}, 3, false, "n 6", HF__BALLOT_DECIDED, "m 7", false},
};

TEST(votes_are_counted_by_the_rule)
{
    for (size_t at = 0; at < sizeof(vote_rows) / sizeof(vote_rows[0]); at++)
        check_row(&vote_rows[at], at);
}

static hf_status parse(const char *text, hf__sentinel_url *place, hf_error *err)
{
    hf__url url;
    hf__store_config config = {.url = &url};
    hf_status status;

    assert_int_equal(hf__url_parse(text, &url, err), HF_OK);
    config.username = url.username;
    config.password = url.password;
    status = hf__sentinel_url_init(place, &config, err);
    hf__url_done(&url);
    return status;
}

TEST(url_names_sentinels_master_and_accounts)
{
    hf_error err = HF_ERROR_INIT;
    hf__sentinel_url place;

    assert_int_equal(
        parse("valkey+sentinel://me:pw@h1,h2:7,[::1]:8/m-1/3?sentinel_username="
              "s&sentinel_password=t",
              &place, &err),
        HF_OK);
    assert_string_equal(place.name, "m-1");
    assert_int_equal(place.count, 3);
    assert_string_equal(place.sentinels[0].text, "h1:26379");
    assert_string_equal(place.sentinels[1].text, "h2:7");
    assert_string_equal(place.sentinels[2].text, "[::1]:8");
    assert_int_equal(place.account.db, 3);
    assert_true(place.account.master_only);
    assert_string_equal(place.account.username, "me");
    assert_string_equal(place.account.password, "pw");
    assert_string_equal(place.watchers.username, "s");
    assert_string_equal(place.watchers.password, "t");
    assert_false(place.watchers.master_only);
    assert_int_equal(place.watchers.db, 0);
    hf__sentinel_url_done(&place);

    assert_int_equal(parse("redis+sentinel://:pw@h/m", &place, &err), HF_OK);
    assert_string_equal(place.account.password, "pw");
    assert_null(place.watchers.password);
    assert_null(place.account.tls);
    hf__sentinel_url_done(&place);

    assert_int_equal(
        parse("rediss+sentinel://h/m?tls_verify=none", &place, &err), HF_OK);
    assert_non_null(place.account.tls);
    assert_ptr_equal(place.account.tls, place.watchers.tls);
    hf__sentinel_url_done(&place);
}

TEST(wrong_url_names_the_part)
{
    static const struct {
        const char *url;
        const char *part;
    } rows[] = {
        {"redis+sentinel://h", "master's name"},
        {"redis+sentinel://h/", "master's name"},
        {"redis+sentinel://h//0", "master's name"},
        {"redis+sentinel:///m", "host"},
        {"redis+sentinel:m", "master's name"},
        {"redis+sentinel://h/m%20n", "space"},
        {"redis+sentinel://h/m/x", "database"},
        {"redis+sentinel://h/m/-1", "database"},
        {"redis+sentinel://h/m/0/1", "database"},
        {"redis+sentinel://h/m?no=1", "no"},
        {"redis+sentinel://h/m?tls_ca=/x", "tls_ca"},
        {"redis+sentinel://h/m?sentinel_username=s", "sentinel_password"},
        {"redis+sentinel://me@h/m", "password"},
        {"rediss+sentinel://h/m?tls_ca=/nowhere", "tls_ca"},
        {"redis+sentinel://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q/m",
         "more than 16"},
    };

    for (size_t at = 0; at < sizeof(rows) / sizeof(rows[0]); at++) {
        hf_error err = HF_ERROR_INIT;
        hf__sentinel_url place;

        assert_int_equal(parse(rows[at].url, &place, &err), HF_INVALID);
        if (strstr(err.message, rows[at].part) == NULL)
            fail_msg("%s: %s", rows[at].url, err.message);
    }
}
