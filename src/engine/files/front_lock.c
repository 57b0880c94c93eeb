/* SPDX-License-Identifier: Apache-2.0 */
/*
 * front_lock.c - see front_lock.h.
 *
 * Between processes it is a POSIX record lock on one byte of the sidecar:
 * it ends with the process however that dies. It excludes no threads of one
 * process; a mutex of the process does.
 */
#include "engine/files/front_lock.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "engine/files/files.h"
#include "engine/files/give_way.h"
#include "util/clock.h"
#include "util/mutex.h"

/* Longest wait in the mutex of a thread that did not see that the front lock is
 * needed, unless it is stopped. */
#define BLIND_MS 20

/* Differs between the PID namespaces of a machine. 0: unknown. */
static uint64_t namespace_of_process(void)
{
    struct stat info;

    return stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

/* Is this not the namespace of all that have joined? */
static bool is_foreign(hf__front_lock_map *front)
{
    uint64_t own = namespace_of_process();
    uint64_t first = 0;

    return own == 0 ||
           (!__atomic_compare_exchange_n(&front->first, &first, own, false,
                                         __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
            first != own);
}

void hf__front_lock_join(hf__sidecar *sidecar)
{
    hf__front_lock_map *front = &sidecar->map->front;
    uint64_t state = 0;

    pthread_mutex_init(&sidecar->front, NULL);
    hf__wait_line_init(&sidecar->line);
    if (!hf__sidecar_has_front(sidecar->map))
        return;
    if (is_foreign(front))
        (void)__atomic_compare_exchange_n(&front->state, &state,
                                          HF__FRONT_ANNOUNCED, false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    if (hf__front_lock_state(sidecar->map) == HF__FRONT_ANNOUNCED)
        hf__clock_sleep_until(hf__clock_boot_ms() + BLIND_MS);
}

static bool set_byte(const hf__sidecar *sidecar, short type)
{
    /* Behind those that prove life. */
    struct flock lock = hf__files_range(type, HF__INBOX_MAX, 1);

    return fcntl(sidecar->fd, F_SETLK, &lock) == 0;
}

bool hf__front_lock_take(hf__sidecar *sidecar, int64_t deadline_ms)
{
    int64_t began_ms = hf__clock_boot_ms();
    int64_t now_ms;

    if (hf__mutex_lock_until(&sidecar->front, deadline_ms) != 0)
        return false;
    for (int i = 0; !set_byte(sidecar, F_WRLCK); i++) {
        now_ms = hf__clock_boot_ms();
        if (now_ms + 1 >= deadline_ms) {
            pthread_mutex_unlock(&sidecar->front);
            return false;
        }
        if (i < HF__NAPS_MAX) {
            hf__clock_nap_us(HF__NAP_US);
            continue;
        }
        hf__give_way_ask(sidecar, now_ms - began_ms);
        hf__clock_sleep_until(now_ms + 1);
    }
    return true;
}

void hf__front_lock_drop(hf__sidecar *sidecar)
{
    (void)set_byte(sidecar, F_UNLCK);
    pthread_mutex_unlock(&sidecar->front);
}
