/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c - see registry.h. */
#include "lease/registry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/client.h"
#include "lease/leases.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/mem.h"
#include "util/order.h"

#define DELAY_MS 100
#define TTL_MS 60000
#define RENEW_MS (TTL_MS / 3)

/* A local store runs the request on the thread that renews leases and reports
 * lost ones: it has this long, then it is tried again soon. */
#define LOCAL_MS 5
#define RETRY_MS 1000

/* How long closing may wait to delete the entry, which would expire. */
#define DELETE_MS 250

/* ------------------------------------------------------------- who we are */

/* A line of the entry; control characters become "?". */
static void put_line(char **at, const char *text)
{
    for (size_t i = 0; text[i] != '\0' && i < HF_HOLDER_TEXT_SIZE - 1; i++)
        *(*at)++ =
            (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
    *(*at)++ = '\n';
}

/* Is this line of /etc/passwd that of the user? Then it ends behind the name.
 */
static bool is_of_user(char *line, uid_t uid)
{
    char *password = strchr(line, ':');
    char *number = password == NULL ? NULL : strchr(password + 1, ':');

    if (number == NULL || number[1] < '0' || number[1] > '9' ||
        strtoul(number + 1, NULL, 10) != uid)
        return false;
    *password = '\0';
    return true;
}

/* From the file, not by getpwuid(): a directory server may hang, and this is
 * the thread that renews leases. fgetpwent_r() is glibc's alone. */
static void user_name(char name[HF_HOLDER_TEXT_SIZE])
{
    FILE *file = fopen("/etc/passwd", "re");
    char line[1024];
    uid_t uid = geteuid();

    snprintf(name, HF_HOLDER_TEXT_SIZE, "%u", (unsigned)uid);
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (is_of_user(line, uid)) {
            snprintf(name, HF_HOLDER_TEXT_SIZE, "%.*s", HF_HOLDER_TEXT_SIZE - 1,
                     line);
            break;
        }
    }
    if (file != NULL)
        (void)fclose(file);
}

static void fill_lines(hf__registry *registry)
{
    char text[HF_HOLDER_TEXT_SIZE];
    char *at = registry->lines;

    snprintf(text, sizeof(text), "%ld", (long)getpid());
    put_line(&at, text);
    user_name(text);
    put_line(&at, text);
    if (gethostname(text, sizeof(text)) != 0)
        text[0] = '\0';
    text[sizeof(text) - 1] = '\0';
    put_line(&at, text);
    put_line(&at, program_invocation_short_name);
    put_line(&at, registry->description == NULL ? "" : registry->description);
    at[-1] = '\0';
}

char *hf__registry_key(const hf_client *client, const char *id)
{
    size_t size =
        client->prefix_size + sizeof(HF__ROLE_CLIENT) + HF__CLIENT_ID_SIZE;
    char *key = hf__alloc(size);

    if (key != NULL)
        snprintf(key, size, "%s" HF__ROLE_CLIENT "%.16s", client->prefix, id);
    return key;
}

/* ------------------------------------------------------------- registering */

static bool holds_locks(hf_client *client)
{
    bool any;

    pthread_mutex_lock(&client->leases->watchdog.mutex);
    any = hf__heap_first(&client->leases->watchdog.heap) != NULL;
    pthread_mutex_unlock(&client->leases->watchdog.mutex);
    return any;
}

/* The loop thread. */
static void run_done(hf__task *task)
{
    hf__registry *registry = hf__container_of(task, hf__registry, done_task);

    registry->busy = false;
    if (!registry->closing &&
        !hf__timer_set(&registry->client->timers, &registry->timer,
                       hf__clock_boot_ms() +
                           (registry->failed ? RETRY_MS : RENEW_MS)))
        atomic_store(&registry->wanted, false);
}

/* On any thread. */
static void on_done(hf__request *request)
{
    hf__registry *registry = request->user;

    registry->failed = request->status != HF_OK;
    hf__request_done(request);
    hf__loop_post(registry->client->loop, &registry->done_task);
}

static void submit_entry(hf__registry *registry)
{
    hf_client *client = registry->client;
    hf__request *request = &registry->request;
    int64_t now_ms = hf__clock_boot_ms();

    hf__number(registry->age, now_ms - client->leases->owners.opened_ms);
    registry->words[0] = hf_str(registry->key);
    registry->words[1] = hf_str(registry->age);
    registry->words[2] = hf_str(registry->lines);
    registry->words[3] = hf__number(registry->ttl, TTL_MS);
    hf__request_script(request, &hf__scripts[HF__SCRIPT_CLIENT_REGISTER],
                       registry->words, 4, 1);
    request->began_ms = now_ms;
    request->deadline_ms =
        now_ms + ((client->store->capabilities & HF__CAP_LOCAL) != 0
                      ? LOCAL_MS
                      : client->request_ms);
    request->on_done = on_done;
    request->user = registry;
    registry->busy = true;
    atomic_store(&registry->stored, true);
    client->store->ops->submit(client->store, &request, 1);
}

static void on_time(hf__timer *timer)
{
    hf__registry *registry = hf__container_of(timer, hf__registry, timer);

    if (!holds_locks(registry->client)) {
        atomic_store(&registry->wanted, false);
        return;
    }
    if (registry->key == NULL) {
        registry->key = hf__registry_key(
            registry->client, registry->client->leases->owners.client);
        fill_lines(registry);
    }
    if (registry->key != NULL)
        submit_entry(registry);
}

static void run_begin(hf__task *task)
{
    hf__registry *registry = hf__container_of(task, hf__registry, begin_task);

    if (!registry->closing &&
        !hf__timer_set(&registry->client->timers, &registry->timer,
                       hf__clock_boot_ms() +
                           (registry->description == NULL ? DELAY_MS : 0)))
        atomic_store(&registry->wanted, false);
}

void hf__registry_note(hf__registry *registry)
{
    hf_client *client = registry->client;

    /* A quorum stores only locks. */
    if (atomic_load_explicit(&registry->wanted, memory_order_relaxed) ||
        (client->store->capabilities & HF__CAP_UNDOES) != 0 ||
        hf__timers_start(&client->timers, NULL) != HF_OK ||
        atomic_exchange(&registry->wanted, true))
        return;
    hf__loop_post(client->loop, &registry->begin_task);
}

/* -------------------------------------------------------------------- life */

static void run_close(hf__task *task)
{
    hf__registry *registry = hf__container_of(task, hf__registry, close_task);

    registry->closing = true;
    hf__timer_stop(&registry->client->timers, &registry->timer);
}

bool hf__registry_init(hf__registry *registry, hf_client *client,
                       const char *description)
{
    registry->client = client;
    hf__timer_init(&registry->timer, on_time);
    hf__request_init(&registry->request);
    registry->begin_task.run = run_begin;
    registry->done_task.run = run_done;
    registry->close_task.run = run_close;
    if (description != NULL)
        registry->description = hf__strdup(description);
    return description == NULL || registry->description != NULL;
}

void hf__registry_close(hf__registry *registry)
{
    hf_client *client = registry->client;
    hf_bytes words[2];
    hf__request request;

    if (hf__loop_started(client->loop))
        hf__loop_call(client->loop, &registry->close_task);
    if (!atomic_load(&registry->stored))
        return;
    words[1] = hf_str(registry->key);
    hf__operation_request(&request, &hf__op_del, words, 2);
    request.deadline_ms =
        hf__clock_boot_ms() + hf__at_most(DELETE_MS, client->request_ms);
    client->store->ops->perform(client->store, &request);
    hf__request_done(&request);
}

void hf__registry_done(hf__registry *registry)
{
    hf__free(registry->key);
    hf__free(registry->description);
}
