/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_names.c - many lock names, each acquired and released once, leave
 * nothing behind: two keys on a server at most, and less than 1 MiB in a small
 * embedded store.
 *
 *     lock_names [--names N] [--store embedded|server]
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "holdfast/lock.h"
#include "holdfast/store.h"
#include "support/redis_server.h"

#define GROWTH_MAX (1 << 20)
#define KEYS_MAX 2

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool lock_once(hf_client *client, long number, hf_error *err)
{
    char name[64];
    hf_lock *lock;
    hf_status status;

    snprintf(name, sizeof(name), "job:%ld:of the night", number);
    status = hf_lock_new(client, hf_str(name), NULL, &lock, err);
    if (status != HF_OK)
        return false;
    status = hf_lock_try(lock, err);
    if (status == HF_OK)
        status = hf_lock_release(lock, err);
    hf_lock_free(lock);
    return status == HF_OK;
}

static bool lock_all(hf_client *client, long names)
{
    hf_error err = HF_ERROR_INIT;
    int64_t began_ms = now_ms();

    for (long i = 0; i < names; i++) {
        if (!lock_once(client, i, &err)) {
            printf("violation: name %ld: %s\n", i, err.message);
            return false;
        }
    }
    printf("%ld names, each locked and released once: %lld ms\n", names,
           (long long)(now_ms() - began_ms));
    return true;
}

static bool judge(const char *what, long long found, long long most)
{
    printf("%s: %lld\n", what, found);
    if (found <= most)
        return true;
    printf("violation: %s: more than %lld\n", what, most);
    return false;
}

/* ------------------------------------------------------------------ server */

static bool on_server(long names)
{
    redis_server *server = redis_server_start(NULL);
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    char answer[64] = "";
    bool fine;

    if (server == NULL)
        return false;
    if (hf_client_open(redis_server_unix_url(server), NULL, &client, &err) !=
        HF_OK) {
        printf("violation: %s\n", err.message);
        redis_server_stop(server);
        return false;
    }
    fine = lock_all(client, names) &&
           redis_server_command(server, "DBSIZE", answer, sizeof(answer)) &&
           answer[0] == ':' &&
           judge("keys left, client open", strtoll(answer + 1, NULL, 10),
                 KEYS_MAX);
    hf_client_close(client);
    fine = fine &&
           redis_server_command(server, "DBSIZE", answer, sizeof(answer)) &&
           answer[0] == ':' &&
           judge("keys left, client closed", strtoll(answer + 1, NULL, 10), 1);
    redis_server_stop(server);
    return fine;
}

/* ---------------------------------------------------------------- embedded */

static void take_touched(void *user, const char *name, const char *value)
{
    if (strcmp(name, "bytes touched") == 0)
        *(long long *)user = strtoll(value, NULL, 10);
}

static long long touched(hf_client *client)
{
    long long found = -1;

    if (hf_store_info(client, take_touched, &found, NULL) != HF_OK)
        return -1;
    return found;
}

/* The first lock allocates the pages that stay. */
static bool fill_embedded(const char *folder, long names)
{
    char url[128];
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    long long before;
    bool fine;

    snprintf(url, sizeof(url), "volatile:%s?max_size=16M", folder);
    if (hf_client_open(url, NULL, &client, &err) != HF_OK ||
        !lock_once(client, -1, &err)) {
        printf("violation: %s\n", err.message);
        return false;
    }
    before = touched(client);
    fine = before > 0 && lock_all(client, names) &&
           judge("bytes grown", touched(client) - before, GROWTH_MAX);
    hf_client_close(client);
    return fine;
}

static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL)
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir != NULL)
        closedir(dir);
    (void)rmdir(folder);
}

static bool on_embedded(long names)
{
    char folder[] = "/dev/shm/hf-names-XXXXXX";
    bool fine = mkdtemp(folder) != NULL && fill_embedded(folder, names);

    remove_folder(folder);
    return fine;
}

int main(int count, char **args)
{
    const char *store = "embedded";
    long names = 20000;

    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(args[i], "--names") == 0)
            names = strtol(args[i + 1], NULL, 10);
        else if (strcmp(args[i], "--store") == 0)
            store = args[i + 1];
    }
    if (names < 1 || count % 2 == 0) {
        fprintf(stderr,
                "usage: lock_names [--names N] [--store embedded|server]\n");
        return 64;
    }
    return (strcmp(store, "server") == 0 ? on_server : on_embedded)(names) ? 0
                                                                           : 1;
}
