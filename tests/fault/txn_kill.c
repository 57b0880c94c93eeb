/* SPDX-License-Identifier: Apache-2.0 */
/*
 * txn_kill.c - nothing of a transaction is ever half applied.
 *
 *     txn_kill [--kills N] [--seed N] [--store volatile|file|server|aof|full]
 *
 * Workers move amounts between accounts by transactions that hold the
 * condition that both are as they were read. Each also counts itself, adds to a
 * journal and, now and then, ends in an operation that fails. They are killed
 * at any instant, while transactions of reads check:
 *
 * 1. the sum of the accounts never changes, so no transaction is seen in part;
 * 2. the journal has as many entries as transactions were counted;
 * 3. what only a failing transaction writes is not there.
 *
 * aof: the server is killed as well, and reads its append-only file. full: it
 * refuses most writes for lack of memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fault_place.h"
#include "holdfast/command.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "support/prng.h"
#include "support/redis_server.h"

#define WORKERS 4
#define ACCOUNTS 6
#define START 1000
#define BLOB_SIZE 32768
#define CHECK_EVERY 5 /* kills */
#define ROOM_SIZE 800000

/* Every so often a worker's transaction is meant to fail. */
#define FAILS_PERCENT 30

typedef struct options {
    int kills;
    uint64_t seed;
    const char *store;
} options;

static const char *account(size_t i)
{
    static const char *const names[ACCOUNTS] = {"{t}0", "{t}1", "{t}2",
                                                "{t}3", "{t}4", "{t}5"};

    return names[i];
}

static hf_status queue(const hf_async *async, hf_client *client,
                       hf_reply **reply, const char *const *words)
{
    hf_bytes views[6];
    size_t count = 0;

    for (; words[count] != NULL; count++)
        views[count] = hf_str(words[count]);
    return hf_command_start(client, count, views, reply, async, NULL);
}

#define QUEUE(async, client, reply, ...)                                       \
    queue(async, client, reply, (const char *const[]){__VA_ARGS__, NULL})

/* ----------------------------------------------------------------- workers */

/* What a transaction may end with. */
static bool is_allowed(hf_status status)
{
    switch (status) {
    case HF_OK:
    case HF_CONFLICT:
    case HF_WRONG_TYPE:
    case HF_FULL:
    case HF_UNAVAILABLE:
    case HF_INDETERMINATE:
        return true;
    default:
        return false;
    }
}

static hf_status queue_move(hf_client *client, hf_async *q, prng *random,
                            size_t from, size_t to, const char *const *now)
{
    static char blob[BLOB_SIZE + 1];
    char less[24], more[24];
    int64_t amount = (int64_t)prng_below(random, 50);
    hf_status status;

    memset(blob, 'b', BLOB_SIZE);
    (void)snprintf(less, sizeof(less), "%lld",
                   strtoll(now[0], NULL, 10) - amount);
    (void)snprintf(more, sizeof(more), "%lld",
                   strtoll(now[1], NULL, 10) + amount);
    status =
        hf_txn_if_value(q->txn, hf_str(account(from)), hf_str(now[0]), NULL);
    if (status == HF_OK)
        status =
            hf_txn_if_value(q->txn, hf_str(account(to)), hf_str(now[1]), NULL);
    if (status == HF_OK)
        status = hf_value_set_start(client, hf_str(account(from)), hf_str(less),
                                    NULL, NULL, q, NULL);
    if (status == HF_OK)
        status = QUEUE(q, client, NULL, "INCR", "{t}count");
    if (status == HF_OK)
        status = hf_value_set_start(client, hf_str(account(to)), hf_str(more),
                                    NULL, NULL, q, NULL);
    if (status == HF_OK)
        status = QUEUE(q, client, NULL, "RPUSH", "{t}journal", "e");
    if (status == HF_OK && prng_chance(random, 20))
        status = QUEUE(q, client, NULL, "APPEND", "{t}blob", blob);
    if (status == HF_OK && prng_chance(random, 10))
        status = QUEUE(q, client, NULL, "DEL", "{t}blob");
    if (status == HF_OK && prng_chance(random, FAILS_PERCENT)) {
        status = QUEUE(q, client, NULL, "SADD", "{t}ghost", "seen");
        if (status == HF_OK)
            status = QUEUE(q, client, NULL, "INCR", "{t}journal");
    }
    return status;
}

static hf_status move(hf_client *client, prng *random)
{
    hf_async q = HF_ASYNC_INIT;
    hf_buffer values[2] = {HF_BUFFER_INIT, HF_BUFFER_INIT};
    size_t from = prng_below(random, ACCOUNTS);
    size_t to = (from + 1 + prng_below(random, ACCOUNTS - 1)) % ACCOUNTS;
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        hf_value_get(client, hf_str(account(from)), &values[0], &err);

    if (status == HF_OK)
        status = hf_value_get(client, hf_str(account(to)), &values[1], &err);
    if (status == HF_OK)
        status = hf_txn_new(client, NULL, &q.txn, &err);
    if (status == HF_OK)
        status =
            queue_move(client, &q, random, from, to,
                       (const char *const[]){values[0].data, values[1].data});
    if (status == HF_OK)
        status = hf_txn_exec(q.txn, &err);
    if (!is_allowed(status))
        fprintf(stderr, "violation: a worker's status %s: %s\n",
                hf_status_name(status), err.message);
    hf_txn_free(q.txn);
    hf_buffer_free(&values[0]);
    hf_buffer_free(&values[1]);
    return status;
}

static int be_worker(const char *url, uint64_t seed)
{
    prng random = prng_of(seed, 1, 2);
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_client *client = NULL;
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    opts.request_ms = 2000;
    status = hf_client_open(url, &opts, &client, &err);
    if (status == HF_UNAVAILABLE)
        return 0; /* the server was killed */
    if (status != HF_OK)
        fprintf(stderr, "violation: a worker cannot open: %s\n", err.message);
    while (is_allowed(status)) {
        status = move(client, &random);
        if (status == HF_FULL)
            (void)!hf_value_delete(client, hf_str("{t}blob"), NULL);
    }
    hf_client_close(client);
    return 3;
}

static pid_t start_worker(const char *url, uint64_t seed)
{
    char text[24];
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    (void)snprintf(text, sizeof(text), "%" PRIu64, seed);
    (void)execl("/proc/self/exe", "txn_kill", "--worker", url, text,
                (char *)NULL);
    _exit(4);
}

/* ---------------------------------------------------------------- checking */

static bool violation(const char *what, int64_t number)
{
    fprintf(stderr, "violation: %s: %lld\n", what, (long long)number);
    return false;
}

static hf_status read_all(hf_client *client, hf_buffer *values,
                          hf_reply **replies, hf_error *err)
{
    hf_async q = HF_ASYNC_INIT;
    hf_status status = hf_txn_new(client, NULL, &q.txn, err);

    for (size_t i = 0; i < ACCOUNTS && status == HF_OK; i++)
        status =
            hf_value_get_start(client, hf_str(account(i)), &values[i], &q, err);
    if (status == HF_OK)
        status = QUEUE(&q, client, &replies[0], "GET", "{t}count");
    if (status == HF_OK)
        status = QUEUE(&q, client, &replies[1], "LLEN", "{t}journal");
    if (status == HF_OK)
        status = QUEUE(&q, client, &replies[2], "EXISTS", "{t}ghost");
    if (status == HF_OK)
        status = hf_txn_exec(q.txn, err);
    hf_txn_free(q.txn);
    return status;
}

static bool judge(const hf_buffer *values, hf_reply *const *replies)
{
    const char *count = hf_reply_bytes(replies[0]).data;
    int64_t counted = count == NULL ? 0 : strtoll(count, NULL, 10);
    int64_t sum = 0;

    for (size_t i = 0; i < ACCOUNTS; i++)
        sum += strtoll(values[i].data, NULL, 10);
    if (sum != ACCOUNTS * START)
        return violation("the sum of the accounts", sum);
    if (hf_reply_integer(replies[1]) != counted)
        return violation("entries in the journal, less those counted",
                         hf_reply_integer(replies[1]) - counted);
    if (hf_reply_integer(replies[2]) != 0)
        return violation("a failed transaction's key", 1);
    return true;
}

static bool check(hf_client *client, int64_t *applied)
{
    hf_buffer values[ACCOUNTS] = {HF_BUFFER_INIT};
    hf_reply *replies[3] = {NULL, NULL, NULL};
    hf_error err = HF_ERROR_INIT;
    hf_status status = read_all(client, values, replies, &err);
    bool good = true;

    if (status == HF_OK) {
        good = judge(values, replies);
        *applied = hf_reply_integer(replies[1]);
    } else if (status != HF_UNAVAILABLE && status != HF_INDETERMINATE) {
        fprintf(stderr, "violation: reading: %s\n", err.message);
        good = false;
    }
    for (size_t i = 0; i < ACCOUNTS; i++)
        hf_buffer_free(&values[i]);
    for (size_t i = 0; i < 3; i++)
        hf_reply_free(replies[i]);
    return good;
}

/* ------------------------------------------------------------------- kills */

static bool fill(hf_client *client)
{
    for (size_t i = 0; i < ACCOUNTS; i++) {
        hf_error err = HF_ERROR_INIT;

        if (hf_value_set(client, hf_str(account(i)), hf_str("1000"), NULL, NULL,
                         &err) != HF_OK) {
            fprintf(stderr, "%s\n", err.message);
            return false;
        }
    }
    return true;
}

/* Kill it, and see that it had not ended by itself. */
static bool kill_worker(pid_t pid)
{
    int how = 0;

    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, &how, 0);
    return WIFSIGNALED(how) || WEXITSTATUS(how) == 0 ||
           violation("a worker ended with code", WEXITSTATUS(how));
}

static void sleep_us(size_t us)
{
    struct timespec time = {0, (long)us * 1000};

    (void)nanosleep(&time, NULL);
}

static bool run_kills(const options *opts, hf_client *client, const char *url,
                      redis_server *killed)
{
    prng random = prng_of(opts->seed, 3, 4);
    pid_t workers[WORKERS];
    int64_t applied = 0;
    bool good = fill(client);

    for (size_t i = 0; i < WORKERS; i++)
        workers[i] = start_worker(url, prng_next(&random));
    for (int n = 1; good && n <= opts->kills; n++) {
        size_t one = prng_below(&random, WORKERS);

        sleep_us(prng_below(&random, 8000));
        if (killed != NULL && n % 50 == 0)
            good = redis_server_restart(killed);
        good = good && kill_worker(workers[one]);
        workers[one] = start_worker(url, prng_next(&random));
        if (good && n % CHECK_EVERY == 0)
            good = check(client, &applied);
    }
    for (size_t i = 0; i < WORKERS; i++)
        good = kill_worker(workers[i]) && good;
    sleep_us(20000);
    good = good && check(client, &applied);
    printf("%d kills, %lld transactions applied: %s\n", opts->kills,
           (long long)applied, good ? "all or nothing" : "VIOLATED");
    return good && (applied > 0 || violation("transactions applied", 0));
}

static bool with_client(const options *opts, const char *url,
                        redis_server *killed)
{
    hf_client *client = NULL;
    hf_error err = HF_ERROR_INIT;
    bool good;

    if (hf_client_open(url, NULL, &client, &err) != HF_OK) {
        fprintf(stderr, "%s\n", err.message);
        return false;
    }
    good = run_kills(opts, client, url, killed);
    hf_client_close(client);
    return good;
}

static bool embedded(const options *opts)
{
    place at;
    bool good;

    place_make(&at, opts->store, "");
    good = with_client(opts, at.url, NULL);
    place_remove(&at);
    return good;
}

/* Leave the server room for some blobs and the connections. */
static bool limit_memory(const redis_server *server)
{
    static const char mark[] = "used_memory:";
    char text[4096], command[64];
    const char *used;

    if (!redis_server_command(server, "INFO memory", text, sizeof(text)))
        return false;
    used = strstr(text, mark);
    if (used == NULL)
        return false;
    (void)snprintf(command, sizeof(command), "CONFIG SET maxmemory %lld",
                   strtoll(used + sizeof(mark) - 1, NULL, 10) + ROOM_SIZE);
    return redis_server_command(server, command, text, sizeof(text));
}

static bool on_server(const options *opts)
{
    static const char *const none[] = {NULL};
    static const char *const aof[] = {"--appendonly", "yes", NULL};
    bool killed = strcmp(opts->store, "aof") == 0;
    redis_server *server =
        redis_server_start_with(NULL, NULL, killed ? aof : none);
    bool good = server != NULL &&
                (strcmp(opts->store, "full") != 0 || limit_memory(server));

    good = good && with_client(opts, redis_server_unix_url(server),
                               killed ? server : NULL);
    redis_server_stop(server);
    return good;
}

static bool parse(int argc, char **argv, options *opts)
{
    *opts = (options){.kills = 100, .seed = 1, .store = "volatile"};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--kills") == 0)
            opts->kills = (int)strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            opts->seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--store") == 0)
            opts->store = argv[i + 1];
        else
            return false;
    }
    return argc % 2 == 1 && opts->kills > 0;
}

int main(int argc, char **argv)
{
    options opts;
    bool embeds;

    if (argc == 4 && strcmp(argv[1], "--worker") == 0)
        return be_worker(argv[2], strtoull(argv[3], NULL, 10));
    if (!parse(argc, argv, &opts)) {
        fprintf(stderr, "usage: txn_kill [--kills N] [--seed N] "
                        "[--store volatile|file|server|aof|full]\n");
        return 2;
    }
    embeds =
        strcmp(opts.store, "volatile") == 0 || strcmp(opts.store, "file") == 0;
    return (embeds ? embedded : on_server)(&opts) ? 0 : 1;
}
