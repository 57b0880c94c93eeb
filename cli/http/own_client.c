/* SPDX-License-Identifier: Apache-2.0 */
/* own_client.c - see own_client.h. */
#include "http/own_client.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lease_clock.h"

/* Of a path with its folder. */
#define PATH_SIZE 1024

/* A path, each byte of it as %XX, and what is around it; and the database. */
#define URL_SIZE (3 * PATH_SIZE + 64)
#define DATABASE_SIZE 16

/* For the server to reply, ms; until a connection is tried again; and until one
 * is that was refused: each refusal is in ACL LOG. */
#define REPLY_MS 5000
#define RETRY_MS 2000
#define REFUSED_MS 60000

static void url_of_path(const char *path, char url[URL_SIZE])
{
    int put = snprintf(url, URL_SIZE, "redis+unix://");

    for (; *path != '\0' && (size_t)put + 4 < URL_SIZE; path++)
        put += snprintf(url + put, URL_SIZE - (size_t)put,
                        *path == '/' ? "/" : "%%%02X", (unsigned char)*path);
}

/* An address that listens on all of them is reached by the loopback one. */
static void url_of_host(const char *address, char url[URL_SIZE])
{
    const char *port = strrchr(address, ':');
    int size = port == NULL ? 0 : (int)(port - address);

    if (size == 0 || strncmp(address, "0.0.0.0:", 8) == 0 ||
        strncmp(address, "*:", 2) == 0)
        (void)snprintf(url, URL_SIZE, "redis://127.0.0.1%s",
                       port == NULL ? "" : port);
    else if (strncmp(address, "[::]:", 5) == 0)
        (void)snprintf(url, URL_SIZE, "redis://[::1]%s", port);
    else
        (void)snprintf(url, URL_SIZE, "redis://%s", address);
}

/* false: it needs TLS, or there is no path to it. */
static bool url_of(const char *address, char url[URL_SIZE])
{
    char path[PATH_SIZE], folder[PATH_SIZE];

    if (strncmp(address, "tls:", 4) == 0)
        return false;
    if (strncmp(address, "unix:", 5) != 0) {
        url_of_host(address, url);
        return true;
    }
    address += 5;
    if (getcwd(folder, sizeof(folder)) == NULL ||
        snprintf(path, sizeof(path), "%s%s%.*s",
                 address[0] == '/' ? "" : folder, address[0] == '/' ? "" : "/",
                 (int)strcspn(address, "?"), address) >= PATH_SIZE)
        return false;
    url_of_path(path, url);
    return true;
}

static bool is_path(const char *url)
{
    return strncmp(url, "redis+unix:", 11) == 0;
}

bool http_own_is_public(const hf_server *server)
{
    char url[URL_SIZE];
    const char *address;

    for (size_t i = 0; (address = hf_server_address(server, i)) != NULL; i++) {
        if (url_of(address, url) && !is_path(url))
            return true;
    }
    return false;
}

/* A path is preferred. */
static bool find_url(const hf_server *server, char url[URL_SIZE])
{
    char one[URL_SIZE];
    const char *address;
    bool found = false;

    for (size_t i = 0; (address = hf_server_address(server, i)) != NULL; i++) {
        if (!url_of(address, one) || (found && !is_path(one)))
            continue;
        memcpy(url, one, URL_SIZE);
        found = true;
        if (is_path(url))
            break;
    }
    return found;
}

static void log_in(const struct http_own *own, hf_client_options *options)
{
    options->password = ""; /* not that of the environment */
    if (own->token == NULL)
        return;
    if (own->is_page) {
        options->username = "page";
        options->password = own->token;
    } else if (own->password_file != NULL) {
        options->password = NULL;
        options->password_file = own->password_file;
    }
}

/* A refusal does not say that there is no user "page": it may be off, or have
 * another password. */
static void look_at_users(struct http_own *own)
{
    uint64_t changes = own->changes;
    bool found =
        hf_server_find_user(own->server, "page", &changes, NULL) == HF_OK;

    own->is_page = own->token != NULL && found;
    if (own->changes == changes)
        return;
    own->changes = changes;
    own->no_dry_run = false;
    for (int i = 0; i < HTTP_DATABASES; i++)
        own->tried[i].retry_ms = 0;
    http_own_done(own);
}

static hf_status connect_client(const struct http_own *own, int db,
                                hf_client **client, hf_error *err)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    char url[URL_SIZE + DATABASE_SIZE];

    if (!find_url(own->server, url)) {
        (void)snprintf(err->message, sizeof(err->message),
                       "the server has no address without TLS, which the page "
                       "needs to read its keys");
        return HF_UNSUPPORTED;
    }
    (void)snprintf(url + strlen(url), DATABASE_SIZE,
                   is_path(url) ? "?db=%d" : "/%d", db);
    options.prefix = "";
    options.request_ms = REPLY_MS;
    options.client_name = "holdfast-page";
    log_in(own, &options);
    return hf_client_open(url, &options, client, err);
}

/* Where the password was refused it is refused for all. */
static void note_failure(struct http_own *own, int db,
                         const struct http_tried *tried)
{
    bool is_password = tried->status == HF_DENIED &&
                       strncmp(tried->err.message, "NOPERM", 6) != 0;

    for (int i = 0; i < HTTP_DATABASES; i++) {
        if (i == db || is_password)
            own->tried[i] = *tried;
    }
}

static void try_database(struct http_own *own, int db)
{
    struct http_tried tried = {.err = HF_ERROR_INIT};
    hf_client *client;

    tried.status = connect_client(own, db, &client, &tried.err);
    tried.retry_ms =
        now_ms() + (tried.status == HF_DENIED ? REFUSED_MS : RETRY_MS);
    if (tried.status != HF_OK) {
        note_failure(own, db, &tried);
        return;
    }
    http_own_done(own);
    own->client = client;
    own->db = db;
    own->tried[db].retry_ms = 0;
}

hf_status http_own_client(struct http_own *own, int db, hf_client **client,
                          hf_error *err)
{
    look_at_users(own);
    if (db == HTTP_ANY_DATABASE)
        db = own->client == NULL ? 0 : own->db;
    if ((own->client == NULL || own->db != db) &&
        now_ms() >= own->tried[db].retry_ms)
        try_database(own, db);
    if (own->client != NULL && own->db == db) {
        *client = own->client;
        return HF_OK;
    }
    *client = NULL;
    *err = own->tried[db].err;
    return own->tried[db].status;
}

void http_own_done(struct http_own *own)
{
    hf_client_close(own->client);
    own->client = NULL;
}
