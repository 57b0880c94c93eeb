/* SPDX-License-Identifier: Apache-2.0 */
/* record_guard.c - see record_guard.h. */
#include "records/record_guard.h"

#include <stdio.h>
#include <string.h>

#include "util/boot_id.h"
#include "util/clock.h"
#include "util/crc64.h"
#include "util/hash_bytes.h"
#include "util/mem.h"
#include "util/order.h"

/* A mark is a string of two numbers, each of 16 hexadecimal digits. */
#define TEXT_SIZE 32u
/* How far what two time namespaces say may be apart, as each is rounded. */
#define NAMESPACE_US 2000
/* See instant.c. */
#define RATE_SHARE 100
/* More than TIME is behind what another wrote: two trips of 2 s (instant.c). */
#define SET_BACK_US INT64_C(5000000)

hf__guard *hf__guard_new(void)
{
    hf__guard *guard = hf__calloc(1, sizeof(*guard));
    char boot_id[HF__BOOT_ID_SIZE];

    if (guard == NULL)
        return NULL;
    guard->ahead_us = hf__clock_namespace_ms() * 1000;
    if (hf__boot_id_read(boot_id, NULL) == HF_OK)
        guard->machine = hf__hash(hf_view(boot_id, sizeof(boot_id)), 0);
    return guard;
}

void hf__guard_free(hf__guard *guard)
{
    hf__free(guard);
}

/* The one of this version; else the one whose place it takes. */
static hf__guard_watch *find_watch(hf__guard *guard, uint64_t version)
{
    hf__guard_watch *set = guard->watched[version % HF__GUARD_SETS];
    hf__guard_watch *oldest = set;

    for (size_t i = 0; i < HF__GUARD_WAYS; i++) {
        if (set[i].version == version)
            return &set[i];
        if (set[i].turn < oldest->turn)
            oldest = &set[i];
    }
    return oldest;
}

static hf__guard_watch *watch_version(hf__guard *guard, uint64_t version,
                                      int64_t since_us)
{
    hf__guard_watch *one = find_watch(guard, version);

    if (one->version != version)
        *one = (hf__guard_watch){.version = version, .since_us = since_us};
    one->turn = ++guard->turn;
    return one;
}

int64_t hf__guard_since(hf__guard *guard, uint64_t version, int64_t now_us)
{
    return watch_version(guard, version, now_us)->since_us;
}

static int64_t length_of(const hf__backend_record *lease)
{
    return hf__backend_end(lease->expire_ms) - lease->at_us / 1000;
}

static int64_t seen_ms(hf__guard *guard, const hf__backend_record *lease)
{
    int64_t local_us = hf__clock_boot_us();

    return (local_us - hf__guard_since(guard, lease->version, local_us)) / 1000;
}

int64_t hf__guard_end_again(hf__guard *guard, const hf__backend_record *lease,
                            int64_t now_ms)
{
    int64_t seen = seen_ms(guard, lease);
    int64_t left_ms = length_of(lease) - (seen - seen / RATE_SHARE);

    return hf__at_least(hf__backend_end(lease->expire_ms), now_ms + left_ms);
}

int64_t hf__guard_end(hf__guard *guard, const hf__backend_record *lease,
                      int64_t now_ms, int64_t bound_us, bool *guarded)
{
    int64_t end_ms = hf__backend_end(lease->expire_ms);
    int64_t length_ms = length_of(lease);
    int64_t left_ms =
        length_ms + length_ms / RATE_SHARE + 1 - seen_ms(guard, lease);
    bool set_back = lease->at_us > bound_us + SET_BACK_US;

    *guarded = end_ms != 0 && left_ms > 0 && (end_ms <= now_ms || set_back);
    if (end_ms == 0)
        return 0;
    if (left_ms <= 0)
        return hf__at_most(end_ms, now_ms);
    if (end_ms <= now_ms)
        return now_ms + left_ms;
    /* Else it stays: it may be written again, and TIME is a lower bound. */
    return set_back ? hf__at_most(end_ms, now_ms + left_ms) : end_ms;
}

/* ------------------------------------------------------------------- marks */

hf_bytes hf__guard_mark_key(const hf__guard *guard, hf_bytes key,
                            hf__arena *arena)
{
    static const char form[] = "hf:watched:%016llx:{";
    char head[sizeof(form) + 16];
    int size =
        snprintf(head, sizeof(head), form, (unsigned long long)guard->machine);
    char *text = guard->machine == 0
                     ? NULL
                     : hf__arena_alloc(arena, (size_t)size + key.size + 1);

    if (text == NULL)
        return hf_view(NULL, 0);
    memcpy(text, head, (size_t)size);
    if (key.size > 0)
        memcpy(text + size, key.data, key.size);
    text[(size_t)size + key.size] = '}';
    return hf_view(text, (size_t)size + key.size + 1);
}

/* As DUMP does: a string and its size, a version, a sum; little-endian. */
static void put_mark(uint64_t version, int64_t since_us,
                     char mark[HF__GUARD_MARK_SIZE])
{
    char text[TEXT_SIZE + 1];
    uint64_t sum;

    (void)snprintf(text, sizeof(text), "%016llx%016llx",
                   (unsigned long long)version, (unsigned long long)since_us);
    mark[0] = 0;
    mark[1] = TEXT_SIZE;
    memcpy(mark + 2, text, TEXT_SIZE);
    mark[2 + TEXT_SIZE] = 10;
    mark[3 + TEXT_SIZE] = 0;
    sum = hf__crc64(0, mark, 4 + TEXT_SIZE);
    for (size_t i = 0; i < 8; i++)
        mark[4 + TEXT_SIZE + i] = (char)(sum >> 8 * i);
}

void hf__guard_write_mark(hf__guard *guard, uint64_t version, int64_t now_us,
                          char mark[HF__GUARD_MARK_SIZE])
{
    int64_t since_us = hf__guard_since(guard, version, now_us);

    put_mark(version, since_us - guard->ahead_us, mark);
}

bool hf__guard_read_mark(hf__guard *guard, hf_bytes mark, uint64_t version,
                         int64_t now_us)
{
    unsigned long long of, since;
    char text[TEXT_SIZE + 1];
    char same[HF__GUARD_MARK_SIZE];
    hf__guard_watch *one;
    int64_t since_us;

    if (mark.size != HF__GUARD_MARK_SIZE)
        return false;
    memcpy(text, (const char *)mark.data + 2, TEXT_SIZE);
    text[TEXT_SIZE] = '\0';
    if (sscanf(text, "%16llx%16llx", &of, &since) != 2 || of != version)
        return false;
    put_mark(of, (int64_t)since, same);
    since_us = (int64_t)since + guard->ahead_us + NAMESPACE_US;
    if (memcmp(same, mark.data, sizeof(same)) != 0 || since_us > now_us)
        return false;
    one = watch_version(guard, version, since_us);
    if (since_us < one->since_us)
        one->since_us = since_us;
    return true;
}
