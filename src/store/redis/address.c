/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.c - from a parsed URL and resolved credentials to a server's
 * address. Knows no socket; names are resolved in resolve.c.
 */
#include "store/redis/address.h"

#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "util/error.h"
#include "util/mem.h"
#include "util/url.h"

#define PORT_DEFAULT 6379

/* Redis numbers databases with a C int. */
#define DB_MAX INT32_MAX

/* A host name has at most 253 bytes (RFC 1035); a bracketed IPv6 address with
 * a zone is shorter. */
#define HOST_MAX 255
#define TEXT_SIZE (HOST_MAX + 16)

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text);
    size_t end_size = strlen(end);

    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

static hf_status copy(char **to, const char *from, hf_error *err)
{
    if (from == NULL)
        return HF_OK;
    *to = hf__strdup(from);
    if (*to == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    return HF_OK;
}

/* An empty user or password counts as none: "redis://:secret@host". */
static hf_status copy_credentials(hf__redis_address *address,
                                  const hf__store_config *config, hf_error *err)
{
    const char *username = config->username;
    const char *password = config->password;
    hf_status status;

    if (username != NULL && username[0] == '\0')
        username = NULL;
    if (password != NULL && password[0] == '\0')
        password = NULL;
    if (username != NULL && password == NULL)
        return hf__fail(err, HF_INVALID, "a user name without a password");
    status = copy(&address->username, username, err);
    if (status == HF_OK)
        status = copy(&address->password, password, err);
    return status;
}

static hf_status init_unix(hf__redis_address *address, const hf__url *url,
                           hf_error *err)
{
    static const char *const known[] = {"db", NULL};
    const char *db = hf__url_param_get(url, "db");
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
                        "the URL lacks the socket's absolute path");
    if (strlen(url->path) > path_max)
        return hf__fail(err, HF_INVALID,
                        "the socket's path is longer than %zu bytes", path_max);
    if (db != NULL)
        status = hf__parse_int(db, 0, DB_MAX, "db", &address->db, err);
    if (status == HF_OK)
        status = copy(&address->path, url->path, err);
    if (status == HF_OK)
        status = copy(&address->text, url->path, err);
    return status;
}

static hf_status check_tcp(const hf__url *url, hf_error *err)
{
    static const char *const known[] = {NULL};

    if (url->host == NULL || url->host[0] == '\0')
        return hf__fail(err, HF_INVALID, "the URL lacks a host");
    if (strlen(url->host) > HOST_MAX)
        return hf__fail(err, HF_INVALID, "the host is longer than %d bytes",
                        HOST_MAX);
    if (strchr(url->host, ',') != NULL)
        return hf__fail(err, HF_INVALID, "a %s: URL names one host, not a list",
                        url->scheme);
    return hf__url_check_params(url, known, err);
}

static hf_status init_tcp(hf__redis_address *address, const hf__url *url,
                          hf_error *err)
{
    char text[TEXT_SIZE];
    hf_status status = check_tcp(url, err);

    if (status == HF_OK && url->path[0] == '/' && url->path[1] != '\0')
        status = hf__parse_int(url->path + 1, 0, DB_MAX,
                               "database in the URL's path", &address->db, err);
    if (status != HF_OK)
        return status;
    address->port = url->port != 0 ? url->port : PORT_DEFAULT;
    if (strchr(url->host, ':') != NULL)
        snprintf(text, sizeof(text), "[%s]:%d", url->host, address->port);
    else
        snprintf(text, sizeof(text), "%s:%d", url->host, address->port);
    status = copy(&address->host, url->host, err);
    if (status == HF_OK)
        status = copy(&address->text, text, err);
    return status;
}

hf_status hf__redis_address_init(hf__redis_address *address,
                                 const hf__store_config *config, hf_error *err)
{
    hf_status status;

    memset(address, 0, sizeof(*address));
    if (ends_with(config->url->scheme, "+unix"))
        status = init_unix(address, config->url, err);
    else
        status = init_tcp(address, config->url, err);
    if (status == HF_OK)
        status = copy_credentials(address, config, err);
    if (status != HF_OK)
        hf__redis_address_done(address);
    return status;
}

static void wipe(char *secret)
{
    if (secret != NULL)
        explicit_bzero(secret, strlen(secret));
    hf__free(secret);
}

void hf__redis_address_done(hf__redis_address *address)
{
    wipe(address->username);
    wipe(address->password);
    hf__free(address->host);
    hf__free(address->path);
    hf__free(address->text);
    memset(address, 0, sizeof(*address));
}
