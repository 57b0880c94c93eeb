/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_sample.c - see lock_sample.h.
 *
 * 1. List the locks: names and owners. Of one with several holders, the first:
 *    inspect shows that one, too.
 * 2. Keep of the sample before what is known about the same owners.
 * 3. Inspect each lock, a window at a time, and look for the holders that are
 *    not known. A client registers 100 ms after it has acquired a lock, so one
 *    that was not found is looked for again in the next sample.
 * 4. Drop what was released meanwhile, and count the changes.
 */
#include "lock_sample.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holder_text.h"
#include "holdfast/store.h"
#include "lease_clock.h"

struct taking {
    hf_client *client;
    struct lock_sample *sample;
    size_t room; /* rows */
    const atomic_bool *stop;
    hf_status status; /* of the first call that failed */
    hf_error *err;
};

/* A lock being inspected. */
struct look {
    struct taking *taking;
    struct lock_row *row;
    hf_lock_info info;
    int64_t asked_ms;
};

static hf_status fail_sample(hf_error *err, hf_status status,
                             const char *message)
{
    err->status = status;
    snprintf(err->message, sizeof(err->message), "%s", message);
    return status;
}

static void note_failure(struct taking *taking, hf_status status,
                         const hf_error *err)
{
    if (taking->status != HF_OK)
        return;
    taking->status = status;
    *taking->err = *err;
}

static bool is_stopped(const struct taking *taking)
{
    return taking->stop != NULL && atomic_load(taking->stop);
}

static hf_bytes name_of(const struct lock_row *row)
{
    return hf_view(row->name, row->name_size);
}

static int compare_bytes(hf_bytes a, hf_bytes b)
{
    int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);

    if (order != 0)
        return order;
    return a.size < b.size ? -1 : a.size > b.size;
}

static int by_name(const void *a, const void *b)
{
    return compare_bytes(name_of(a), name_of(b));
}

static bool same_owner(const struct lock_row *row, const hf_lock_info *info)
{
    return compare_bytes(holder_owner(&row->info), holder_owner(info)) == 0;
}

/* ---------------------------------------------------------------- the list */

/* Room for one more row; false: out of memory. */
static bool grow_rows(struct taking *taking)
{
    struct lock_sample *sample = taking->sample;
    size_t room = taking->room == 0 ? 64 : 2 * taking->room;
    struct lock_row *rows;

    if (sample->count < taking->room)
        return true;
    rows = realloc(sample->rows, room * sizeof(*rows));
    if (rows == NULL)
        return false;
    sample->rows = rows;
    taking->room = room;
    return true;
}

static bool is_last_name(const struct lock_sample *sample, hf_bytes name)
{
    return sample->count > 0 &&
           compare_bytes(name_of(&sample->rows[sample->count - 1]), name) == 0;
}

static int add_row(void *user, hf_bytes name, const hf_lock_info *info)
{
    struct taking *taking = user;
    struct lock_row *row;
    char *copy;

    if (is_stopped(taking))
        return 1;
    if (is_last_name(taking->sample, name))
        return 0;
    if (taking->sample->count == LOCK_SAMPLE_MAX) {
        taking->status =
            fail_sample(taking->err, HF_UNSUPPORTED, "too many locks match");
        return 1;
    }
    copy = malloc(name.size + 1);
    if (copy == NULL || !grow_rows(taking)) {
        free(copy);
        taking->status =
            fail_sample(taking->err, HF_NO_MEMORY, "out of memory");
        return 1;
    }
    memcpy(copy, name.data, name.size);
    copy[name.size] = '\0';
    row = &taking->sample->rows[taking->sample->count++];
    *row = (struct lock_row){.name = copy,
                             .name_size = name.size,
                             .info = *info,
                             .held_ms = -1,
                             .holder = HF_HOLDER_INIT};
    return 0;
}

/* Keep the rows of which `keep` is true; the others are freed. */
static void keep_rows(struct lock_sample *sample,
                      bool (*keep)(const struct lock_row *row,
                                   const struct lock_row *before))
{
    size_t kept = 0;

    for (size_t i = 0; i < sample->count; i++) {
        struct lock_row *row = &sample->rows[i];

        if (keep(row, kept > 0 ? &sample->rows[kept - 1] : NULL))
            sample->rows[kept++] = *row;
        else
            free(row->name);
    }
    sample->count = kept;
}

/* A list may have a lock twice if it was released meanwhile. */
static bool is_new_name(const struct lock_row *row,
                        const struct lock_row *before)
{
    return before == NULL || by_name(row, before) != 0;
}

static hf_status list_locks(struct taking *taking, hf_bytes pattern)
{
    struct lock_sample *sample = taking->sample;
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        hf_lock_list(taking->client, pattern, add_row, taking, &err);

    if (status != HF_OK)
        note_failure(taking, status, &err);
    if (sample->count > 0)
        qsort(sample->rows, sample->count, sizeof(*sample->rows), by_name);
    keep_rows(sample, is_new_name);
    return taking->status;
}

/* ---------------------------------------------------------------- the locks */

static void set_held(struct lock_row *row, int64_t held_ms)
{
    row->held_ms = held_ms;
    row->holder.asked_ms = held_ms;
}

static void count_wait(struct lock_waits *waits, int64_t waited_ms)
{
    size_t i = 0;

    for (int64_t most_ms = 1; waited_ms > most_ms && i < LOCK_WAIT_TIMES - 1;
         most_ms *= 4)
        i++;
    waits->times[i]++;
    waits->count++;
    waits->sum_ms += waited_ms;
}

/* Once for an owner: a holder that is known is not looked for again. Some users
 * may read locks, but not registrations. */
static void on_holder(void *user, hf_status status, const hf_error *err)
{
    struct look *look = user;
    struct lock_row *row = look->row;

    row->known = status == HF_OK;
    if (row->known && row->info.held_ms >= 0)
        count_wait(&look->taking->sample->waits,
                   row->holder.asked_ms - row->info.held_ms);
    if (row->known)
        set_held(row, holder_held_ms(&row->info, &row->holder));
    else if (status != HF_NOT_FOUND && status != HF_DENIED)
        note_failure(look->taking, status, err);
}

static void start_holder(struct look *look)
{
    struct lock_row *row = look->row;
    hf_async async = HF_ASYNC_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    async.done = on_holder;
    async.user = look;
    status =
        hf_lock_holder_start(look->taking->client, holder_owner(&row->info),
                             &row->holder, &async, &err);
    if (status != HF_OK)
        on_holder(look, status, &err);
}

/* The owner may have changed since the list. `at_ms` is when it was asked for:
 * a lease that was read does not end before what was left of it then. */
static void take_info(struct lock_row *row, const hf_lock_info *info,
                      int64_t at_ms)
{
    if (!same_owner(row, info) || row->seen_ms == 0) {
        row->known = false;
        row->held_ms = -1;
        row->seen_ms = at_ms;
        row->lease_ms = 0;
    }
    if (info->remaining_ms > row->lease_ms)
        row->lease_ms = info->remaining_ms;
    if (info->held_ms >= 0)
        set_held(row, info->held_ms);
    else if (row->held_ms >= 0)
        set_held(row, row->held_ms + at_ms - row->read_ms);
    row->info = *info;
    row->read_ms = at_ms;
}

static void on_info(void *user, hf_status status, const hf_error *err)
{
    struct look *look = user;

    if (status == HF_OK) {
        take_info(look->row, &look->info, look->asked_ms);
        if (!look->row->known)
            start_holder(look);
    } else if (status == HF_NOT_FOUND || status == HF_WRONG_TYPE) {
        look->row->read_ms = 0;
    } else {
        note_failure(look->taking, status, err);
    }
}

static void start_info(struct look *look)
{
    hf_async async = HF_ASYNC_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    async.done = on_info;
    async.user = look;
    look->info = (hf_lock_info)HF_LOCK_INFO_INIT;
    look->asked_ms = now_ms();
    status = hf_lock_inspect_start(look->taking->client, name_of(look->row),
                                   &look->info, &async, &err);
    if (status != HF_OK)
        on_info(look, status, &err);
}

/* Until all calls were reported, each of which has a deadline. */
static void await_calls(struct taking *taking, int fd)
{
    struct pollfd polled = {fd, POLLIN, 0};
    hf_error err = HF_ERROR_INIT;
    size_t running = 1;

    for (;;) {
        hf_status status = hf_client_dispatch(taking->client, &running, &err);

        if (status != HF_OK) {
            note_failure(taking, status, &err);
            return;
        }
        if (running == 0)
            return;
        (void)poll(&polled, 1, -1);
    }
}

static hf_status look_at_all(struct taking *taking)
{
    static const size_t window = LOCK_SAMPLE_WINDOW;
    struct lock_sample *sample = taking->sample;
    struct look *looks = calloc(window, sizeof(*looks));
    hf_error err = HF_ERROR_INIT;
    hf_status status;
    int fd;

    if (looks == NULL)
        return fail_sample(taking->err, HF_NO_MEMORY, "out of memory");
    status = hf_client_fd(taking->client, &fd, &err);
    if (status != HF_OK)
        note_failure(taking, status, &err);
    for (size_t i = 0; i < sample->count && taking->status == HF_OK;) {
        for (size_t j = 0; j < window && i < sample->count; j++, i++) {
            looks[j].taking = taking;
            looks[j].row = &sample->rows[i];
            start_info(&looks[j]);
        }
        await_calls(taking, fd);
        if (is_stopped(taking))
            taking->status = fail_sample(taking->err, HF_CANCELLED, "stopped");
    }
    free(looks);
    return taking->status;
}

static bool is_held(const struct lock_row *row, const struct lock_row *before)
{
    (void)before;
    return row->read_ms != 0;
}

/* -------------------------------------------------------------- the sample */

/* What is known about owners that are the same. */
static void keep_known(struct lock_sample *sample,
                       const struct lock_sample *previous)
{
    sample->waits = previous->waits;
    for (size_t i = 0; i < sample->count; i++) {
        struct lock_row *row = &sample->rows[i];
        const struct lock_row *was = lock_sample_find(previous, name_of(row));

        if (was == NULL || !same_owner(was, &row->info))
            continue;
        row->seen_ms = was->seen_ms;
        row->read_ms = was->read_ms;
        row->held_ms = was->held_ms;
        row->lease_ms = was->lease_ms;
        row->known = was->known;
        row->holder = was->holder;
    }
}

/* Less than half was left, so it was not renewed, as it is after a third. A
 * hand-over grants a second at first, which is no sign of a loss. */
static bool ran_out(const struct lock_row *row, int64_t at_ms)
{
    int64_t left_ms = row->info.remaining_ms;

    return left_ms >= 0 && left_ms < row->lease_ms / 2 &&
           row->read_ms + left_ms <= at_ms;
}

void lock_sample_compare(struct lock_sample *sample,
                         const struct lock_sample *previous)
{
    struct lock_changes *changed = &sample->changed;

    for (size_t i = 0; i < previous->count; i++) {
        const struct lock_row *was = &previous->rows[i];
        const struct lock_row *is = lock_sample_find(sample, name_of(was));

        if (was->info.mode != HF_LOCK_EXCLUSIVE ||
            (is != NULL && same_owner(is, &was->info)))
            continue;
        changed->hand_overs += is != NULL;
        changed->losses += ran_out(was, sample->ended_ms);
    }
    sample->span_ms = sample->ended_ms - previous->ended_ms;
    sample->total.hand_overs = previous->total.hand_overs + changed->hand_overs;
    sample->total.losses = previous->total.losses + changed->losses;
}

static void sum_up(struct lock_sample *sample)
{
    for (size_t i = 0; i < sample->count; i++) {
        const hf_lock_info *info = &sample->rows[i].info;

        sample->waiters += info->waiters;
        if (info->last_token > sample->last_token)
            sample->last_token = info->last_token;
    }
}

hf_status lock_sample_take(hf_client *client, hf_bytes pattern,
                           const struct lock_sample *previous,
                           const atomic_bool *stop, struct lock_sample **sample,
                           hf_error *err)
{
    struct taking taking = {.client = client, .stop = stop, .err = err};
    struct lock_sample *new = calloc(1, sizeof(*new));
    hf_status status;

    if (new == NULL)
        return fail_sample(err, HF_NO_MEMORY, "out of memory");
    taking.sample = new;
    new->began_ms = now_ms();
    status = list_locks(&taking, pattern);
    if (status == HF_OK && previous != NULL)
        keep_known(new, previous);
    if (status == HF_OK)
        status = look_at_all(&taking);
    if (status != HF_OK) {
        lock_sample_free(new);
        return status;
    }
    keep_rows(new, is_held);
    sum_up(new);
    new->ended_ms = now_ms();
    if (previous != NULL)
        lock_sample_compare(new, previous);
    *sample = new;
    return HF_OK;
}

void lock_sample_free(struct lock_sample *sample)
{
    if (sample == NULL)
        return;
    for (size_t i = 0; i < sample->count; i++)
        free(sample->rows[i].name);
    free(sample->rows);
    free(sample);
}

const struct lock_row *lock_sample_find(const struct lock_sample *sample,
                                        hf_bytes name)
{
    struct lock_row wanted = {.name = (char *)name.data,
                              .name_size = name.size};

    if (sample->count == 0)
        return NULL;
    return bsearch(&wanted, sample->rows, sample->count, sizeof(wanted),
                   by_name);
}

int64_t lock_row_held_ms(const struct lock_row *row)
{
    return row->held_ms >= 0 ? row->held_ms : row->read_ms - row->seen_ms;
}

double lock_sample_rate(const struct lock_sample *sample, uint64_t changes)
{
    return sample->span_ms > 0
               ? (double)changes * 1000 / (double)sample->span_ms
               : 0;
}

/* -------------------------------------------------------------------- JSON */

static void rate_json(struct json *json, const char *name,
                      const struct lock_sample *sample, uint64_t changes)
{
    if (sample->span_ms > 0)
        json_number(json, name, lock_sample_rate(sample, changes));
    else
        json_null(json, name);
}

void lock_sample_json(struct json *json, const struct lock_sample *sample)
{
    json_integer(json, "locks_held", (int64_t)sample->count);
    json_integer(json, "waiters", (int64_t)sample->waiters);
    rate_json(json, "hand_overs_per_s", sample, sample->changed.hand_overs);
    json_integer(json, "hand_overs", (int64_t)sample->total.hand_overs);
    json_integer(json, "losses", (int64_t)sample->total.losses);
    json_integer(json, "last_token", (int64_t)sample->last_token);
    json_open(json, "locks", '[');
    for (size_t i = 0; i < sample->count; i++) {
        const struct lock_row *row = &sample->rows[i];

        json_open(json, NULL, '{');
        holder_lock_json(json, name_of(row), true, &row->info,
                         row->known ? &row->holder : NULL);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* ---------------------------------------------------------- other requests */

struct search {
    hf_bytes owner;
    bool held;  /* by any owner */
    bool found; /* by this one */
};

static int match_owner(void *user, const hf_lock_info *holder)
{
    struct search *search = user;

    search->held = true;
    search->found = compare_bytes(holder_owner(holder), search->owner) == 0;
    return search->found;
}

hf_status lock_sample_break(hf_client *client, hf_bytes name, hf_bytes owner,
                            hf_error *err)
{
    struct search search = {.owner = owner};
    hf_status status = hf_lock_holders(client, name, match_owner, &search, err);

    if (search.found)
        return hf_lock_break(client, name, err);
    if (status != HF_OK)
        return status;
    if (search.held)
        return fail_sample(err, HF_CONFLICT, "another owner holds it now");
    return fail_sample(err, HF_NOT_FOUND, "it is not held any more");
}

static void on_fact(void *user, const char *name, const char *value)
{
    char *text = user;
    size_t size = strlen(text);

    if (strcmp(name, "store") == 0 || strcmp(name, "path") == 0 ||
        strcmp(name, "address") == 0)
        snprintf(text + size, LOCK_STORE_TEXT_SIZE - size, "%s%s",
                 size > 0 ? " " : "", value);
}

void lock_sample_store(hf_client *client, char text[LOCK_STORE_TEXT_SIZE])
{
    text[0] = '\0';
    (void)!hf_store_info(client, on_fact, text, NULL);
}
