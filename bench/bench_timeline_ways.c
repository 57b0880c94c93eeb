/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_timeline_ways.c - a timeline; a sorted set with a hash for each item,
 * read by SORT; a sorted set with a value for each item, all read and sorted by
 * the program, as the article's author did; values found by SCAN.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "bench_timeline.h"
#include "holdfast/command.h"
#include "holdfast/timeline.h"

#define BATCH 1000
#define NAME_SIZE 32
#define VALUE_SIZE (24 + TIMELINE_PAYLOAD)

/* Numbers without order, the same for every way. */
static double fee_of(int64_t number)
{
    uint64_t bits = (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15);

    return (double)(bits >> 20) / 1e3;
}

static bool is_ok(hf_status status, const hf_error *err)
{
    return status == HF_OK || bench_fail("%s", err->message);
}

/* -------------------------------------------------------------- a timeline */

/* One item in so many has the kind 0. */
#define KINDS 100

static bool add_items(hf_client *client, int64_t first, size_t count,
                      int64_t ttl_ms, size_t attribute_count)
{
    static const char payload[TIMELINE_PAYLOAD] = {'x'};
    static _Thread_local hf_timeline_add_item items[BATCH];
    static _Thread_local hf_attribute attributes[BATCH][2];
    static _Thread_local char ids[BATCH][NAME_SIZE];
    static _Thread_local hf_status statuses[BATCH];
    hf_error err = HF_ERROR_INIT;

    for (size_t i = 0; i < count; i++) {
        int64_t number = first + (int64_t)i;

        snprintf(ids[i], NAME_SIZE, "%012" PRId64, number);
        attributes[i][0] = hf_attribute_number(hf_str("fee"), fee_of(number));
        attributes[i][1] =
            hf_attribute_number(hf_str("kind"), (double)(number % KINDS));
        items[i] = (hf_timeline_add_item){
            hf_str(ids[i]), hf_view(payload, sizeof(payload)),
            ttl_ms,         0,
            attributes[i],  attribute_count};
    }
    return is_ok(hf_timeline_add_many(client, hf_str("ptxlist"), items, count,
                                      0, statuses, &err),
                 &err);
}

static bool timeline_add(hf_client *client, int64_t first, size_t count,
                         int64_t ttl_ms)
{
    return add_items(client, first, count, ttl_ms, 1);
}

static bool kinds_add(hf_client *client, int64_t first, size_t count,
                      int64_t ttl_ms)
{
    return add_items(client, first, count, ttl_ms, 2);
}

static bool read_page(hf_client *client, const hf_attribute *equals)
{
    hf_timeline_page_options options = HF_TIMELINE_PAGE_OPTIONS_INIT;
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    hf_error err = HF_ERROR_INIT;
    size_t found;

    options.order_by = hf_str("fee");
    options.limit = TIMELINE_PAGE;
    options.equals = equals;
    if (!is_ok(
            hf_timeline_page(client, hf_str("ptxlist"), &options, &page, &err),
            &err))
        return false;
    found = page.count;
    hf_timeline_items_free(&page);
    return found == TIMELINE_PAGE || bench_fail("%zu items", found);
}

static bool timeline_page(hf_client *client, int64_t items)
{
    (void)items;
    return read_page(client, NULL);
}

static bool filtered_page(hf_client *client, int64_t items)
{
    hf_attribute kind = hf_attribute_number(hf_str("kind"), 0);

    (void)items;
    return read_page(client, &kind);
}

static bool count_page(hf_client *client, int64_t items)
{
    hf_attribute kind = hf_attribute_number(hf_str("kind"), 0);
    hf_timeline_page_options options = HF_TIMELINE_PAGE_OPTIONS_INIT;
    hf_buffer next = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    size_t count;

    (void)items;
    options.order_by = hf_str("fee");
    options.equals = &kind;
    if (!is_ok(hf_timeline_count_matching(client, hf_str("ptxlist"), &options,
                                          &count, &next, &err),
               &err))
        return false;
    hf_buffer_free(&next);
    return true;
}

/* ---------------------------------------------------------------- commands */

/* Words of a list of commands. */
typedef struct commands {
    hf_bytes words[6 * BATCH];
    char text[4 * BATCH][VALUE_SIZE];
    size_t word_count;
    size_t text_count;
    hf_command_item items[2 * BATCH];
    size_t count;
} commands;

static void begin_command(commands *self, const char *name)
{
    self->items[self->count++] =
        (hf_command_item){0, &self->words[self->word_count]};
    self->words[self->word_count++] = hf_str(name);
    self->items[self->count - 1].argc = 1;
}

static char *add_word(commands *self)
{
    char *text = self->text[self->text_count++];

    self->items[self->count - 1].argc++;
    self->word_count++;
    return text;
}

static void put_word(commands *self, const char *word)
{
    char *text = add_word(self);

    snprintf(text, VALUE_SIZE, "%s", word);
    self->words[self->word_count - 1] = hf_str(text);
}

static void put_number(commands *self, const char *format, int64_t number)
{
    char *text = add_word(self);

    snprintf(text, VALUE_SIZE, format, number);
    self->words[self->word_count - 1] = hf_str(text);
}

static void put_value(commands *self, int64_t number, bool with_fee)
{
    char *text = add_word(self);
    int size = with_fee ? snprintf(text, 24, "%.3f ", fee_of(number)) : 0;

    memset(text + size, 'x', TIMELINE_PAYLOAD);
    self->words[self->word_count - 1] =
        hf_view(text, (size_t)size + TIMELINE_PAYLOAD);
}

static bool send_all(hf_client *client, commands *self)
{
    static _Thread_local hf_reply *replies[2 * BATCH];
    static _Thread_local hf_status statuses[2 * BATCH];
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    memset(replies, 0, sizeof(replies));
    status = hf_command_many(client, self->items, self->count, replies,
                             statuses, &err);
    for (size_t i = 0; i < self->count; i++)
        hf_reply_free(replies[i]);
    self->count = self->word_count = self->text_count = 0;
    return is_ok(status, &err);
}

static hf_reply *ask_server(hf_client *client, size_t count,
                            const hf_bytes *words)
{
    hf_error err = HF_ERROR_INIT;
    hf_reply *reply = NULL;

    return is_ok(hf_command(client, count, words, &reply, &err), &err) ? reply
                                                                       : NULL;
}

static int64_t unix_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The score is the deadline, for the sweep. */
static void put_in_list(commands *self, int64_t number, int64_t ttl_ms)
{
    begin_command(self, "ZADD");
    put_word(self, "ptxlist");
    put_number(self, "%" PRId64, unix_ms() + ttl_ms);
    put_number(self, "%012" PRId64, number);
}

static bool sweep_expired(hf_client *client)
{
    hf_bytes words[] = {hf_str("ZREMRANGEBYSCORE"), hf_str("ptxlist"),
                        hf_str("-inf"), hf_str("")};
    char now[24];
    hf_reply *reply;

    snprintf(now, sizeof(now), "%" PRId64, unix_ms());
    words[3] = hf_str(now);
    reply = ask_server(client, 4, words);
    hf_reply_free(reply);
    return reply != NULL;
}

static void put_value_command(commands *self, int64_t number, int64_t ttl_ms)
{
    begin_command(self, "SET");
    put_number(self, "ptx:%012" PRId64, number);
    put_value(self, number, true);
    put_word(self, "PX");
    put_number(self, "%" PRId64, ttl_ms);
}

static bool
add_each(hf_client *client, int64_t first, size_t count, int64_t ttl_ms,
         void (*put)(commands *self, int64_t number, int64_t ttl_ms))
{
    commands *self = calloc(1, sizeof(*self));
    bool good = self != NULL;

    for (size_t i = 0; i < count && good; i++) {
        put(self, first + (int64_t)i, ttl_ms);
        if (self->text_count + 12 > 4 * (size_t)BATCH || i + 1 == count)
            good = send_all(client, self);
    }
    free(self);
    return good;
}

/* -------------------------------------------------------------------- SORT */

static void put_hash(commands *self, int64_t number, int64_t ttl_ms)
{
    put_in_list(self, number, ttl_ms);
    begin_command(self, "HSET");
    put_number(self, "ptx:%012" PRId64, number);
    put_word(self, "fee");
    snprintf(add_word(self), VALUE_SIZE, "%.3f", fee_of(number));
    self->words[self->word_count - 1] =
        hf_str(self->text[self->text_count - 1]);
    put_word(self, "data");
    put_value(self, number, false);
    begin_command(self, "PEXPIRE");
    put_number(self, "ptx:%012" PRId64, number);
    put_number(self, "%" PRId64, ttl_ms);
}

static bool sort_add(hf_client *client, int64_t first, size_t count,
                     int64_t ttl_ms)
{
    return add_each(client, first, count, ttl_ms, put_hash);
}

static bool sort_page(hf_client *client, int64_t items)
{
    const hf_bytes words[] = {hf_str("SORT"),  hf_str("ptxlist"),
                              hf_str("BY"),    hf_str("ptx:*->fee"),
                              hf_str("LIMIT"), hf_str("0"),
                              hf_str("20"),    hf_str("DESC"),
                              hf_str("GET"),   hf_str("ptx:*->data")};
    hf_reply *reply = ask_server(client, 10, words);
    size_t found = hf_reply_count(reply);

    (void)items;
    hf_reply_free(reply);
    return found == TIMELINE_PAGE || bench_fail("%zu items", found);
}

/* ------------------------------------------------- everything is fetched */

static int by_fee(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a < b) - (a > b);
}

/* Fetch the values of `count` keys; their fees. false: failed. */
static bool fetch_fees(hf_client *client, hf_bytes *words, size_t count,
                       double *fees, size_t *fee_count)
{
    hf_reply *reply;

    if (count == 0)
        return true;
    words[0] = hf_str("MGET");
    reply = ask_server(client, count + 1, words);
    for (size_t i = 0; i < hf_reply_count(reply); i++) {
        hf_bytes value = hf_reply_bytes(hf_reply_at(reply, i));

        if (value.size > 0)
            fees[(*fee_count)++] = strtod(value.data, NULL);
    }
    hf_reply_free(reply);
    return reply != NULL;
}

static bool sort_fees(double *fees, size_t count)
{
    qsort(fees, count, sizeof(*fees), by_fee);
    return count >= TIMELINE_PAGE || bench_fail("%zu items", count);
}

static void put_both(commands *self, int64_t number, int64_t ttl_ms)
{
    put_in_list(self, number, ttl_ms);
    put_value_command(self, number, ttl_ms);
}

static bool fetch_add(hf_client *client, int64_t first, size_t count,
                      int64_t ttl_ms)
{
    return add_each(client, first, count, ttl_ms, put_both);
}

static bool fetch_page(hf_client *client, int64_t items)
{
    static hf_bytes words[BATCH + 1];
    static char names[BATCH][NAME_SIZE];
    const hf_bytes all[] = {hf_str("ZRANGE"), hf_str("ptxlist"), hf_str("0"),
                            hf_str("-1")};
    hf_reply *ids = ask_server(client, 4, all);
    double *fees = calloc(2 * (size_t)items + 100000, sizeof(*fees));
    size_t at = 0, fee_count = 0;
    bool good = ids != NULL && fees != NULL;

    for (size_t i = 0; i < hf_reply_count(ids) && good; i++) {
        hf_bytes id = hf_reply_bytes(hf_reply_at(ids, i));

        snprintf(names[at], NAME_SIZE, "ptx:%.*s", (int)id.size,
                 (const char *)id.data);
        words[at + 1] = hf_str(names[at]);
        at++;
        if (at == BATCH || i + 1 == hf_reply_count(ids)) {
            good = fetch_fees(client, words, at, fees, &fee_count);
            at = 0;
        }
    }
    good = good && sort_fees(fees, fee_count);
    hf_reply_free(ids);
    free(fees);
    return good;
}

/* -------------------------------------------------------------------- SCAN */

static bool scan_add(hf_client *client, int64_t first, size_t count,
                     int64_t ttl_ms)
{
    return add_each(client, first, count, ttl_ms, put_value_command);
}

/* One step of SCAN, and the values of what it found. */
static bool scan_step(hf_client *client, char cursor[24], double *fees,
                      size_t *fee_count)
{
    static hf_bytes words[4 * BATCH + 1];
    const hf_bytes scan[] = {hf_str("SCAN"),  hf_str(cursor),  hf_str("MATCH"),
                             hf_str("ptx:*"), hf_str("COUNT"), hf_str("1000")};
    hf_reply *reply = ask_server(client, 6, scan);
    const hf_reply *keys = hf_reply_at(reply, 1);
    size_t count = hf_reply_count(keys);
    bool good = reply != NULL && count <= (size_t)4 * BATCH;

    for (size_t i = 0; i < count && good; i++)
        words[i + 1] = hf_reply_bytes(hf_reply_at(keys, i));
    if (good) {
        hf_bytes next = hf_reply_bytes(hf_reply_at(reply, 0));

        good = fetch_fees(client, words, count, fees, fee_count);
        snprintf(cursor, 24, "%.*s", (int)next.size, (const char *)next.data);
    }
    hf_reply_free(reply);
    return good;
}

static bool scan_page(hf_client *client, int64_t items)
{
    double *fees = calloc(4 * (size_t)items + 100000, sizeof(*fees));
    size_t fee_count = 0;
    char cursor[24] = "0";
    bool good = fees != NULL;

    do
        good = good && scan_step(client, cursor, fees, &fee_count);
    while (good && strcmp(cursor, "0") != 0);
    good = good && sort_fees(fees, fee_count);
    free(fees);
    return good;
}

const timeline_way timeline_ways[] = {
    {"timeline", timeline_add, timeline_page, NULL, false},
    {"sort", sort_add, sort_page, sweep_expired, false},
    {"fetch", fetch_add, fetch_page, sweep_expired, false},
    {"scan", scan_add, scan_page, NULL, false},
    {"filtered", kinds_add, filtered_page, NULL, true},
    {"counted", kinds_add, count_page, NULL, true},
};
const int timeline_way_count = sizeof(timeline_ways) / sizeof(timeline_ways[0]);
