/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.c - opening and closing a client.
 *
 * Owns the order in which the parts come and go: loop, store, watchdog; calls
 * end before all of them (life.h). The
 * store and the watchdog use the loop's thread, so it goes after them. Then
 * every asynchronous call has completed, and the last are told.
 */
#include "core/client.h"

#include <stdlib.h>
#include <string.h>

#include "store/drivers.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/fork.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/secret.h"
#include "util/url.h"

#define REQUEST_MS_DEFAULT 5000
#define CONNECT_MS_DEFAULT 2000
#define WAIT_MS_MAX 3600000
#define CALLS_DEFAULT 65536
#define CALLS_MAX 1000000
#define CALL_BYTES_DEFAULT ((int64_t)64 << 20)
#define CALL_BYTES_MAX ((int64_t)1 << 40)

_Static_assert(HF__STORE_ID_SIZE == HF__CLIENT_ID_SIZE, "a client has one id");

static hf_status check_range(int64_t value, int64_t high, const char *name,
                             hf_error *err)
{
    if (value >= 0 && value <= high)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "%s is %lld; it must be 1..%lld", name,
                    (long long)value, (long long)high);
}

static hf_status check_prefix(const char *prefix, hf_error *err)
{
    if (prefix == NULL)
        return HF_OK;
    if (strlen(prefix) > HF__PREFIX_MAX)
        return hf__fail(err, HF_INVALID,
                        "prefix is %zu bytes; at most %d are allowed",
                        strlen(prefix), HF__PREFIX_MAX);
    if (strpbrk(prefix, "{}") != NULL)
        return hf__fail(err, HF_INVALID,
                        "prefix has a brace, which would move every key to "
                        "one hash slot");
    return HF_OK;
}

static hf_status load_options(hf_client_options *options,
                              const hf_client_options *from, hf_error *err)
{
    hf_status status;

    status = hf__options_load(options, sizeof(*options), sizeof(*options), from,
                              "hf_client_options", err);
    if (status == HF_OK && options->prefix == NULL)
        options->prefix = getenv("HOLDFAST_PREFIX");
    if (status == HF_OK)
        status = check_prefix(options->prefix, err);
    if (status == HF_OK && options->description == NULL)
        options->description = getenv("HOLDFAST_DESCRIPTION");
    if (status == HF_OK && options->description != NULL &&
        strlen(options->description) >= HF_HOLDER_TEXT_SIZE)
        status = hf__fail(
            err, HF_INVALID, "description is %zu bytes; at most %d are allowed",
            strlen(options->description), HF_HOLDER_TEXT_SIZE - 1);
    if (status == HF_OK)
        status =
            check_range(options->request_ms, WAIT_MS_MAX, "request_ms", err);
    if (status == HF_OK)
        status =
            check_range(options->connect_ms, WAIT_MS_MAX, "connect_ms", err);
    if (status == HF_OK)
        status = check_range(options->script_budget_ms, HF_SCRIPT_BUDGET_MAX_MS,
                             "script_budget_ms", err);
    if (status == HF_OK)
        status = check_range(options->max_calls, CALLS_MAX, "max_calls", err);
    if (status == HF_OK)
        status = check_range(options->max_call_bytes, CALL_BYTES_MAX,
                             "max_call_bytes", err);
    if (options->max_calls == 0)
        options->max_calls = CALLS_DEFAULT;
    if (options->max_call_bytes == 0)
        options->max_call_bytes = CALL_BYTES_DEFAULT;
    return status;
}

/* Options first, then the URL, then the environment; within each the password
 * itself before the file of one. */
static hf_status find_password(const hf_client_options *options,
                               const hf__url *url, char text[HF__SECRET_SIZE],
                               const char **password, hf_error *err)
{
    const char *path = getenv("HOLDFAST_PASSWORD_FILE");
    hf_status status;

    *password = options->password;
    if (*password != NULL)
        return HF_OK;
    if (options->password_file != NULL) {
        *password = text;
        return hf__secret_read("password_file", options->password_file, text,
                               err);
    }
    status = hf__url_secret(url, text, password, err);
    if (status != HF_OK || *password != NULL)
        return status;
    if (path != NULL && path[0] != '\0') {
        *password = text;
        return hf__secret_read("HOLDFAST_PASSWORD_FILE", path, text, err);
    }
    *password = getenv("HOLDFAST_PASSWORD");
    return HF_OK;
}

/* An embedded store has a say in it. */
static void take_id(hf_client *client)
{
    const char *inbox = client->store->ops->inbox(client->store);

    memcpy(client->owners.client,
           inbox + strlen(inbox) - (HF__CLIENT_ID_SIZE - 1),
           HF__CLIENT_ID_SIZE);
}

static hf_status open_store(hf_client *client, const hf__url *url,
                            const hf_client_options *options, hf_error *err)
{
    char text[HF__SECRET_SIZE];
    hf_tls_options tls;
    hf__store_config config = {.url = url,
                               .prefix = client->prefix,
                               .client_id = client->owners.client,
                               .client_name = options->client_name,
                               .connect_ms = options->connect_ms,
                               .script_budget_ms = options->script_budget_ms,
                               .replicas = client->replicas.count,
                               .tls = options->tls != NULL ? &tls : NULL,
                               .loop = client->loop};
    hf_status status = hf__options_load(&tls, sizeof(tls), sizeof(tls),
                                        options->tls, "hf_tls_options", err);
    int64_t until_ms;

    if (config.connect_ms == 0)
        config.connect_ms = CONNECT_MS_DEFAULT;
    until_ms = hf__clock_after(hf__clock_boot_ms(), config.connect_ms);
    config.username =
        options->username != NULL ? options->username : url->username;
    if (status == HF_OK &&
        (url->host != NULL || strstr(url->scheme, "+unix") != NULL ||
         strcmp(url->scheme, "redlock") == 0))
        status = find_password(options, url, text, &config.password, err);
    if (status == HF_OK)
        status = hf__store_open(&config, &client->store, err);
    if (status == HF_OK)
        take_id(client);
    if (status == HF_OK && client->replicas.count > 0)
        status =
            hf__replicas_probe(client->store, &client->replicas, until_ms, err);
    explicit_bzero(text, sizeof(text));
    return status;
}

static hf_client *client_new(const hf_client_options *options)
{
    hf_client *client = hf__calloc(1, sizeof(*client));

    if (client == NULL)
        return NULL;
    client->request_ms = options->request_ms;
    if (client->request_ms == 0)
        client->request_ms = REQUEST_MS_DEFAULT;
    hf__life_init(&client->life);
    client->fork_generation = hf__fork_generation();
    client->prefix = hf__strdup(options->prefix == NULL ? "" : options->prefix);
    if (options->password_file != NULL)
        client->password_file = hf__strdup(options->password_file);
    client->loop = hf__loop_new();
    if (client->prefix == NULL || client->loop == NULL ||
        !hf__registry_init(&client->registry, client, options->description) ||
        (options->password_file != NULL && client->password_file == NULL)) {
        hf__loop_free(client->loop);
        hf__free(client->password_file);
        hf__free(client->prefix);
        hf__registry_done(&client->registry);
        hf__free(client);
        return NULL;
    }
    client->prefix_size = strlen(client->prefix);
    hf__watchdog_init(&client->watchdog, client);
    hf__gates_init(&client->gates);
    hf__interrupts_init(&client->interrupts);
    hf__owners_init(&client->owners);
    hf__cas_lanes_init(&client->cas_lanes, client->prefix,
                       client->owners.client);
    hf__dispatch_init(&client->dispatch, (size_t)options->max_calls,
                      (size_t)options->max_call_bytes);
    hf__timers_init(&client->timers, client->loop);
    return client;
}

const char *hf__client_url(const char *url)
{
    if (url == NULL || url[0] == '\0')
        url = getenv("HOLDFAST_STORE");
    if (url == NULL || url[0] == '\0')
        url = "volatile:";
    return url;
}

hf_status hf_client_open(const char *url, const hf_client_options *opts,
                         hf_client **client, hf_error *err)
{
    hf_client_options options;
    hf__url parsed;
    hf_client *made;
    hf_status status;

    if (client == NULL)
        return hf__fail(err, HF_INVALID, "client is NULL");
    status = load_options(&options, opts, err);
    if (status != HF_OK)
        return status;
    status = hf__url_parse(hf__client_url(url), &parsed, err);
    if (status != HF_OK)
        return status;

    made = client_new(&options);
    if (made == NULL) {
        hf__url_done(&parsed);
        return hf__fail(err, HF_NO_MEMORY, "opening a client");
    }
    status = hf__replicas_of_client(&made->replicas, &options, &parsed, err);
    if (status == HF_OK)
        status = open_store(made, &parsed, &options, err);
    hf__url_done(&parsed);
    if (status != HF_OK) {
        hf_client_close(made);
        return status;
    }
    *client = made;
    return HF_OK;
}

static void client_free(hf_client *client)
{
    hf__watchdog_free(&client->watchdog);
    hf__dispatch_done(&client->dispatch);
    hf__cas_lanes_done(&client->cas_lanes);
    hf__registry_done(&client->registry);
    hf__free(client->password_file);
    hf__free(client->prefix);
    hf__free(client);
}

void hf__client_ref(hf_client *client)
{
    atomic_fetch_add_explicit(&client->life.references, 1,
                              memory_order_relaxed);
}

void hf__client_unref(hf_client *client)
{
    if (atomic_fetch_sub(&client->life.references, 1) == 1)
        client_free(client);
}

/* Calls end, and no other begins. */
static void end_calls(hf_client *client)
{
    hf__interrupts_wake(&client->interrupts, NULL);
    hf__life_await(&client->life);
}

static void close_parts(hf_client *client, bool forked)
{
    hf__watchdog_stop(&client->watchdog);
    if (client->store != NULL && !forked)
        hf__registry_close(&client->registry);
    if (client->store != NULL)
        client->store->ops->close(client->store);
    hf__watchdog_done(&client->watchdog);
    if (!forked) {
        hf__gates_done(&client->gates);
        hf__interrupts_done(&client->interrupts);
    }
    hf__timers_done(&client->timers);
    hf__loop_free(client->loop);
}

void hf_client_close(hf_client *client)
{
    bool forked;

    if (client == NULL)
        return;
    forked = hf__client_forked(client);
    if (!forked &&
        (hf__loop_here(client->loop) || hf__is_visited(&client->life)))
        return;
    if (!hf__life_close(&client->life))
        return;
    if (!forked)
        end_calls(client);
    close_parts(client, forked);
    atomic_store(&client->life.over, true);
    if (hf__dispatch_close(&client->dispatch, client, forked))
        hf__client_unref(client);
}
