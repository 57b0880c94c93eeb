/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_answers.c - anything that a server may reply, given to all readers of
 * replies: the slot map of a cluster, a node's description, sentinels,
 * redirects, messages of a subscription, INFO, the login.
 *
 * Each reply of the input goes to each reader: what they accept keeps the
 * bounds that the rest of the driver relies on. Replies of sentinels are put to
 * the vote together, and slot maps are installed one after another.
 */
#include <netdb.h>
#include <string.h>

#include "parse.h"
#include "store/info.h"
#include "store/redis/events/message.h"
#include "store/redis/server/login.h"
#include "store/redis/topology/cluster_view.h"
#include "store/redis/topology/sentinel_read.h"
#include "util/error.h"

#define REPLIES_MAX 16

/* Names in a slot map are resolved when it is installed: not here. */
int getaddrinfo(const char *node, const char *service,
                const struct addrinfo *hints, struct addrinfo **found)
{
    (void)node;
    (void)service;
    (void)hints;
    (void)found;
    return EAI_NONAME;
}

static void check_word(const char *text, size_t size)
{
    PROMISE(memchr(text, '\0', size) != NULL);
    for (; *text != '\0'; text++)
        PROMISE(*text > ' ' && *text <= '~');
}

static void check_failed(const hf_error *err)
{
    PROMISE(err->status != HF_OK && err->message[0] != '\0');
    PROMISE(strlen(err->message) < sizeof(err->message));
}

/* ----------------------------------------------------------------- cluster */

static void check_map(hf__cluster_map *map)
{
    uint32_t ids[HF__CLUSTER_NODES_MAX];
    uint32_t covered;
    uint32_t owned = 0;
    size_t count =
        hf__cluster_map_list(map, ids, HF__CLUSTER_NODES_MAX, &covered);

    for (uint32_t slot = 0; slot < HF__SLOT_COUNT; slot++) {
        uint32_t id = hf__cluster_map_owner(map, slot);

        owned += id != 0;
        PROMISE(id == 0 || hf__cluster_map_serves(map, id));
    }
    PROMISE(owned == covered && (count > 0) == (covered > 0));
}

static void read_map(hf__cluster_map *map, const hf_reply *reply)
{
    hf_error err = HF_ERROR_INIT;
    hf__cluster_view view;
    hf_status status =
        hf__cluster_view_read(&view, reply, "asked.example", &err);
    bool lost;

    if (status != HF_OK) {
        PROMISE(status == HF_CORRUPT || status == HF_UNAVAILABLE);
        check_failed(&err);
        return;
    }
    PROMISE(view.count > 0 && view.count <= HF__SLOT_COUNT);
    for (size_t i = 0; i < view.count; i++) {
        const hf__cluster_range *range = &view.ranges[i];

        PROMISE(range->first <= range->last && range->last < HF__SLOT_COUNT);
        PROMISE(range->port > 0 && range->port <= 65535);
        PROMISE(range->host[0] != '\0');
        check_word(range->host, sizeof(range->host));
    }
    status = hf__cluster_map_install(map, view.ranges, view.count, &lost, &err);
    PROMISE(status == HF_OK || status == HF_UNSUPPORTED);
    check_map(map);
    hf__cluster_view_done(&view);
}

static void read_line(hf_bytes line)
{
    hf__redirect redirect;
    hf_error err = HF_ERROR_INIT;

    (void)hf__redis_error(line, true, &err);
    check_failed(&err);
    err = (hf_error)HF_ERROR_INIT;
    (void)hf__redis_error(line, false, &err);
    check_failed(&err);
    memset(&redirect, 0xee, sizeof(redirect));
    hf__redirect_read(line, &redirect);
    if (redirect.kind != HF__REDIRECT_MOVED &&
        redirect.kind != HF__REDIRECT_ASK)
        return;
    PROMISE(redirect.slot < HF__SLOT_COUNT);
    PROMISE(redirect.port > 0 && redirect.port <= 65535);
    check_word(redirect.host, sizeof(redirect.host));
}

/* ---------------------------------------------------------------- sentinel */

static void check_answer(const hf__sentinel_answer *answer)
{
    check_word(answer->id, sizeof(answer->id));
    PROMISE(answer->port >= 0 && answer->port <= 65535);
    if (answer->port != 0) {
        PROMISE(answer->host[0] != '\0');
        check_word(answer->host, sizeof(answer->host));
    }
}

/* One reply for each step, and as a message; the replies of all steps together.
 */
static void read_sentinel(const hf_reply *reply, hf__sentinel_answer *answer)
{
    size_t others = hf__sentinel_other_count(reply);
    hf__sentinel_answer other;

    memset(answer, 0, sizeof(*answer));
    for (int step = 0; step < HF__SENTINEL_OTHERS; step++) {
        hf_error err = HF_ERROR_INIT;

        if (hf__sentinel_read((hf__sentinel_step)step, reply, answer, &err) !=
            HF_OK)
            check_failed(&err);
    }
    check_answer(answer);
    for (size_t at = 0; at < others; at++) {
        if (!hf__sentinel_read_other(reply, at, &other))
            continue;
        PROMISE(other.port > 0);
        check_answer(&other);
        *answer = other;
    }
    (void)hf__sentinel_is_hint(reply, "mymaster");
}

/* One round for each way of counting. */
static void count_votes(const hf__sentinel_answer *const *answers, size_t count)
{
    for (unsigned ways = 0; ways < 4; ways++) {
        hf__sentinel_answer winner;
        bool newer;
        hf__sentinel_ballot ballot = {.answers = answers,
                                      .count = count,
                                      .known = count + ways % 2,
                                      .is_final = (ways & 2) != 0,
                                      .master = count > 2 ? answers[0] : NULL};
        size_t votes = 0;

        if (hf__sentinel_count(&ballot, &winner, &newer) != HF__BALLOT_DECIDED)
            continue;
        PROMISE(winner.port > 0);
        for (size_t i = 0; i < count; i++)
            votes += answers[i]->port == winner.port &&
                     strcmp(answers[i]->host, winner.host) == 0 &&
                     answers[i]->epoch <= winner.epoch;
        PROMISE(votes > 0);
    }
}

/* ------------------------------------------------------------------ others */

static void read_text(hf_bytes text)
{
    static const char *const names[] = {"run_id", "role", "uptime_in_seconds",
                                        "", "a"};
    hf__cluster_self self;
    char value[16];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        memset(value, 'x', sizeof(value));
        if (!hf__info_find(text, names[i], value, sizeof(value)))
            PROMISE(value[0] == '\0');
        PROMISE(memchr(value, '\0', sizeof(value)) != NULL);
        (void)hf__info_number(text, names[i], -1);
    }
    if (hf__cluster_self_read(&self, text))
        PROMISE(self.is_moving ||
                self.slot_count <= 2 * text.size * HF__SLOT_COUNT);
}

static void read_message(const hf_reply *reply)
{
    hf_bytes channel = hf_view(NULL, 1), topic = channel;
    hf__message_kind kind = hf__message_read(reply, &channel, &topic);
    size_t count = 0;

    if (kind == HF__MESSAGE_CHANGED && hf__message_keys(reply, &count) != NULL)
        PROMISE(count == reply->array.items[1].array.count);
    if (kind != HF__MESSAGE_EVENT)
        return;
    PROMISE(reply->array.items[2].bytes.data == topic.data);
    PROMISE(((const char *)topic.data)[topic.size] == '\0');
}

/* Every step of the login gets this reply. */
static void read_login(const hf_reply *reply)
{
    static char password[] = "geheim";
    static char username[] = "u";
    const hf__redis_account account = {.db = 3,
                                       .username = username,
                                       .password = password,
                                       .master_only = true};
    hf_error err = HF_ERROR_INIT;
    hf__login login;
    hf__buf out;

    hf__buf_init(&out, 4096);
    PROMISE(hf__login_begin(&login, &account, true, &out));
    while (!hf__login_done(&login)) {
        if (hf__login_answer(&login, reply, &err) == HF_OK)
            continue;
        check_failed(&err);
        PROMISE(err.status != HF_NO_MEMORY);
    }
    hf__buf_done(&out);
}

static void read_reply(hf__cluster_map *map, const hf_reply *reply,
                       hf__sentinel_answer *answer)
{
    read_map(map, reply);
    read_sentinel(reply, answer);
    read_message(reply);
    read_login(reply);
    if (reply->kind == HF_REPLY_ERROR)
        read_line(hf_view(reply->bytes.data, reply->bytes.size));
    if (reply->kind == HF_REPLY_STRING || reply->kind == HF_REPLY_STATUS)
        read_text(hf_view(reply->bytes.data, reply->bytes.size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static hf__cluster_map map;
    static hf__store_context context;
    static const hf__redis_account account;
    hf__sentinel_answer answers[REPLIES_MAX];
    const hf__sentinel_answer *ballot[REPLIES_MAX];
    size_t count = 0;
    hf__arena arena;
    hf_reply reply;
    replies from;

    hf__cluster_map_init(&map, &context, &account);
    hf__arena_init(&arena);
    replies_begin(&from, data, size);
    while (count < REPLIES_MAX && replies_next(&from, &arena, &reply)) {
        read_reply(&map, &reply, &answers[count]);
        ballot[count] = &answers[count];
        count++;
        hf__arena_free(&arena);
    }
    count_votes(ballot, count);
    hf__arena_free(&arena);
    replies_end(&from);
    hf__cluster_map_close(&map);
    return 0;
}
