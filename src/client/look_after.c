/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look_after.c - looking after a store: what it is, whether it is whole,
 * compacting it, salvaging it, setting it up.
 *
 * Only arguments are checked here; the drivers know their stores. All but the
 * first take a URL, because a damaged store has no client.
 */
#include <stddef.h>
#include <string.h>

#include "client/client_options.h"
#include "core/client.h"
#include "holdfast/store.h"
#include "store/drivers.h"
#include "store/maintenance.h"
#include "util/error.h"
#include "util/options.h"
#include "util/url.h"

/* How long others may hold up the beginning, ms; hf_client_open()'s default. */
#define CONNECT_MS 2000

#define FINDINGS_DEFAULT 100
#define FINDINGS_MAX 10000

hf_status hf_store_info(hf_client *client, hf_store_info_fn line, void *user,
                        hf_error *err)
{
    hf__visit visit;
    hf_status status;

    if (client == NULL || line == NULL)
        return hf__fail(err, HF_INVALID, "an argument is NULL");
    status = hf__client_visit(client, &visit, err);
    if (status != HF_OK)
        return status;
    client->store->ops->describe(client->store, line, user);
    hf__client_visit_end(client, &visit);
    return HF_OK;
}

/* The driver, and how it opens the store. */
static hf_status parse_url(const char *url, hf__url *parsed,
                           const hf__store_ops **ops, hf__store_config *config,
                           hf_error *err)
{
    hf_client_options times = HF_CLIENT_OPTIONS_INIT;
    hf_status status = hf__store_url_parse(url, parsed, err);

    if (status != HF_OK)
        return status;
    status = hf__client_times_of_url(&times, parsed, err);
    if (status == HF_OK)
        status = hf__store_driver(parsed->scheme, ops, err);
    if (status != HF_OK)
        hf__url_done(parsed);
    *config = (hf__store_config){
        .url = parsed,
        .connect_ms = times.connect_ms > 0 ? times.connect_ms : CONNECT_MS};
    return status;
}

static hf_status fail_unsupported(const hf__url *url, const char *what,
                                  hf_error *err)
{
    return hf__fail(err, HF_UNSUPPORTED,
                    "%s works on embedded stores only, not on %s: stores", what,
                    url->scheme);
}

static void ignore_finding(void *user, const char *finding)
{
    (void)user;
    (void)finding;
}

static hf_status load_check(hf__check *check,
                            const hf_store_check_options *opts, hf_error *err)
{
    hf_store_check_options options;
    hf_status status =
        hf__options_load(&options, sizeof(options), sizeof(options), opts,
                         "hf_store_check_options", err);

    if (status != HF_OK)
        return status;
    status = hf__check_option(options.limit_ms, HF_TTL_MAX_MS, "limit_ms", err);
    if (status == HF_OK)
        status = hf__check_option(options.faults_max, FINDINGS_MAX,
                                  "faults_max", err);
    if (status != HF_OK)
        return status;
    check->limit_ms = options.limit_ms;
    check->findings_max =
        options.faults_max > 0 ? options.faults_max : FINDINGS_DEFAULT;
    check->progress = options.progress;
    return HF_OK;
}

hf_status hf_store_check(const char *url, const hf_store_check_options *opts,
                         hf_store_fault_fn finding, void *user, hf_error *err)
{
    hf__check check = {.finding = finding != NULL ? finding : ignore_finding,
                       .user = user};
    const hf__store_ops *ops = NULL;
    hf__store_config config;
    hf__url parsed;
    hf_status status = load_check(&check, opts, err);

    if (status == HF_OK)
        status = parse_url(url, &parsed, &ops, &config, err);
    if (status != HF_OK)
        return status;
    if (ops->check == NULL)
        status = fail_unsupported(&parsed, "check", err);
    else
        status = ops->check(&config, &check, err);
    hf__url_done(&parsed);
    return status;
}

hf_status hf_store_compact(const char *url, hf_store_compaction *result,
                           hf_error *err)
{
    hf_store_compaction done = HF_STORE_COMPACTION_INIT;
    const hf__store_ops *ops = NULL;
    hf__store_config config;
    hf__url parsed;
    hf_status status;

    if (result == NULL || result->struct_size < sizeof(*result))
        return hf__fail(err, HF_INVALID,
                        "hf_store_compaction: NULL, or wrong struct_size");
    status = parse_url(url, &parsed, &ops, &config, err);
    if (status != HF_OK)
        return status;
    done.max_size = result->max_size;
    if (ops->compact == NULL)
        status = fail_unsupported(&parsed, "compaction", err);
    else
        status = ops->compact(&config, &done, err);
    hf__url_done(&parsed);
    done.struct_size = result->struct_size;
    if (status == HF_OK || status == HF_FULL)
        *result = done;
    return status;
}

hf_status hf_store_setup(const char *url, hf_store_setup_fn print, void *user,
                         hf_error *err)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    const hf__store_ops *ops = NULL;
    char password[HF__SECRET_SIZE];
    hf__store_config config;
    hf__url parsed;
    hf_status status = parse_url(url, &parsed, &ops, &config, err);

    if (status != HF_OK)
        return status;
    config.username = parsed.username;
    if (ops->setup == NULL)
        status =
            hf__fail(err, HF_UNSUPPORTED,
                     "there is nothing to set up on %s: stores", parsed.scheme);
    else
        status = hf__client_password(&options, &parsed, password,
                                     &config.password, err);
    if (status == HF_OK)
        status = ops->setup(&config, print, user, err);
    explicit_bzero(password, sizeof(password));
    hf__url_done(&parsed);
    return status;
}

static void ignore_lost(void *user, hf_bytes key, const char *why)
{
    (void)user;
    (void)key;
    (void)why;
}

/* Both stores are of one driver. */
static hf_status salvage_store(const hf__store_config *from,
                               const hf__store_ops *ops, const char *new_url,
                               hf__salvage *how, hf_store_salvaged *done,
                               hf_error *err)
{
    const hf__store_ops *new_ops = NULL;
    hf__store_config config;
    hf__url to;
    hf_status status;

    if (ops->salvage == NULL)
        return fail_unsupported(from->url, "salvage", err);
    if (new_url == NULL)
        return hf__fail(err, HF_INVALID, "new_url is NULL");
    status = parse_url(new_url, &to, &new_ops, &config, err);
    if (status != HF_OK)
        return status;
    how->new_url = &to;
    if (new_ops != ops)
        status = fail_unsupported(&to, "salvage", err);
    else
        status = ops->salvage(from, how, done, err);
    hf__url_done(&to);
    return status;
}

hf_status hf_store_salvage(const char *url, const char *new_url,
                           hf_store_lost_fn lost, void *user,
                           hf_store_salvaged *result, hf_error *err)
{
    hf__salvage how = {.lost = lost != NULL ? lost : ignore_lost, .user = user};
    hf_store_salvaged done = HF_STORE_SALVAGED_INIT;
    const hf__store_ops *ops = NULL;
    hf__store_config config;
    hf__url parsed;
    hf_status status;

    if (result != NULL && result->struct_size < sizeof(*result))
        return hf__fail(err, HF_INVALID,
                        "hf_store_salvaged: wrong struct_size");
    status = parse_url(url, &parsed, &ops, &config, err);
    if (status != HF_OK)
        return status;
    status = salvage_store(&config, ops, new_url, &how, &done, err);
    hf__url_done(&parsed);
    done.complete = status == HF_OK;
    if (status == HF_OK && done.lost + done.faults > 0)
        status = hf__fail(err, HF_CORRUPT,
                          "%llu keys were copied, %llu were not; %llu other "
                          "faults",
                          (unsigned long long)done.keys,
                          (unsigned long long)done.lost,
                          (unsigned long long)done.faults);
    if (result != NULL && (status == HF_OK || status == HF_CORRUPT)) {
        done.struct_size = result->struct_size;
        *result = done;
    }
    return status;
}
