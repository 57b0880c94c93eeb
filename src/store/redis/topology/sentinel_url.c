/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel_url.c - from a parsed URL to sentinels, a master's name, and two
 * accounts. Knows no socket.
 */
#include "store/redis/topology/sentinel_url.h"

#include <string.h>

#include "store/tls/tls.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/secret.h"
#include "util/url.h"

#define PORT_DEFAULT 26379

/* Redis numbers databases with a C int. */
#define DB_MAX INT32_MAX

#define SENTINEL_PARAMS                                                        \
    HF__ACCOUNT_PARAMS, "sentinel_username", "sentinel_password",              \
        "sentinel_password_file"

static hf_status check_params(const hf__url *url, hf_error *err)
{
    static const char *const plain[] = {SENTINEL_PARAMS, NULL};
    static const char *const secure[] = {SENTINEL_PARAMS, HF__TLS_PARAMS, NULL};

    return hf__url_check_params(url, hf__tls_is_wanted(url) ? secure : plain,
                                err);
}

/* "/name" or "/name/db". */
static hf_status take_path(hf__sentinel_url *place, const hf__url *url,
                           hf_error *err)
{
    const char *name = url->path[0] == '/' ? url->path + 1 : "";
    size_t size = strcspn(name, "/");
    int64_t db = 0;
    hf_status status = HF_OK;

    if (size == 0)
        return hf__fail(err, HF_INVALID,
                        "the URL has no master's name: write %s://host/name",
                        url->scheme);
    if (size > HF__SENTINEL_NAME_MAX)
        return hf__fail(err, HF_INVALID,
                        "the master's name is longer than %d bytes",
                        HF__SENTINEL_NAME_MAX);
    if (strcspn(name, " \t") < size)
        return hf__fail(err, HF_INVALID, "the master's name has a space");
    if (name[size] == '/' && name[size + 1] != '\0')
        status = hf__parse_int(name + size + 1, 0, DB_MAX,
                               "database in the URL's path", &db, err);
    if (status != HF_OK)
        return status;
    place->name = hf__strdup(name);
    if (place->name == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    place->name[size] = '\0';
    place->account.db = db;
    return HF_OK;
}

static hf_status take_hosts(hf__sentinel_url *place, const hf__url *url,
                            hf_error *err)
{
    char host[HF__URL_HOST_SIZE];
    int port;
    hf_status status;

    while (hf__url_host(url, place->count, host, &port)) {
        if (place->count == HF__SENTINEL_URL_MAX)
            return hf__fail(err, HF_INVALID,
                            "the URL names more than %d sentinels",
                            HF__SENTINEL_URL_MAX);
        status = hf__redis_where_init(&place->sentinels[place->count], host,
                                      port != 0 ? port : PORT_DEFAULT, err);
        if (status != HF_OK)
            return status;
        place->count++;
    }
    if (place->count == 0)
        return hf__fail(err, HF_INVALID, "the URL has no host");
    return HF_OK;
}

/* Empty is the same as missing. */
static bool copy_param(const char *value, char **to)
{
    if (value == NULL || value[0] == '\0')
        return true;
    *to = hf__strdup(value);
    return *to != NULL;
}

static bool take_param(const hf__url *url, const char *name, char **to)
{
    return copy_param(hf__url_param_get(url, name), to);
}

/* "sentinel_password_file", unless there is a password. */
static hf_status take_password_file(hf__sentinel_url *place, const hf__url *url,
                                    hf_error *err)
{
    static const char name[] = "sentinel_password_file";
    hf__redis_account *watchers = &place->watchers;
    char text[HF__SECRET_SIZE];
    hf_status status;

    if (hf__url_param_get(url, name) == NULL)
        return HF_OK;
    if (watchers->password != NULL)
        return hf__fail(err, HF_INVALID,
                        "%s and sentinel_password exclude each other", name);
    status = hf__secret_read(name, hf__url_param_get(url, name), text, err);
    if (status == HF_OK && (!take_param(url, name, &watchers->password_file) ||
                            (watchers->password = hf__strdup(text)) == NULL))
        status = hf__fail(err, HF_NO_MEMORY, "out of memory");
    explicit_bzero(text, sizeof(text));
    return status;
}

/* The sentinels' account comes from parameters and is independent of the
 * master's; TLS verification is the same. */
static hf_status take_watchers(hf__sentinel_url *place, const hf__url *url,
                               hf_error *err)
{
    hf__redis_account *watchers = &place->watchers;
    hf_status status;

    if (!copy_param(place->account.client_name, &watchers->client_name) ||
        !take_param(url, "sentinel_username", &watchers->username) ||
        !take_param(url, "sentinel_password", &watchers->password))
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    status = take_password_file(place, url, err);
    if (status != HF_OK)
        return status;
    if (watchers->username != NULL && watchers->password == NULL)
        return hf__fail(err, HF_INVALID,
                        "sentinel_username without sentinel_password");
    watchers->tls = place->account.tls;
    return HF_OK;
}

hf_status hf__sentinel_url_init(hf__sentinel_url *place,
                                const hf__store_config *config, hf_error *err)
{
    hf_status status;

    memset(place, 0, sizeof(*place));
    status = check_params(config->url, err);
    if (status == HF_OK)
        status = hf__redis_account_init(&place->account, config, err);
    if (status != HF_OK)
        return status;
    place->account.master_only = true;
    status = take_path(place, config->url, err);
    if (status == HF_OK)
        status = take_hosts(place, config->url, err);
    if (status == HF_OK)
        status = take_watchers(place, config->url, err);
    if (status != HF_OK)
        hf__sentinel_url_done(place);
    return status;
}

void hf__sentinel_url_done(hf__sentinel_url *place)
{
    size_t at;

    for (at = 0; at < place->count; at++)
        hf__redis_where_done(&place->sentinels[at]);
    hf__free(place->name);
    place->watchers.tls = NULL;
    hf__redis_account_done(&place->watchers);
    hf__redis_account_done(&place->account);
    memset(place, 0, sizeof(*place));
}
