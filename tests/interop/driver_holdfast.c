/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_holdfast.c - our locks, as libraries.py drives them.
 *
 * usage: driver_holdfast PORT KIND
 *
 * KIND is plain, or a lock of Redisson: lock, fair, fenced, write; or three,
 * which is three plain locks at once: the name's "mutex:0:" is also "mutex:1:"
 * and "mutex:2:". The protocol is in driver.py.
 */
#include <holdfast.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PARTS_MAX 3
#define PART_DIGIT 6 /* in "mutex:0:" */
#define COUNT_WAIT_MS 1000
#define COUNT_LEASE_MS 30000

static hf_client *client;
static const char *kind;
static hf_lock *parts[PARTS_MAX];
static size_t part_count;

static void check(hf_status status, const hf_error *err)
{
    if (status == HF_OK)
        return;
    printf("error %s\n", err->message);
    exit(1);
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void pause_us(int64_t us)
{
    struct timespec pause = {us / 1000000, us % 1000000 * 1000};

    nanosleep(&pause, NULL);
}

static const struct {
    const char *text;
    hf_redisson_kind kind;
} redisson_kinds[] = {
    {"lock", HF_REDISSON_LOCK},
    {"fair", HF_REDISSON_FAIR_LOCK},
    {"fenced", HF_REDISSON_FENCED_LOCK},
    {"write", HF_REDISSON_WRITE_LOCK},
};

static hf_lock *make_lock(hf_bytes name, const hf_lock_options *options)
{
    hf_error err = HF_ERROR_INIT;
    hf_lock *lock = NULL;

    for (size_t i = 0; i < sizeof(redisson_kinds) / sizeof(*redisson_kinds);
         i++) {
        if (strcmp(kind, redisson_kinds[i].text) == 0)
            check(hf_redisson_lock_new(client, name, redisson_kinds[i].kind,
                                       options, &lock, &err),
                  &err);
    }
    if (lock == NULL)
        check(hf_lock_new(client, name, options, &lock, &err), &err);
    return lock;
}

static void drop(void)
{
    while (part_count > 0)
        hf_lock_free(parts[--part_count]);
}

/* The same handles for the same lock: they remember who else uses it. */
static void make_parts(const char *name, int64_t lease_ms)
{
    static char made[256];
    static int64_t made_lease_ms;
    size_t wanted = strcmp(kind, "three") == 0 ? PARTS_MAX : 1;
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    char part[256];

    if (part_count > 0 && strcmp(name, made) == 0 && lease_ms == made_lease_ms)
        return;
    snprintf(made, sizeof(made), "%s", name);
    made_lease_ms = lease_ms;
    options.ttl_ms = lease_ms;
    snprintf(part, sizeof(part), "%s", name);
    drop();
    while (part_count < wanted) {
        if (wanted > 1)
            part[PART_DIGIT] = (char)('0' + part_count);
        parts[part_count++] = make_lock(hf_str(part), &options);
    }
}

static bool acquire(int64_t wait_ms)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        part_count == 1 ? hf_lock_acquire(parts[0], wait_ms, &err)
                        : hf_lock_acquire_all(parts, part_count, wait_ms, &err);

    if (status == HF_TIMEOUT)
        return false;
    check(status, &err);
    return true;
}

static bool release(void)
{
    bool released = true;

    for (size_t i = 0; i < part_count; i++) {
        hf_error err = HF_ERROR_INIT;
        hf_status status = hf_lock_release(parts[i], &err);

        if (status != HF_LOST && status != HF_EXPIRED)
            check(status, &err);
        else
            released = false;
    }
    return released;
}

/* The watchdog renews it. */
static bool keep(int64_t for_ms)
{
    int64_t end_ms = now_ms() + for_ms;

    while (now_ms() < end_ms) {
        for (size_t i = 0; i < part_count; i++) {
            if (!hf_lock_is_held(parts[i]))
                return false;
        }
        pause_us(5000);
    }
    return true;
}

static int64_t get(hf_bytes counter)
{
    hf_error err = HF_ERROR_INIT;
    hf_buffer value = HF_BUFFER_INIT;
    int64_t number;

    check(hf_value_get(client, counter, &value, &err), &err);
    number = strtoll(value.data, NULL, 10);
    hf_buffer_free(&value);
    return number;
}

/* Read, pause, write: two at once lose an update. */
static void add_one(hf_bytes counter, int64_t number, int64_t hold_us)
{
    hf_error err = HF_ERROR_INIT;
    char text[24];
    int size = snprintf(text, sizeof(text), "%" PRId64, number + 1);

    pause_us(hold_us);
    check(hf_value_set(client, counter, hf_view(text, (size_t)size), NULL, NULL,
                       &err),
          &err);
}

/* How often it was held. */
static int64_t count(const char *name, hf_bytes counter, int64_t last,
                     int64_t hold_us, int64_t pause)
{
    int64_t times = 0, number = 0;

    make_parts(name, COUNT_LEASE_MS);
    while (number < last) {
        if (!acquire(COUNT_WAIT_MS))
            continue;
        number = get(counter);
        if (number < last) {
            add_one(counter, number, hold_us);
            times++;
        }
        if (!release()) {
            puts("error lost");
            exit(1);
        }
        pause_us(pause);
    }
    return times;
}

static const char *break_lock(const char *name)
{
    hf_error err = HF_ERROR_INIT;

    size_t broken = 0;

    make_parts(name, COUNT_LEASE_MS);
    for (size_t i = 0; i < part_count; i++) {
        hf_status status = hf_lock_break(client, hf_lock_name(parts[i]), &err);

        if (status == HF_NOT_FOUND)
            continue;
        check(status, &err);
        broken++;
    }
    return broken > 0 ? "broken" : "free";
}

static void obey(char *line)
{
    char verb[16], name[200], counter[64];
    int64_t first, second, third;

    if (sscanf(line, "acquire %199s %" SCNd64 " %" SCNd64, name, &first,
               &second) == 3) {
        make_parts(name, second);
        puts(acquire(first) ? "held" : "refused");
    } else if (sscanf(line, "keep %" SCNd64, &first) == 1) {
        puts(keep(first) ? "kept" : "lost");
    } else if (sscanf(line, "count %199s %63s %" SCNd64 " %" SCNd64 " %" SCNd64,
                      name, counter, &first, &second, &third) == 5) {
        printf("%" PRId64 "\n",
               count(name, hf_str(counter), first, second, third));
    } else if (sscanf(line, "break %199s", name) == 1) {
        puts(break_lock(name));
    } else if (sscanf(line, "%15s", verb) == 1 &&
               strcmp(verb, "release") == 0) {
        puts(release() ? "released" : "lost");
    } else {
        puts("error no such command");
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    hf_error err = HF_ERROR_INIT;
    char url[64], line[512];

    if (argc != 3)
        return 2;
    kind = argv[2];
    snprintf(url, sizeof(url), "redis://127.0.0.1:%s/0%s", argv[1],
             strcmp(kind, "plain") == 0 || strcmp(kind, "three") == 0
                 ? ""
                 : "?layout=redisson");
    check(hf_client_open(url, NULL, &client, &err), &err);
    printf("ready %s\n", hf_version());
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin) != NULL)
        obey(line);
    drop();
    hf_client_close(client);
    return 0;
}
