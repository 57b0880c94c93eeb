/* SPDX-License-Identifier: Apache-2.0 */
/* contended_workers.c - the workers of bench_contended; see contended.h. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "contended.h"
#include "support/proc_stat.h"

#define READY_WAIT_S 120
#define PROGRAM_WORDS_MAX 16

_Static_assert(offsetof(contended_board, log) == CONTENDED_LOG_AT,
               "the other programs know this");

uint64_t contended_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

contended_board *contended_board_new(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    void *board = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, sizeof(contended_board)) == 0)
        board = mmap(NULL, sizeof(contended_board), PROT_READ | PROT_WRITE,
                     MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (board == MAP_FAILED) {
        bench_fail("cannot create %s", path);
        return NULL;
    }
    return board;
}

/* -------------------------------------------------------------- one worker */

typedef struct worker {
    const contended_task *task;
    const peer_library *library;
    void *client;
    int number;
    pthread_t thread;
    bool ok;
} worker;

static void sleep_ns(long ns)
{
    struct timespec time = {0, ns};

    if (ns > 0)
        nanosleep(&time, NULL);
}

static void note_acquired(contended_board *board, int number, uint64_t now_ns)
{
    uint64_t self = (uint64_t)number + 1;
    uint64_t after_ns = now_ns - board->released_ns;
    uint64_t i = board->acquired;

    if (board->inside != 0)
        board->overlaps++;
    board->inside = self;
    if (board->released_by == self)
        after_ns = 0;
    if (i < CONTENDED_LOG_MAX)
        board->log[i] = after_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)after_ns;
    board->acquired = i + 1;
}

static void note_released(contended_board *board, int number, uint64_t since_ns)
{
    uint64_t now_ns = contended_now_ns();

    board->workers[number].acquired++;
    board->workers[number].held_ns += now_ns - since_ns;
    board->inside = 0;
    board->released_by = (uint64_t)number + 1;
    board->released_ns = now_ns;
}

static bool take_turn(const worker *self, void *lock)
{
    contended_board *board = self->task->board;
    uint64_t now_ns;

    if (!self->library->acquire(lock))
        return false;
    now_ns = contended_now_ns();
    note_acquired(board, self->number, now_ns);
    sleep_ns(1000L * self->task->hold_us);
    note_released(board, self->number, now_ns);
    if (!self->library->release(lock))
        return false;
    sleep_ns(1000L * self->task->pause_us);
    return true;
}

static void *worker_thread(void *user)
{
    worker *self = user;
    contended_board *board = self->task->board;
    void *lock =
        self->client == NULL ? NULL : self->library->new_lock(self->client);

    self->ok = lock != NULL;
    if (!self->ok)
        return NULL;
    board->workers[self->number].ready = 1;
    while (board->stop_ns == 0)
        sleep_ns(1000000);
    while (self->ok && contended_now_ns() < board->stop_ns)
        self->ok = take_turn(self, lock);
    return NULL;
}

/* ---------------------------------------------------------------- processes */

static bool run_workers(const contended_task *task, const peer_library *library,
                        int first, int count)
{
    static worker workers[CONTENDED_WORKERS_MAX];
    void *client = library->open(&task->place);
    bool ok = true;

    for (int i = 0; i < count; i++) {
        workers[i] = (worker){.task = task,
                              .library = library,
                              .client = client,
                              .number = first + i};
        if (i > 0 && pthread_create(&workers[i].thread, NULL, worker_thread,
                                    &workers[i]) != 0)
            return bench_fail("cannot start a thread");
    }
    (void)worker_thread(&workers[0]);
    for (int i = 0; i < count; i++) {
        if (i > 0)
            pthread_join(workers[i].thread, NULL);
        ok = ok && workers[i].ok;
    }
    return ok;
}

/* PROGRAM... PORT BOARD FIRST COUNT PAUSE_US apart|together */
static void run_program(const contended_task *task, const char *const *program,
                        int first, int count)
{
    const char *words[PROGRAM_WORDS_MAX];
    char numbers[4][16];
    int at = 0;

    while (program[at] != NULL && at < PROGRAM_WORDS_MAX - 7) {
        words[at] = program[at];
        at++;
    }
    snprintf(numbers[0], 16, "%d", task->place.port);
    snprintf(numbers[1], 16, "%d", first);
    snprintf(numbers[2], 16, "%d", count);
    snprintf(numbers[3], 16, "%d", task->pause_us);
    words[at++] = numbers[0];
    words[at++] = task->board_path;
    words[at++] = numbers[1];
    words[at++] = numbers[2];
    words[at++] = numbers[3];
    words[at++] = task->apart ? "apart" : "together";
    words[at] = NULL;
    execvp(words[0], (char *const *)words);
    bench_fail("cannot run %s", words[0]);
}

static bool start_one(contended_crew *crew, const contended_task *task,
                      const peer_library *library, const char *const *program,
                      int first, int count)
{
    pid_t pid = fork();

    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (program != NULL) {
            run_program(task, program, first, count);
            _exit(1);
        }
        _exit(run_workers(task, library, first, count) ? 0 : 1);
    }
    if (pid > 0)
        crew->pids[crew->count++] = pid;
    return pid > 0 || bench_fail("cannot start a process");
}

static bool all_ready(const contended_task *task)
{
    for (int i = 0; i < task->workers; i++) {
        if (task->board->workers[i].ready == 0)
            return false;
    }
    return true;
}

static bool await_ready(contended_crew *crew, const contended_task *task)
{
    double until_s = bench_now_s() + READY_WAIT_S;

    while (!all_ready(task)) {
        for (int i = 0; i < crew->count; i++) {
            if (waitpid(crew->pids[i], NULL, WNOHANG) != 0) {
                crew->pids[i] = crew->pids[--crew->count];
                return bench_fail("a worker ended before the start");
            }
        }
        if (bench_now_s() > until_s)
            return bench_fail("the workers did not start");
        sleep_ns(2000000);
    }
    return true;
}

bool contended_start(contended_crew *crew, const contended_task *task,
                     const peer_library *library, const char *const *program)
{
    /* One that runs all its workers in one process, as separate clients. */
    bool one = !task->apart || (program != NULL && program[1] != NULL);
    int each = one ? task->workers : 1;

    memset(task->board, 0, CONTENDED_LOG_AT);
    crew->count = 0;
    crew->foreign = program != NULL;
    for (int first = 0; first < task->workers; first += each) {
        if (!start_one(crew, task, library, program, first, each))
            return false;
    }
    return await_ready(crew, task);
}

static void reap_workers(contended_crew *crew, bool *ok)
{
    for (int i = crew->count - 1; i >= 0; i--) {
        int status = 1;
        pid_t pid = waitpid(crew->pids[i], &status, WNOHANG);

        if (pid == 0)
            continue;
        *ok = *ok && pid > 0 && status == 0;
        crew->pids[i] = crew->pids[--crew->count];
    }
}

bool contended_end(contended_crew *crew, int wait_s)
{
    double until_s = bench_now_s() + wait_s;
    bool ok = true;

    for (reap_workers(crew, &ok); crew->count > 0 && bench_now_s() < until_s;
         reap_workers(crew, &ok))
        sleep_ns(2000000);
    if (crew->count > 0)
        fprintf(stderr, "bench: killed %d workers that still waited\n",
                crew->count);
    ok = ok && (crew->count == 0 || crew->foreign);
    for (int i = 0; i < crew->count; i++) {
        kill(crew->pids[i], SIGKILL);
        (void)waitpid(crew->pids[i], NULL, 0);
    }
    return ok;
}

double contended_crew_cpu_s(const contended_crew *crew)
{
    double sum_s = 0, own_s, children_s;

    for (int i = 0; i < crew->count; i++) {
        if (proc_cpu_s(crew->pids[i], &own_s, &children_s))
            sum_s += own_s;
    }
    return sum_s;
}

/* ----------------------------------------------------------------- requests */

/* Of a line "+1.5 [0 127.0.0.1:5] ..." or "+1.5 [0 lua] ...", across reads. */
typedef struct monitor_line {
    int brackets; /* 0: before '[', 1: in it, 2: behind it */
    char last;    /* before ']' */
    long requests;
} monitor_line;

static void read_char(monitor_line *self, char c)
{
    if (c == '\n') {
        self->brackets = 0;
    } else if (self->brackets == 0 && c == '[') {
        self->brackets = 1;
    } else if (self->brackets == 1 && c == ']') {
        self->brackets = 2;
        self->requests += self->last != 'a';
    } else if (self->brackets == 1) {
        self->last = c;
    }
}

static int connect_to(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval limit = {0, 50000};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 &&
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 &&
        connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        write(fd, "MONITOR\r\n", 9) == 9)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

long contended_count_requests(int port, int for_ms)
{
    static char buffer[65536];
    monitor_line line = {0};
    double until_s = bench_now_s() + for_ms / 1e3;
    int fd = connect_to(port);

    if (fd < 0)
        return -1;
    while (bench_now_s() < until_s) {
        ssize_t size = read(fd, buffer, sizeof(buffer));

        for (ssize_t i = 0; i < size; i++)
            read_char(&line, buffer[i]);
        if (size == 0)
            break;
    }
    close(fd);
    return line.requests;
}
