/* SPDX-License-Identifier: Apache-2.0 */
/* lock_chaos_round.c - the rounds of one store: workers, faults, the end. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/lock.h"
#include "lock_chaos.h"
#include "support/test_clock.h"

/* For a worker to end, and for a lock to be granted once all is mended: some
 * leases, and requests. */
#define END_MS 20000

round_memory *shared;

static bool has_ended(size_t i)
{
    if (shared->pids[i] > 0 &&
        waitpid(shared->pids[i], NULL, WNOHANG) == shared->pids[i])
        shared->pids[i] = 0;
    return shared->pids[i] <= 0;
}

static void end_workers(void)
{
    int64_t began_ms = test_now_ms();
    hf_error err = HF_ERROR_INIT;

    atomic_store(&shared->stop, true);
    for (size_t i = 0; i < WORKERS; i++) {
        while (!has_ended(i) &&
               took_between(test_now_ms() - began_ms, 0, END_MS))
            rest_ms(5);
        if (has_ended(i))
            continue;
        note_odd("a worker does not end", HF_OK, &err);
        worker_kill(i);
    }
}

/* ----------------------------------------------------------------- liveness */

static hf_status take(hf_lock *lock, const char *name)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_lock_acquire(lock, slowed_ms(END_MS), &err);

    if (status != HF_OK) {
        (void)snprintf(err.message + strlen(err.message),
                       sizeof(err.message) - strlen(err.message), " (%s)",
                       name);
        note_odd("never granted", status, &err);
    }
    return status;
}

static _Noreturn void take_all(const chaos_place *at, unsigned round)
{
    worker_thread self = {.round = round};
    hf_error err = HF_ERROR_INIT;
    char name[32];

    wall_clock_keep(at->clock);
    self.locks_only = !chaos_place_has_data(at);
    if (hf_client_open(at->direct_url, NULL, &self.lease.client, &err) !=
            HF_OK ||
        !handles_new(&self))
        note_odd("open at the end", err.status, &err);
    for (int i = 0; i < SUBJECTS; i++) {
        name_of(name, round, (subject)i);
        if (self.locks[i] != NULL)
            (void)take(self.locks[i], name);
    }
    handles_free(&self);
    hf_client_close(self.lease.client);
    _exit(0);
}

/* Now that all is mended. */
static void expect_all_granted(const chaos_place *at, unsigned round)
{
    pid_t pid = fork();

    if (pid == 0)
        take_all(at, round);
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
}

/* ------------------------------------------------------------------- rounds */

static bool run_round(chaos_place *at, unsigned round, int64_t until_ms,
                      verdict *so_far)
{
    bool known, started = true;

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED)
        return false;
    for (size_t i = 0; i < WORKERS; i++)
        started = worker_start(at, round, i) && started;
    known = started && nemesis(at, round, until_ms);
    end_workers();
    if (known)
        expect_all_granted(at, round);
    if (known)
        judge(at, round, so_far);
    so_far->skipped += !known;
    (void)munmap(shared, sizeof(*shared));
    return started;
}

static bool is_done(const verdict *so_far, unsigned round)
{
    unsigned most = options.fence && options.cheat[0] == '\0' ? 3 : 1;

    return so_far->violations >= most ||
           (options.rounds != 0 &&
            round >= options.first_round + options.rounds);
}

/* Servers that did not do what they should are replaced by new ones. */
static bool start_again(chaos_place *at, const chaos_place *which)
{
    chaos_place_stop(at);
    *at = *which;
    return chaos_place_start(at);
}

bool run_store(const chaos_place *which, int64_t for_ms, verdict *so_far)
{
    chaos_place at = *which;
    int64_t until_ms = test_now_ms() + for_ms;
    bool fine = chaos_place_start(&at);
    unsigned round = options.first_round;

    if (options.rounds != 0)
        until_ms = INT64_MAX;
    while (fine && test_now_ms() < until_ms && !is_done(so_far, round)) {
        int64_t end_ms = test_now_ms() + options.round_ms;
        unsigned skipped = so_far->skipped;

        fine = run_round(&at, round++, end_ms < until_ms ? end_ms : until_ms,
                         so_far);
        if (fine && so_far->skipped != skipped)
            fine = start_again(&at, which);
    }
    chaos_place_stop(&at);
    return fine;
}
