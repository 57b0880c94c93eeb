/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.c - from a parsed URL and resolved credentials to a server's address.
 * No sockets here; names are resolved in resolve.c.
 */
#include "store/redis/wire/address.h"

#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "store/tls/tls.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/url.h"

#define PORT_DEFAULT 6379

/* Redis numbers databases with a C int. */
#define DB_MAX INT32_MAX

/* Keeps CLIENT LIST readable. */
#define CLIENT_NAME_MAX 64

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text);
    size_t end_size = strlen(end);

    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

static hf_status copy_text(char **to, const char *from, hf_error *err)
{
    if (from == NULL)
        return HF_OK;
    *to = hf__strdup(from);
    if (*to == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    return HF_OK;
}

/* CLIENT SETNAME accepts only printable characters without blanks. */
static hf_status take_client_name(hf__redis_account *account,
                                  const hf__store_config *config, hf_error *err)
{
    const char *name = config->client_name;
    size_t size = 0;

    if (name == NULL)
        name = hf__url_param_get(config->url, "client_name");
    if (name == NULL)
        return HF_OK;
    while (name[size] > ' ' && name[size] <= '~')
        size++;
    if (size == 0 || size > CLIENT_NAME_MAX || name[size] != '\0')
        return hf__fail(err, HF_INVALID,
                        "client_name must be 1 to %d bytes of printable ASCII "
                        "without blanks",
                        CLIENT_NAME_MAX);
    return copy_text(&account->client_name, name, err);
}

/* Never fall back to no encryption when it was requested. */
static hf_status take_tls(hf__redis_account *account,
                          const hf__store_config *config, hf_error *err)
{
    if (hf__tls_is_wanted(config->url))
        return hf__tls_new(config->url, config->tls, &account->tls, err);
    if (config->tls == NULL || ends_with(config->url->scheme, "+unix"))
        return HF_OK;
    return hf__fail(err, HF_INVALID,
                    "options for TLS were given, but a %s: URL is plain",
                    config->url->scheme);
}

/* An empty user or password is the same as none: "redis://:secret@host". */
hf_status hf__redis_account_init(hf__redis_account *account,
                                 const hf__store_config *config, hf_error *err)
{
    const char *username = config->username;
    const char *password = config->password;
    hf_status status;

    memset(account, 0, sizeof(*account));
    if (username != NULL && username[0] == '\0')
        username = NULL;
    if (password != NULL && password[0] == '\0')
        password = NULL;
    if (username != NULL && password == NULL)
        return hf__fail(err, HF_INVALID, "a user name without a password");
    status = copy_text(&account->username, username, err);
    if (status == HF_OK)
        status = copy_text(&account->password, password, err);
    if (status == HF_OK)
        status =
            copy_text(&account->password_file,
                      hf__url_param_get(config->url, "password_file"), err);
    if (status == HF_OK)
        status = take_client_name(account, config, err);
    if (status == HF_OK)
        status = take_tls(account, config, err);
    if (status != HF_OK)
        hf__redis_account_done(account);
    return status;
}

static void wipe_secret(char *secret)
{
    if (secret != NULL)
        explicit_bzero(secret, strlen(secret));
    hf__free(secret);
}

void hf__redis_account_done(hf__redis_account *account)
{
    wipe_secret(account->username);
    wipe_secret(account->password);
    hf__free(account->password_file);
    hf__free(account->client_name);
    hf__tls_free(account->tls);
    memset(account, 0, sizeof(*account));
}

hf_status hf__redis_where_init(hf__redis_where *where, const char *host,
                               int port, hf_error *err)
{
    char text[HF__WHERE_SIZE];
    hf_status status;

    memset(where, 0, sizeof(*where));
    if (strlen(host) >= HF__HOST_SIZE)
        return hf__fail(err, HF_INVALID, "the host is longer than %d bytes",
                        HF__HOST_SIZE - 1);
    snprintf(text, sizeof(text),
             strchr(host, ':') != NULL ? "[%s]:%d" : "%s:%d", host, port);
    where->port = port;
    status = copy_text(&where->host, host, err);
    if (status == HF_OK)
        status = copy_text(&where->text, text, err);
    if (status != HF_OK)
        hf__redis_where_done(where);
    return status;
}

bool hf__redis_word_read(hf_bytes text, char *word, size_t size)
{
    const char *from = text.data;

    if (text.size == 0 || text.size >= size)
        return false;
    for (size_t at = 0; at < text.size; at++) {
        if (from[at] <= ' ' || from[at] > '~')
            return false;
    }
    memcpy(word, from, text.size);
    word[text.size] = '\0';
    return true;
}

bool hf__redis_host_read(hf_bytes text, char host[HF__HOST_SIZE])
{
    const char *from = text.data;

    if (text.size > 2 && from[0] == '[' && from[text.size - 1] == ']')
        text = hf_view(from + 1, text.size - 2);
    return hf__redis_word_read(text, host, HF__HOST_SIZE);
}

static hf_status init_path(hf__redis_where *where, const char *path,
                           hf_error *err)
{
    hf_status status = copy_text(&where->path, path, err);

    if (status == HF_OK)
        status = copy_text(&where->text, path, err);
    if (status != HF_OK)
        hf__redis_where_done(where);
    return status;
}

void hf__redis_where_done(hf__redis_where *where)
{
    hf__free(where->host);
    hf__free(where->path);
    hf__free(where->text);
    memset(where, 0, sizeof(*where));
}

static hf_status init_unix(hf__redis_where *where, const hf__url *url,
                           int64_t *db, hf_error *err)
{
    static const char *const known[] = {"db", HF__ACCOUNT_PARAMS, NULL};
    const char *number = hf__url_param_get(url, "db");
    size_t path_max = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;
    hf_status status = hf__url_check_params(url, known, err);

    if (status != HF_OK)
        return status;
    if ((url->host != NULL && url->host[0] != '\0') || url->port != 0)
        return hf__fail(err, HF_INVALID,
                        "a %s: URL has no host: write %s:///path/of/socket",
                        url->scheme, url->scheme);
    if (url->path[0] != '/' || url->path[1] == '\0')
        return hf__fail(err, HF_INVALID,
                        "the URL has no absolute path of a socket");
    if (strlen(url->path) > path_max)
        return hf__fail(err, HF_INVALID,
                        "the socket's path is longer than %zu bytes", path_max);
    if (number != NULL)
        status = hf__parse_int(number, 0, DB_MAX, "db", db, err);
    if (status == HF_OK)
        status = init_path(where, url->path, err);
    return status;
}

static hf_status init_tcp(hf__redis_where *where, const hf__url *url,
                          int64_t *db, hf_error *err)
{
    static const char *const plain[] = {HF__ACCOUNT_PARAMS, NULL};
    static const char *const secure[] = {HF__ACCOUNT_PARAMS, HF__TLS_PARAMS,
                                         NULL};
    hf_status status;

    if (url->host == NULL || url->host[0] == '\0')
        return hf__fail(err, HF_INVALID, "the URL has no host");
    if (strchr(url->host, ',') != NULL)
        return hf__fail(err, HF_INVALID, "a %s: URL names one host, not a list",
                        url->scheme);
    status =
        hf__url_check_params(url, hf__tls_is_wanted(url) ? secure : plain, err);
    if (status == HF_OK && url->path[0] == '/' && url->path[1] != '\0')
        status = hf__parse_int(url->path + 1, 0, DB_MAX,
                               "database in the URL's path", db, err);
    if (status == HF_OK)
        status = hf__redis_where_init(
            where, url->host, url->port != 0 ? url->port : PORT_DEFAULT, err);
    return status;
}

hf_status hf__redis_address_init(hf__redis_address *address,
                                 const hf__store_config *config, hf_error *err)
{
    int64_t db = 0;
    hf_status status;

    memset(address, 0, sizeof(*address));
    if (ends_with(config->url->scheme, "+unix"))
        status = init_unix(&address->where, config->url, &db, err);
    else
        status = init_tcp(&address->where, config->url, &db, err);
    if (status == HF_OK)
        status = hf__redis_account_init(&address->account, config, err);
    if (status == HF_OK)
        address->account.db = db;
    if (status != HF_OK)
        hf__redis_address_done(address);
    return status;
}

void hf__redis_address_done(hf__redis_address *address)
{
    hf__redis_where_done(&address->where);
    hf__redis_account_done(&address->account);
}
