/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_kill_writer.c - the main loop of a writer: endless operations, each
 * recorded in the journal when it begins and when it is acknowledged.
 *
 * 1. `in_flight` is set.
 * 2. The call is made.
 * 3. `acked` of the kind is raised.
 * 4. `in_flight` is cleared.
 *
 * A writer killed before 2 has ended may have been acknowledged nothing; one
 * killed after 3 was acknowledged all.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "embedded_kill.h"
#include "holdfast/value.h"

/* Exit statuses; 0 is never intended. */
enum { EXIT_FAILED = 3, EXIT_CHILD = 4 };

static int64_t read_ns(clockid_t clock)
{
    struct timespec now;

    if (clock_gettime(clock, &now) != 0)
        abort();
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t now_us(void)
{
    return read_ns(CLOCK_MONOTONIC) / 1000;
}

int64_t boot_ms(void)
{
    return read_ns(CLOCK_BOOTTIME) / 1000000;
}

void rest_us(int64_t us)
{
    const struct timespec pause = {us / 1000000, us % 1000000 * 1000};

    (void)nanosleep(&pause, NULL);
}

uint64_t dice_roll(dice *die, uint64_t below)
{
    uint64_t mixed = die->state += UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return (mixed ^ mixed >> 31) % below;
}

/* How long this process was runnable but not running, us; 0 where the kernel
 * does not report it. */
static int64_t waited_us(int fd)
{
    char text[96] = "";
    char *end;

    if (fd < 0 || pread(fd, text, sizeof(text) - 1, 0) <= 0)
        return 0;
    (void)strtoull(text, &end, 10);
    return (int64_t)(strtoull(end, NULL, 10) / 1000);
}

/* How often each kind is done, of 100. */
static work choose(dice *die)
{
    static const struct {
        work kind;
        uint32_t share;
    } shares[] = {
        {WORK_COUNT, 11}, {WORK_VALUE, 10},    {WORK_CAS, 10},
        {WORK_BIG, 6},    {WORK_HASH, 9},      {WORK_COLLECTION, 6},
        {WORK_LIST, 10},  {WORK_TRANSFER, 12}, {WORK_AGREE, 10},
        {WORK_BRIEF, 6},  {WORK_LOCK, 6},      {WORK_PART, 4},
    };
    uint32_t roll = (uint32_t)dice_roll(die, 100);
    size_t at = 0;

    while (roll >= shares[at].share)
        roll -= shares[at++].share;
    return shares[at].kind;
}

static void fail(slot *own, const char *say)
{
    (void)snprintf(own->failure, sizeof(own->failure), "%s", say);
    store(own->failed, 1);
}

/* The reply "held by another" counts: the writer is not stuck. */
static void note_answer(slot *own, int wait_fd)
{
    uint64_t answers = own->answers;
    stamp *at = &own->stamps[answers % RING_SIZE];

    store(at->waited_us, waited_us(wait_fd));
    store(at->at_us, now_us());
    store(own->answers, answers + 1);
}

/* The fault: a process that sees a kill pauses. */
static void stall(worker *self)
{
    uint32_t kills = load(self->journal->kills);

    if (kills != self->kills_seen)
        rest_us(PAUSE_LIMIT_US * 2 + 100000);
    self->kills_seen = kills;
}

static bool one_operation(worker *self, int wait_fd)
{
    work kind = choose(&self->die);
    slot *own = self->own;
    uint64_t n = own->acked[kind] + 1;
    bool early = self->journal->fault == FAULT_EARLY && kind != WORK_LOCK;
    char say[TEXT_SIZE] = "";
    bool done;

    store(own->in_flight, 1 + (uint32_t)kind);
    if (early) {
        store(own->acked[kind], n);
        rest_us(300);
    }
    done = worker_do(self, kind, n, say);
    if (done)
        store(own->acked[kind], n);
    if (self->journal->fault == FAULT_STALL)
        stall(self);
    note_answer(own, wait_fd);
    store(own->in_flight, 0);
    if (!done && say[0] != '\0')
        fail(own, say);
    return done || say[0] == '\0';
}

/* ------------------------------------------------------------------- forks */

/* What a child may do with the parent's client: be refused, and close it. */
static void child_life(hf_client *client)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status = hf_value_get(client, hf_str("account:0"), &value, NULL);

    if (status != HF_INVALID)
        _exit(EXIT_CHILD);
    hf_client_close(client);
    _exit(0);
}

/* There are few forks: the machine is not what is tested. */
static bool fork_some(worker *self)
{
    uint64_t count = 1 + dice_roll(&self->die, 3);
    bool fine = true;
    int status;
    pid_t pid;

    for (uint64_t i = 0; i < count; i++) {
        pid = fork();
        if (pid == 0)
            child_life(self->client);
    }
    while ((pid = wait(&status)) > 0 || errno == EINTR)
        fine = fine && (pid < 0 || status == 0);
    if (!fine)
        fail(self->own, "a forked child was not refused, or crashed");
    return fine;
}

/* ------------------------------------------------------------------- life */

static bool begin(worker *self, journal *all, uint32_t index)
{
    hf_error err = HF_ERROR_INIT;
    char say[TEXT_SIZE];

    memset(self, 0, sizeof(*self));
    self->journal = all;
    self->index = index;
    self->kills_seen = load(all->kills);
    self->own = &all->slots[index];
    self->die.state =
        all->seed ^ (uint64_t)(index + 1) << 32 ^ self->own->births << 40;
    if (hf_client_open(all->url, NULL, &self->client, &err) == HF_OK &&
        worker_begin(self, &err))
        return true;
    (void)snprintf(say, sizeof(say), "open: %s: %.250s",
                   hf_status_name(err.status), err.message);
    fail(self->own, say);
    return false;
}

int writer_main(journal *all, uint32_t index)
{
    worker self;
    int wait_fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);

    /* Do not outlive the parent. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!begin(&self, all, index))
        return EXIT_FAILED;
    for (;;) {
        if (!one_operation(&self, wait_fd))
            return EXIT_FAILED;
        if ((load(all->storm) != 0 || dice_roll(&self.die, 2000) == 0) &&
            !fork_some(&self))
            return EXIT_FAILED;
    }
}
