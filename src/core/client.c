/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.c - opening and closing a client.
 *
 * Owns the order in which the parts come and go: loop, store, watchdog; the
 * store and the watchdog use the loop's thread, so it goes after them. Then
 * every asynchronous call has completed, and the last are told.
 */
#include "core/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/error.h"
#include "util/fork.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/url.h"

#define REQUEST_MS_DEFAULT 5000
#define CONNECT_MS_DEFAULT 2000
#define WAIT_MS_MAX 3600000
#define SCRIPT_BUDGET_MS_MAX 60000
#define PREFIX_MAX 1024
#define PASSWORD_MAX 4096

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
    if (strlen(prefix) > PREFIX_MAX)
        return hf__fail(err, HF_INVALID,
                        "prefix is %zu bytes; at most %d are allowed",
                        strlen(prefix), PREFIX_MAX);
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
    if (status == HF_OK)
        status =
            check_range(options->request_ms, WAIT_MS_MAX, "request_ms", err);
    if (status == HF_OK)
        status =
            check_range(options->connect_ms, WAIT_MS_MAX, "connect_ms", err);
    if (status == HF_OK)
        status = check_range(options->script_budget_ms, SCRIPT_BUDGET_MS_MAX,
                             "script_budget_ms", err);
    return status;
}

/* The first line of the file that HOLDFAST_PASSWORD_FILE names. */
static hf_status read_password(const char *path, char text[PASSWORD_MAX + 1],
                               hf_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    size_t size = 0;
    ssize_t got;

    if (fd < 0)
        return hf__fail_errno(err, HF_INVALID, errno,
                              "HOLDFAST_PASSWORD_FILE '%s'", path);
    do { /* a pipe gives what it has */
        got = read(fd, text + size, PASSWORD_MAX + 1 - size);
        size += got > 0 ? (size_t)got : 0;
    } while (got > 0 && size <= PASSWORD_MAX);
    if (got < 0) {
        hf__fail_errno(err, HF_INVALID, errno, "HOLDFAST_PASSWORD_FILE '%s'",
                       path);
        close(fd);
        return HF_INVALID;
    }
    close(fd);
    if (size > PASSWORD_MAX)
        return hf__fail(err, HF_INVALID,
                        "HOLDFAST_PASSWORD_FILE '%s' is over %d bytes", path,
                        PASSWORD_MAX);
    text[size] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    return HF_OK;
}

/* Options first, then the URL, then the environment. */
static hf_status find_password(const hf_client_options *options,
                               const hf__url *url, char text[PASSWORD_MAX + 1],
                               const char **password, hf_error *err)
{
    const char *path = getenv("HOLDFAST_PASSWORD_FILE");
    hf_status status;

    if (options->password != NULL) {
        *password = options->password;
    } else if (url->password != NULL) {
        *password = url->password;
    } else if (path != NULL && path[0] != '\0') {
        status = read_password(path, text, err);
        if (status != HF_OK)
            return status;
        *password = text;
    } else {
        *password = getenv("HOLDFAST_PASSWORD");
    }
    return HF_OK;
}

static hf_status open_store(hf_client *client, const hf__url *url,
                            const hf_client_options *options, hf_error *err)
{
    char text[PASSWORD_MAX + 1];
    hf__store_config config = {.url = url,
                               .connect_ms = options->connect_ms,
                               .script_budget_ms = options->script_budget_ms,
                               .loop = client->loop};
    hf_status status = HF_OK;

    if (config.connect_ms == 0)
        config.connect_ms = CONNECT_MS_DEFAULT;
    config.username =
        options->username != NULL ? options->username : url->username;
    if (url->host != NULL || strstr(url->scheme, "+unix") != NULL ||
        strcmp(url->scheme, "redlock") == 0)
        status = find_password(options, url, text, &config.password, err);
    if (status == HF_OK)
        status = hf__store_open(&config, &client->store, err);
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
    client->fork_generation = hf__fork_generation();
    client->prefix = hf__strdup(options->prefix == NULL ? "" : options->prefix);
    client->loop = hf__loop_new();
    if (client->prefix == NULL || client->loop == NULL) {
        hf__loop_free(client->loop);
        hf__free(client->prefix);
        hf__free(client);
        return NULL;
    }
    client->prefix_size = strlen(client->prefix);
    hf__watchdog_init(&client->watchdog, client);
    hf__gates_init(&client->gates);
    hf__dispatch_init(&client->dispatch);
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
    status = open_store(made, &parsed, &options, err);
    hf__url_done(&parsed);
    if (status != HF_OK) {
        hf_client_close(made);
        return status;
    }
    *client = made;
    return HF_OK;
}

void hf_client_close(hf_client *client)
{
    bool forked;

    if (client == NULL)
        return;
    forked = hf__client_check(client, NULL) != HF_OK;
    hf__watchdog_stop(&client->watchdog);
    if (client->store != NULL)
        client->store->ops->close(client->store);
    if (!forked) {
        hf__watchdog_done(&client->watchdog);
        hf__gates_done(&client->gates);
    }
    hf__timers_done(&client->timers);
    hf__loop_free(client->loop);
    if (!forked)
        hf__dispatch_close(&client->dispatch);
    hf__dispatch_done(&client->dispatch);
    hf__free(client->prefix);
    hf__free(client);
}
