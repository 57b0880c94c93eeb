/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_leases.c - a client that holds many leases of mixed kinds for long: none
 * is lost, and renewing them takes little processor time.
 *
 *     held_leases [--leases N] [--ttl MS] [--seconds S] [--store
 * server|volatile]
 *
 * The processor time of the client is that of this process while it holds them,
 * in per cent of a core. With 100 000 leases of 30 s more than five of them are
 * a violation, or ten on an embedded store, whose work the client does itself.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fault_place.h"
#include "support/redis_server.h"
#include "support/test_clock.h"

/* A lease of 30 s is renewed every 10 s: this many per second ... */
#define RENEWALS_PER_S 10000.0
/* ... may take this share of a core, per cent. */
static double share_max = 5;

static struct options {
    long leases;
    int64_t ttl_ms;
    long seconds;
    const char *store;
} options = {3000, 3000, 3, "server"};

static atomic_long lost;
static hf_lock **locks;

/* ------------------------------------------------------------------- kinds */

typedef hf_status (*make_fn)(hf_client *client, hf_bytes name,
                             const hf_lock_options *opts, hf_lock **lock,
                             hf_error *err);

#define PERMITS 1000

static hf_status make_permit(hf_client *client, hf_bytes name,
                             const hf_lock_options *opts, hf_lock **lock,
                             hf_error *err)
{
    return hf_semaphore_new(client, name, PERMITS, opts, lock, err);
}

static hf_status make_reader(hf_client *client, hf_bytes name,
                             const hf_lock_options *opts, hf_lock **lock,
                             hf_error *err)
{
    return hf_rwlock_new(client, name, 0, opts, lock, NULL, err);
}

/* How many leases one name has. */
static const struct {
    const char *name;
    make_fn make;
    long each;
} kinds[] = {
    {"lock", hf_lock_new, 1},
    {"semaphore", make_permit, 500},
    {"reader", make_reader, 50},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* ------------------------------------------------------------------ holding */

static void on_lost(hf_lock *lock, hf_status reason, void *user)
{
    (void)lock;
    (void)user;
    if (atomic_fetch_add(&lost, 1) == 0)
        printf("first loss: HF_%s\n", hf_status_name(reason));
}

static hf_status make_all(hf_client *client, hf_error *err)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    char name[64];

    opts.ttl_ms = options.ttl_ms;
    opts.on_lost = on_lost;
    for (long i = 0; i < options.leases; i++) {
        size_t kind = (size_t)i % KINDS;
        hf_status status;

        (void)snprintf(name, sizeof(name), "%s:%ld", kinds[kind].name,
                       i / (long)KINDS / kinds[kind].each);
        status = kinds[kind].make(client, hf_str(name), &opts, &locks[i], err);
        if (status != HF_OK)
            return status;
    }
    return HF_OK;
}

/* A part at a time: a batch may take no longer than a request. */
#define PART 1000

static long act_on_all(hf_status (*act)(hf_lock *const *of, size_t count,
                                        hf_status *statuses))
{
    hf_status statuses[PART];
    long bad = 0;

    for (long i = 0; i < options.leases; i += PART) {
        long count = options.leases - i < PART ? options.leases - i : PART;

        if (act(locks + i, (size_t)count, statuses) != HF_OK)
            return options.leases;
        for (long j = 0; j < count; j++)
            bad += statuses[j] != HF_OK;
    }
    return bad;
}

static hf_status acquire_part(hf_lock *const *of, size_t count,
                              hf_status *statuses)
{
    return hf_lock_acquire_many(of, count, 0, statuses, NULL);
}

static hf_status release_part(hf_lock *const *of, size_t count,
                              hf_status *statuses)
{
    return hf_lock_release_many(of, count, statuses, NULL);
}

static double used_ms(void)
{
    struct rusage used;

    (void)getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
}

/* Per cent of a core. */
static double hold_all(void)
{
    double used = used_ms();
    int64_t began_ms = test_now_ms();

    while (test_now_ms() < began_ms + options.seconds * 1000)
        (void)usleep(100000);
    return 100 * (used_ms() - used) / (double)(test_now_ms() - began_ms);
}

static long count_held(void)
{
    long held = 0;

    for (long i = 0; i < options.leases; i++)
        held += hf_lock_is_held(locks[i]);
    return held;
}

static bool hold(hf_client *client)
{
    double renewals = (double)options.leases * 3e3 / (double)options.ttl_ms;
    double share, limit = share_max * renewals / RENEWALS_PER_S;
    int64_t began_ms = test_now_ms();
    long bad = act_on_all(acquire_part), held;

    printf("%ld leases acquired in %lld ms, %ld not\n", options.leases - bad,
           (long long)(test_now_ms() - began_ms), bad);
    share = hold_all();
    held = count_held();
    printf("%ld held after %ld s, %ld lost; client %.2f %% of a core, limit "
           "%.2f %%\n",
           held, options.seconds, atomic_load(&lost), share, limit);
    bad += options.leases - held + atomic_load(&lost);
    began_ms = test_now_ms();
    held = act_on_all(release_part);
    printf("released in %lld ms, %ld not\n",
           (long long)(test_now_ms() - began_ms), held);
    bad += held;
    if (bad != 0)
        printf("violation: %ld leases\n", bad);
    if (share > limit)
        printf("violation: processor time\n");
    (void)client;
    return bad == 0 && share <= limit;
}

static bool run(const char *url)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_client *client = NULL;
    bool fine;

    opts.request_ms = 20000;
    locks = calloc((size_t)options.leases, sizeof(hf_lock *));
    fine = locks != NULL &&
           hf_client_open(url, &opts, &client, &err) == HF_OK &&
           make_all(client, &err) == HF_OK;
    if (!fine)
        printf("violation: %s\n", err.message);
    fine = fine && hold(client);
    for (long i = 0; locks != NULL && i < options.leases; i++)
        hf_lock_free(locks[i]);
    hf_client_close(client);
    free(locks);
    return fine;
}

static bool run_on_server(void)
{
    redis_server *server = redis_server_start(NULL);
    bool fine = server != NULL && run(redis_server_tcp_url(server));

    redis_server_stop(server);
    return fine;
}

static bool run_embedded(void)
{
    place at;
    bool fine;

    share_max = 10;
    place_make(&at, "volatile", "?max_size=512M");
    fine = run(at.url);
    place_remove(&at);
    return fine;
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--leases") == 0)
            options.leases = strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--ttl") == 0)
            options.ttl_ms = strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seconds") == 0)
            options.seconds = strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--store") == 0)
            options.store = argv[i + 1];
    }
    (void)setvbuf(stdout, NULL, _IONBF, 0);
    return (strcmp(options.store, "server") == 0 ? run_on_server()
                                                 : run_embedded())
               ? 0
               : 1;
}
