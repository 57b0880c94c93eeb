/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_kill_rounds.c - starting writers, killing them, checking.
 *
 * One round:
 * 1. All writers work.
 * 2. At a random instant the pauses of an ordinary moment are measured.
 * 3. At another one, one or more writers are killed, in one of the ways of
 *    `plans`.
 * 4. The pauses of the survivors around it are measured.
 * 5. The dead writers' keys and the shared ones are checked.
 * 6. The dead are restarted.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "embedded_kill.h"
#include "holdfast/store.h"

/* A writer that has done nothing for this long hangs. */
#define START_MS 20000
#define STALL_MS 5000

typedef struct field {
    const options *opts;
    journal *journal;
    int journal_fd;
    tally *tally;
    hf_client *client;
    dice die;
    pid_t pids[WRITER_MAX]; /* 0: not running */
    int64_t killed_us;      /* the last one */
    int64_t freed_us;       /* when a stopped one was killed; else 0 */
} field;

static bool violation(field *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool violation(field *self, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    (void)vsnprintf(self->tally->violation, sizeof(self->tally->violation),
                    format, list);
    va_end(list);
    return false;
}

static bool open_client(field *self)
{
    hf_error err = HF_ERROR_INIT;

    if (hf_client_open(self->journal->url, NULL, &self->client, &err) == HF_OK)
        return true;
    return violation(self, "the store cannot be opened: %s: %s",
                     hf_status_name(err.status), err.message);
}

static void close_client(field *self)
{
    hf_client_close(self->client);
    self->client = NULL;
}

/* --------------------------------------------------------------- processes */

static bool start_writer(field *self, uint32_t index)
{
    char program[] = "embedded_kill", option[] = "--writer";
    char number[16], fd[16];
    char *argv[5] = {program, option, number, fd, NULL};
    pid_t pid;

    (void)snprintf(number, sizeof(number), "%u", (unsigned)index);
    (void)snprintf(fd, sizeof(fd), "%d", self->journal_fd);
    self->journal->slots[index].births++;
    pid = fork();
    if (pid == 0) {
        (void)fcntl(self->journal_fd, F_SETFD, 0);
        (void)execv("/proc/self/exe", argv);
        _exit(127);
    }
    if (pid < 0)
        return violation(self, "fork: %s", strerror(errno));
    self->pids[index] = pid;
    return true;
}

/* Did a writer end that was not killed? */
static bool still_there(field *self, uint32_t index)
{
    slot *at = &self->journal->slots[index];
    int status;

    if (load(at->failed) != 0)
        return violation(self, "writer %u: %s", (unsigned)index, at->failure);
    if (waitpid(self->pids[index], &status, WNOHANG) == 0)
        return true;
    self->pids[index] = 0;
    if (load(at->failed) != 0)
        return violation(self, "writer %u: %s", (unsigned)index, at->failure);
    return violation(self, "writer %u ended by itself: %s %d", (unsigned)index,
                     WIFSIGNALED(status) ? "signal" : "status",
                     WIFSIGNALED(status) ? WTERMSIG(status)
                                         : WEXITSTATUS(status));
}

static bool wait_for_answers(field *self, uint32_t index, uint64_t beyond,
                             int64_t limit_ms)
{
    int64_t until_us = now_us() + limit_ms * 1000;

    while (load(self->journal->slots[index].answers) <= beyond) {
        if (!still_there(self, index))
            return false;
        if (now_us() > until_us)
            return violation(self, "writer %u: nothing acknowledged in %lld ms",
                             (unsigned)index, (long long)limit_ms);
        rest_us(200);
    }
    return true;
}

static bool start_all(field *self)
{
    uint64_t answers[WRITER_MAX];

    for (uint32_t i = 0; i < self->opts->writers; i++) {
        answers[i] = load(self->journal->slots[i].answers);
        if (self->pids[i] == 0 && !start_writer(self, i))
            return false;
    }
    for (uint32_t i = 0; i < self->opts->writers; i++) {
        if (!wait_for_answers(self, i, answers[i], START_MS))
            return false;
    }
    return true;
}

/* SIGKILL, then wait for it. */
static void kill_writer(field *self, uint32_t index)
{
    int status;

    __atomic_fetch_add(&self->journal->kills, 1, __ATOMIC_RELEASE);
    self->killed_us = now_us();
    (void)kill(self->pids[index], SIGKILL);
    /* One that failed just before has reported why: see check_dead(). */
    if (waitpid(self->pids[index], &status, 0) == self->pids[index] &&
        (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) &&
        load(self->journal->slots[index].failed) == 0)
        (void)violation(self, "writer %u ended before it was killed: %x",
                        (unsigned)index, (unsigned)status);
    self->pids[index] = 0;
    self->tally->killed++;
    if (load(self->journal->slots[index].in_flight) != 0)
        self->tally->in_flight++;
}

/* ------------------------------------------------------------------ pauses */

/* The pauses of all survivors around an instant. */
static bool take_gaps(field *self, int64_t at_us, int64_t floor_us, gaps *net,
                      gaps *gross)
{
    int64_t until_us = at_us + STALL_MS * 1000;
    int64_t gross_us, net_us;

    for (uint32_t i = 0; i < self->opts->writers; i++) {
        if (self->pids[i] == 0)
            continue;
        while (!gap_around(&self->journal->slots[i], at_us, floor_us, &gross_us,
                           &net_us)) {
            if (!still_there(self, i))
                return false;
            if (now_us() > until_us)
                return violation(self, "writer %u made no progress for %d ms",
                                 (unsigned)i, STALL_MS);
            rest_us(100);
        }
        if (!gaps_add(net, net_us) || !gaps_add(gross, gross_us))
            return violation(self, "out of memory");
    }
    return true;
}

/* ------------------------------------------------------------------- plans */

static bool check_dead(field *self, uint32_t index)
{
    journal *all = self->journal;
    slot *at = &all->slots[index];
    uint64_t before = 0, after = 0;
    char say[TEXT_SIZE];

    if (load(at->failed) != 0)
        return violation(self, "writer %u: %s", (unsigned)index, at->failure);
    for (int i = 0; i < WORK_KINDS; i++)
        before += load(at->acked[i]);
    if (!check_own(self->client, all, index, say))
        return violation(self, "writer %u: %s", (unsigned)index, say);
    for (int i = 0; i < WORK_KINDS; i++)
        after += load(at->acked[i]);
    self->tally->applied += after - before;
    store(at->in_flight, 0);
    return true;
}

static uint32_t pick(field *self)
{
    return (uint32_t)dice_roll(&self->die, self->opts->writers);
}

static void at_any_instant(field *self, uint32_t victim)
{
    rest_us((int64_t)dice_roll(&self->die, 12000));
    kill_writer(self, victim);
}

/* Inside an operation, early or late in it. */
static void inside_operation(field *self, uint32_t victim)
{
    slot *at = &self->journal->slots[victim];
    int64_t until_us = now_us() + 100000;
    int64_t delay_us = (int64_t)dice_roll(&self->die, 120);
    uint64_t answers = load(at->answers);

    while ((load(at->answers) == answers || load(at->in_flight) == 0) &&
           now_us() < until_us)
        continue;
    until_us = now_us() + delay_us;
    while (now_us() < until_us)
        continue;
    kill_writer(self, victim);
}

static void two_at_once(field *self, uint32_t victim)
{
    uint32_t second = (victim + 1) % self->opts->writers;

    rest_us((int64_t)dice_roll(&self->die, 12000));
    if (second != victim)
        (void)kill(self->pids[second], SIGKILL);
    kill_writer(self, victim);
    if (second != victim)
        kill_writer(self, second);
}

/* It may hold the writer lock meanwhile. */
static void stopped_before(field *self, uint32_t victim)
{
    rest_us((int64_t)dice_roll(&self->die, 12000));
    (void)kill(self->pids[victim], SIGSTOP);
    rest_us((int64_t)dice_roll(&self->die, 150000));
    kill_writer(self, victim);
    self->freed_us = self->killed_us;
}

/* Its first run must be checked first. */
static void while_opening(field *self, uint32_t victim)
{
    kill_writer(self, victim);
    if (!check_dead(self, victim) || !start_writer(self, victim))
        return;
    rest_us((int64_t)dice_roll(&self->die, 5000));
    kill_writer(self, victim);
}

static void in_a_fork_storm(field *self, uint32_t victim)
{
    store(self->journal->storm, 1);
    rest_us(5000 + (int64_t)dice_roll(&self->die, 15000));
    kill_writer(self, victim);
    store(self->journal->storm, 0);
}

/* No process has the store open any more: the next to open it is alone. */
static void all_of_them(field *self, uint32_t victim)
{
    (void)victim;
    close_client(self);
    rest_us((int64_t)dice_roll(&self->die, 12000));
    for (uint32_t i = 0; i < self->opts->writers; i++)
        (void)kill(self->pids[i], SIGKILL);
    for (uint32_t i = 0; i < self->opts->writers; i++)
        kill_writer(self, i);
}

/* Another process compacts the store meanwhile, which needs it for itself. */
static void in_a_compaction(field *self, uint32_t victim)
{
    hf_store_compaction done = HF_STORE_COMPACTION_INIT;
    pid_t pid;

    all_of_them(self, victim);
    pid = fork();
    if (pid == 0)
        _exit(hf_store_compact(self->journal->url, &done, NULL) != HF_OK);
    if (pid < 0)
        return;
    rest_us((int64_t)dice_roll(&self->die, 30000));
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

static const struct {
    void (*strike)(field *self, uint32_t victim);
    uint32_t share; /* of 100 */
} plans[] = {
    {at_any_instant, 49}, {inside_operation, 22}, {two_at_once, 7},
    {stopped_before, 7},  {while_opening, 6},     {in_a_fork_storm, 5},
    {all_of_them, 2},     {in_a_compaction, 2},
};

static bool strike(field *self)
{
    uint32_t roll = (uint32_t)dice_roll(&self->die, 100);
    size_t at = 0;

    while (roll >= plans[at].share)
        roll -= plans[at++].share;
    plans[at].strike(self, pick(self));
    return self->tally->violation[0] == '\0';
}

/* ------------------------------------------------------------------ rounds */

/* A while after the last write. */
static bool check_after_all(field *self)
{
    char say[TEXT_SIZE];

    rest_us(70000);
    return check_expired(self->client, say) || violation(self, "%s", say);
}

static bool check_round(field *self)
{
    bool alive = false, due;
    char say[TEXT_SIZE] = "";

    if (self->client == NULL && !open_client(self))
        return false;
    for (uint32_t i = 0; i < self->opts->writers; i++) {
        alive = alive || self->pids[i] != 0;
        if (self->pids[i] == 0 && !check_dead(self, i))
            return false;
    }
    if (!check_shared(self->client, say))
        return violation(self, "%s", say);
    if (!alive && !check_after_all(self))
        return false;
    due = self->tally->rounds % self->opts->check_every == 0;
    if (due && !check_locks(self->client, self->journal, say))
        return violation(self, "%s", say);
    if (due && !check_file(self->journal->url, say))
        return violation(self, "%s", say);
    self->tally->checks += due ? 1 : 0;
    return true;
}

static bool run_round(field *self)
{
    tally *counts = self->tally;

    if (!start_all(self))
        return false;
    rest_us(2000 + (int64_t)dice_roll(&self->die, 12000));
    if (!take_gaps(self, now_us(), 0, &counts->without_net,
                   &counts->without_gross))
        return false;
    self->freed_us = 0;
    if (!strike(self) ||
        !take_gaps(self, self->killed_us, self->freed_us,
                   &counts->after_kill_net, &counts->after_kill_gross))
        return false;
    counts->rounds++;
    return check_round(self);
}

static void show_progress(const field *self, bool last)
{
    if (isatty(STDERR_FILENO) != 1)
        return;
    (void)fprintf(stderr, "\r%llu of %u kills, %llu rounds%s",
                  (unsigned long long)self->tally->killed,
                  (unsigned)self->opts->kills,
                  (unsigned long long)self->tally->rounds, last ? "\n" : "");
}

static bool run_all(field *self)
{
    char say[TEXT_SIZE];

    if (!open_client(self))
        return false;
    if (!check_begin(self->client, say))
        return violation(self, "%s", say);
    while (self->tally->killed < self->opts->kills) {
        if (!run_round(self))
            return false;
        show_progress(self, false);
    }
    show_progress(self, true);
    return true;
}

bool rounds_run(const options *opts, journal *all, int journal_fd,
                tally *result)
{
    field self = {.opts = opts,
                  .journal = all,
                  .journal_fd = journal_fd,
                  .tally = result,
                  .die = {opts->seed}};
    bool fine = run_all(&self);

    for (uint32_t i = 0; i < opts->writers; i++) {
        if (self.pids[i] > 0) {
            (void)kill(self.pids[i], SIGKILL);
            (void)waitpid(self.pids[i], NULL, 0);
        }
        for (int kind = 0; kind < WORK_KINDS; kind++)
            result->acknowledged += load(all->slots[i].acked[kind]);
    }
    if (self.client != NULL)
        close_client(&self);
    return fine;
}
