/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.c - opening and closing a client.
 *
 * Owns the order in which the parts come and go: loop, leases, store. Closing
 * waits for the calls under way first (core/client.h). Leases and store use the
 * loop's thread, so it goes after them. By then every asynchronous call has
 * completed, and those not yet reported are.
 */
#include "client/open.h"

#include <string.h>

#include "client/client_options.h"
#include "core/client.h"
#include "lease/leases.h"
#include "store/drivers.h"
#include "store/log_hook.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/fork.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/secret.h"
#include "util/url.h"

#define REQUEST_MS_DEFAULT 5000
#define CONNECT_MS_DEFAULT 2000

_Static_assert(HF__STORE_ID_SIZE == HF__CLIENT_ID_SIZE, "a client has one id");

/* An embedded store has a say in it. */
static void take_id(hf_client *client)
{
    const char *inbox = client->store->ops->inbox(client->store);

    memcpy(client->leases->owners.client,
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
                               .client_id = client->leases->owners.client,
                               .client_name = options->client_name,
                               .connect_ms = options->connect_ms,
                               .script_budget_ms = options->script_budget_ms,
                               .replicas = client->replicas.count,
                               .tls = options->tls != NULL ? &tls : NULL,
                               .loop = client->loop,
                               .on_message = hf__leases_take,
                               .on_message_user = client->leases,
                               .log = client->log};
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
        status = hf__client_password(options, url, text, &config.password, err);
    if (status == HF_OK)
        status = hf__store_open(&config, &client->store, err);
    if (status == HF_OK)
        take_id(client);
    if (status == HF_OK)
        status = hf__layout_complete(&client->layout, client->store, err);
    if (status == HF_OK && client->replicas.count > 0)
        status =
            hf__replicas_probe(client->store, &client->replicas, until_ms, err);
    explicit_bzero(text, sizeof(text));
    return status;
}

static void client_free(hf_client *client)
{
    bool forked = hf__client_forked(client);

    hf__leases_free(client->leases);
    hf__completions_done(&client->completions, forked);
    if (!forked)
        hf__client_feeds_done(&client->feeds);
    hf__cas_sessions_done(&client->cas_sessions);
    hf__cas_sessions_done(&client->txn_sessions);
    hf__log_hook_free(client->log);
    hf__free(client->password_file);
    hf__free(client->prefix);
    hf__free(client);
}

hf_client *hf__client_new(const hf_client_options *options)
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
    client->leases = hf__leases_new(client, options->description);
    if (client->prefix == NULL || client->loop == NULL ||
        client->leases == NULL ||
        (options->password_file != NULL && client->password_file == NULL)) {
        if (client->leases != NULL)
            hf__leases_free(client->leases);
        hf__loop_free(client->loop);
        hf__free(client->password_file);
        hf__free(client->prefix);
        hf__free(client);
        return NULL;
    }
    client->prefix_size = strlen(client->prefix);
    client->free = client_free;
    hf__cas_sessions_init(&client->cas_sessions, 0, client->prefix,
                          client->leases->owners.client);
    hf__cas_sessions_init(&client->txn_sessions, HF__TXN_SESSION_FIRST,
                          client->prefix, client->leases->owners.client);
    hf__interrupts_init(&client->interrupts);
    hf__asides_init(&client->asides);
    hf__store_clock_init(&client->store_clock);
    hf__completions_init(&client->completions, (size_t)options->max_calls,
                         (size_t)options->max_call_bytes);
    hf__client_feeds_init(&client->feeds);
    hf__timers_init(&client->timers, client->loop);
    hf__repeats_init(&client->repeats, client);
    return client;
}

/* Messages are reported by the client's thread. */
static hf_status start_log(hf_client *client, const hf_client_options *options,
                           hf_error *err)
{
    hf_status status;

    if (options->on_log == NULL)
        return HF_OK;
    status = hf__loop_start(client->loop, err);
    if (status != HF_OK)
        return status;
    client->log =
        hf__log_hook_new(client->loop, options->on_log, options->log_user,
                         (hf_log_level)options->log_level);
    return client->log != NULL
               ? HF_OK
               : hf__fail(err, HF_NO_MEMORY, "opening a client");
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
    status = hf__client_options_load(&options, opts, err);
    if (status != HF_OK)
        return status;
    status = hf__store_url_parse(url, &parsed, err);
    if (status != HF_OK)
        return status;

    status = hf__client_times_of_url(&options, &parsed, err);
    made = status == HF_OK ? hf__client_new(&options) : NULL;
    if (made == NULL) {
        hf__url_done(&parsed);
        return status != HF_OK
                   ? status
                   : hf__fail(err, HF_NO_MEMORY, "opening a client");
    }
    status = hf__replicas_of_client(&made->replicas, &options, &parsed, err);
    if (status == HF_OK)
        status = hf__layout_of_url(&made->layout, &parsed, err);
    if (status == HF_OK)
        status = start_log(made, &options, err);
    if (status == HF_OK)
        status = open_store(made, &parsed, &options, err);
    hf__url_done(&parsed);
    if (status == HF_INVALID && hf__store_url_is_default(url))
        hf__fail_prefix(err, "HOLDFAST_STORE");
    if (status != HF_OK) {
        hf_client_close(made);
        return status;
    }
    *client = made;
    return HF_OK;
}

/* Calls end, and no other begins. */
static void end_calls(hf_client *client)
{
    hf__interrupts_wake(&client->interrupts, NULL);
    hf__life_await(&client->life);
}

static void close_parts(hf_client *client, bool forked)
{
    hf__asides_done(&client->asides, forked);
    if (!forked)
        hf__pending_close(client);
    hf__leases_stop(client->leases, forked || client->store == NULL);
    if (!forked)
        hf__client_feeds_close(&client->feeds);
    hf__repeats_close(&client->repeats, forked);
    if (client->store != NULL)
        client->store->ops->close(client->store);
    hf__leases_done(client->leases, forked);
    if (!forked)
        hf__interrupts_done(&client->interrupts);
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
    /* What the close itself breaks off is no news. */
    if (!forked && client->log != NULL)
        hf__log_hook_close(client->log);
    close_parts(client, forked);
    atomic_store(&client->life.over, true);
    if (hf__completions_close(&client->completions, client, forked))
        hf__client_unref(client);
}
