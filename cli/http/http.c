/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.c - see http.h: starting, stopping, and which request gets what.
 *
 * A connection has one request, so that its time can be limited as a whole.
 */
#include "http/http.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"
#include "http/answer.h"
#include "http/conns.h"
#include "http/event_stream.h"
#include "http/guard.h"
#include "http/jobs.h"
#include "http/listen.h"
#include "http/metrics.h"
#include "http/page.h"
#include "http/sampler.h"

#define WHAT "serve --http"

/* For the header of a request, and what is sent at once. A lock's name of 10
 * KiB, each byte as %XX, fits. */
#define CONNECTION_MEMORY 65536

/* For a client to send a body and take an answer. */
#define ANSWER_MS 30000

/* Of a body: a key's name and two values of 4 KiB, each byte as %XX, fit. */
#define BODY_MAX 65536

struct http {
    struct http_source source;
    bool needs_token;
    char token[HTTP_TOKEN_MAX + 1];
    struct http_listener listener;
    struct http_conns conns;
    struct http_sampler *sampler;
    struct http_jobs *jobs;
    struct http_streams streams;
    struct MHD_Daemon *daemon;
};

/* A request from its header until its answer was sent. */
struct request {
    struct http_waiter waiter;
    bool waited;
    char *body;   /* what has come of it, and a NUL; NULL: nothing */
    bool unclear; /* an argument is there twice, or the body has a NUL */
    size_t body_size;
};

struct route {
    const char *path;
    bool is_public; /* has no data of the store */
    bool writes;
    enum MHD_Result (*run)(struct http *http, struct MHD_Connection *connection,
                           struct request *request);
};

/* ------------------------------------------------------------------ answers */

static enum MHD_Result run_page(struct http *http,
                                struct MHD_Connection *connection,
                                struct request *request)
{
    (void)http;
    (void)request;
    return http_answer(
        connection, MHD_HTTP_OK, "text/html; charset=utf-8",
        MHD_create_response_from_buffer(page_size, (void *)(uintptr_t)page_text,
                                        MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result no_view(struct MHD_Connection *connection)
{
    return http_answer_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                            "cannot read the locks now\n");
}

static void drop_view(void *view)
{
    http_view_drop(view);
}

/* true: the request waits for a view. */
static bool waits_for_view(struct http *http, struct request *request)
{
    if (request->waited)
        return false;
    request->waited = !http_sampler_view(http->sampler, &request->waiter, NULL);
    return request->waited;
}

static enum MHD_Result run_locks(struct http *http,
                                 struct MHD_Connection *connection,
                                 struct request *request)
{
    struct http_view *view;
    hf_bytes json;

    if (waits_for_view(http, request))
        return MHD_YES;
    view = request->waiter.view;
    if (view == NULL)
        return no_view(connection);
    json = http_view_json(view);
    return http_answer(connection, MHD_HTTP_OK, "application/json",
                       MHD_create_response_from_buffer_with_free_callback_cls(
                           json.size, (void *)(uintptr_t)json.data, drop_view,
                           http_view_use(view)));
}

static enum MHD_Result run_history(struct http *http,
                                   struct MHD_Connection *connection,
                                   struct request *request)
{
    char *text;
    size_t size;

    (void)request;
    if (!http_history_text(&http->source.history, &text, &size))
        return MHD_NO;
    return http_answer(
        connection, MHD_HTTP_OK, "application/json",
        MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE));
}

static enum MHD_Result run_metrics(struct http *http,
                                   struct MHD_Connection *connection,
                                   struct request *request)
{
    char *text = NULL;
    size_t size;

    if (waits_for_view(http, request))
        return MHD_YES;
    if (request->waiter.view == NULL ||
        !http_metrics(request->waiter.view, &text, &size))
        return no_view(connection);
    return http_answer(
        connection, MHD_HTTP_OK,
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
        MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE));
}

static enum MHD_Result run_events(struct http *http,
                                  struct MHD_Connection *connection,
                                  struct request *request)
{
    (void)request;
    return http_events(&http->streams, connection);
}

static enum MHD_Result answer_break(struct MHD_Connection *connection,
                                    const struct http_waiter *waiter)
{
    switch (waiter->status) {
    case HF_OK:
        complain(WHAT, "lock \"%.*s\" was broken", (int)waiter->words[0].size,
                 (const char *)waiter->words[0].data);
        return http_answer_text(connection, MHD_HTTP_OK, "broken\n");
    case HF_NOT_FOUND:
        return http_answer_text(connection, MHD_HTTP_NOT_FOUND,
                                "the lock is not held\n");
    case HF_CONFLICT:
        return http_answer_text(connection, MHD_HTTP_CONFLICT,
                                "another owner holds it now\n");
    case HF_WRONG_TYPE:
        return http_answer_text(connection, MHD_HTTP_CONFLICT,
                                "the key holds something that is not a lock\n");
    default:
        return http_answer_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                                "cannot break the lock now\n");
    }
}

/* Into memory of the request. The argument is then given, even if it is empty;
 * false: out of memory. */
static bool set_argument(hf_bytes *argument, const char *data, size_t size)
{
    char *memory = malloc(size + 1);

    if (memory == NULL)
        return false;
    if (size > 0)
        memcpy(memory, data, size);
    *argument = hf_view(memory, size);
    return true;
}

/* An argument of the URL. */
static bool copy_argument(struct MHD_Connection *connection, const char *name,
                          hf_bytes *copy)
{
    const char *value = NULL;
    size_t size = 0;

    (void)!MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND,
                                         name, strlen(name), &value, &size);
    return value == NULL || set_argument(copy, value, size);
}

static const char *request_header(struct MHD_Connection *connection,
                                  const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result begin_body(struct MHD_Connection *connection)
{
    static const char form[] = "application/x-www-form-urlencoded";
    const char *type = request_header(connection, "Content-Type");
    size_t size = sizeof(form) - 1;

    if (type != NULL && strncasecmp(type, form, size) == 0 &&
        strchr("; \t", type[size]) != NULL)
        return MHD_YES;
    return http_answer_text(connection, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
                            "the arguments must be in the body, as "
                            "application/x-www-form-urlencoded\n");
}

/* It comes in parts, which may end anywhere. */
static enum MHD_Result take_body(struct request *request, const char *data,
                                 size_t *size)
{
    size_t before = request->body_size;
    char *body;

    request->body_size += *size;
    if (request->body_size <= BODY_MAX) {
        body = realloc(request->body, request->body_size + 1);
        if (body == NULL)
            return MHD_NO;
        memcpy(body + before, data, *size);
        body[request->body_size] = '\0';
        request->body = body;
    }
    *size = 0;
    return MHD_YES;
}

/* Decode a part of a body in place; its size. */
static size_t decode_part(char *text)
{
    for (char *plus = text; (plus = strchr(plus, '+')) != NULL;)
        *plus = ' ';
    return MHD_http_unescape(text);
}

/* false: out of memory. */
static bool read_field(struct request *request, char *field)
{
    char *value = strchr(field, '=');
    size_t size = 0;
    int i;

    if (value != NULL) {
        *value++ = '\0';
        size = decode_part(value);
    }
    (void)decode_part(field);
    i = http_query_word(request->waiter.query, field);
    if (i < 0)
        return true;
    if (request->waiter.words[i].data != NULL) {
        request->unclear = true;
        return true;
    }
    return set_argument(&request->waiter.words[i], value, size);
}

/* When all of it has come. false: out of memory. */
static bool read_body(struct request *request)
{
    char *rest = request->body;
    bool done = true;

    request->unclear =
        rest != NULL && memchr(rest, 0, request->body_size) != NULL;
    while (done && rest != NULL)
        done = read_field(request, strsep(&rest, "&"));
    return done;
}

static enum MHD_Result run_break(struct http *http,
                                 struct MHD_Connection *connection,
                                 struct request *request)
{
    struct http_waiter *waiter = &request->waiter;

    if (request->waited)
        return answer_break(connection, waiter);
    if (!copy_argument(connection, "name", &waiter->words[0]) ||
        !copy_argument(connection, "owner", &waiter->words[1]))
        return MHD_NO;
    if (waiter->words[0].size == 0)
        return http_answer_text(connection, MHD_HTTP_BAD_REQUEST,
                                "?name= is missing\n");
    request->waited = !http_jobs_run(http->jobs, waiter);
    return request->waited ? MHD_YES : answer_break(connection, waiter);
}

static enum MHD_Result answer_query(struct MHD_Connection *connection,
                                    struct http_waiter *waiter)
{
    char *text = waiter->text;

    if (text == NULL)
        return http_answer_text(
            connection, MHD_HTTP_SERVICE_UNAVAILABLE,
            waiter->query->writes && waiter->code == 0
                ? "the server is too busy; nothing was changed\n"
                : "cannot read the server now\n");
    waiter->text = NULL;
    return http_answer(connection, waiter->code, "application/json",
                       MHD_create_response_from_buffer(waiter->size, text,
                                                       MHD_RESPMEM_MUST_FREE));
}

static bool read_arguments(struct MHD_Connection *connection,
                           struct request *request)
{
    const struct http_query *query = request->waiter.query;
    bool done = read_body(request);

    for (int i = 0; !query->writes && i < HTTP_QUERY_WORDS; i++)
        done = done && (query->names[i] == NULL ||
                        copy_argument(connection, query->names[i],
                                      &request->waiter.words[i]));
    return done;
}

static enum MHD_Result answer_missing(struct MHD_Connection *connection,
                                      const char *name)
{
    char text[64];

    (void)snprintf(text, sizeof(text), "%s is missing\n", name);
    return http_answer_text(connection, MHD_HTTP_BAD_REQUEST, text);
}

static enum MHD_Result run_query(struct http *http,
                                 struct MHD_Connection *connection,
                                 struct request *request)
{
    struct http_waiter *waiter = &request->waiter;
    const struct http_query *query = waiter->query;

    if (request->waited)
        return answer_query(connection, waiter);
    if (!http->source.is_readable)
        return http_answer_text(connection, MHD_HTTP_FORBIDDEN,
                                "needs --http-token-file: without a token this "
                                "is shown only if the server has a TCP address "
                                "without TLS\n");
    if (request->body_size > BODY_MAX)
        return http_answer_text(connection, MHD_HTTP_CONTENT_TOO_LARGE,
                                "the body is too large\n");
    if (!read_arguments(connection, request))
        return MHD_NO;
    if (request->unclear)
        return http_answer_text(connection, MHD_HTTP_BAD_REQUEST,
                                "an argument is there twice, or the body has "
                                "a NUL\n");
    for (int i = 0; i < query->needed; i++) {
        if (waiter->words[i].data == NULL)
            return answer_missing(connection, query->names[i]);
    }
    request->waited = !http_jobs_run(http->jobs, waiter);
    return request->waited ? MHD_YES : answer_query(connection, waiter);
}

/* ----------------------------------------------------------------- requests */

static const struct route routes[] = {
    {"/", true, false, run_page},
    {"/events", false, false, run_events},
    {"/locks", false, false, run_locks},
    {"/history", false, false, run_history},
    {"/metrics", false, false, run_metrics},
    {"/break", false, true, run_break},
};

/* Of a query that reads, and of one that writes. */
static const struct route query_routes[] = {{NULL, false, false, run_query},
                                            {NULL, false, true, run_query}};

static const struct route *find_route(const struct http *http, const char *path)
{
    const struct http_query *query = http_query_find(path);

    if (query != NULL && (!query->writes || http->source.allow_edit))
        return &query_routes[query->writes];
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        if (strcmp(routes[i].path, path) == 0 &&
            (!routes[i].writes || http->source.allow_break))
            return &routes[i];
    }
    return NULL;
}

static bool method_fits(const struct route *route, const char *method)
{
    if (route != NULL && route->writes)
        return strcmp(method, MHD_HTTP_METHOD_POST) == 0;
    return strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
           strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
}

static enum MHD_Result count_host(void *count, enum MHD_ValueKind kind,
                                  const char *name, const char *value)
{
    (void)kind;
    (void)value;
    *(int *)count += strcasecmp(name, "Host") == 0;
    return MHD_YES;
}

/* A proxy before us may believe another one than we (RFC 9112). */
static bool has_two_hosts(struct MHD_Connection *connection)
{
    int count = 0;

    MHD_get_connection_values(connection, MHD_HEADER_KIND, count_host, &count);
    return count > 1;
}

/* Answer a request that gets nothing else; MHD_NO: there is no reason. */
static enum MHD_Result refuse_request(const struct http *http,
                                      struct MHD_Connection *connection,
                                      const struct route *route,
                                      const char *method)
{
    if (has_two_hosts(connection))
        return http_answer_text(connection, MHD_HTTP_BAD_REQUEST,
                                "more than one Host\n");
    if (!method_fits(route, method))
        return http_answer_method(connection, route != NULL && route->writes);
    if (http->needs_token) {
        if ((route == NULL || !route->is_public) &&
            !http_token_given(request_header(connection, "Authorization"),
                              http->token))
            return http_answer_unauthorized(connection);
    } else if (!http_host_is_local(request_header(connection, "Host"))) {
        return http_answer_text(connection, MHD_HTTP_MISDIRECTED_REQUEST,
                                "the host must be localhost or its address\n");
    }
    if (route == NULL)
        return http_answer_text(connection, MHD_HTTP_NOT_FOUND, "not found\n");
    if (!route->is_public &&
        http_site_is_other(request_header(connection, "Sec-Fetch-Site")))
        return http_answer_text(connection, MHD_HTTP_FORBIDDEN,
                                "not for other sites\n");
    return MHD_NO;
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *connection,
                                  const char *path, const char *method,
                                  const char *version, const char *upload,
                                  size_t *upload_size, void **context)
{
    struct http *http = user;
    struct request *request = *context;
    const struct route *route = find_route(http, path);

    (void)version;
    if (request != NULL && *upload_size > 0)
        return take_body(request, upload, upload_size);
    http_conns_limit(&http->conns, connection, ANSWER_MS);
    if (request == NULL) {
        if (refuse_request(http, connection, route, method) == MHD_YES)
            return MHD_YES;
        request = calloc(1, sizeof(*request));
        if (request == NULL)
            return MHD_NO;
        request->waiter.connection = connection;
        request->waiter.query = http_query_find(path);
        *context = request;
        if (request->waiter.query != NULL && route->writes)
            return begin_body(connection);
    }
    return route->run(http, connection, request);
}

static void on_completed(void *user, struct MHD_Connection *connection,
                         void **context, enum MHD_RequestTerminationCode code)
{
    struct request *request = *context;

    (void)user;
    (void)connection;
    (void)code;
    if (request == NULL)
        return;
    http_view_drop(request->waiter.view);
    free(request->body);
    for (int i = 0; i < HTTP_QUERY_WORDS; i++)
        free((void *)(uintptr_t)request->waiter.words[i].data);
    free(request->waiter.text);
    free(request);
    *context = NULL;
}

static void on_connection(void *user, struct MHD_Connection *connection,
                          void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http *http = user;

    http_conns_notify(&http->conns, connection, context, code);
    if (code == MHD_CONNECTION_NOTIFY_STARTED && http->conns.count == 1)
        http_sampler_wake(http->sampler);
}

/* ----------------------------------------------------------- start and stop */

/* Read the token and listen. */
static int check_options(const struct http_options *options, struct http *http)
{
    int code = EXIT_YES;

    http->needs_token = options->token_file != NULL;
    if (options->allow_break && !http->needs_token) {
        complain(WHAT, "--allow-%s needs --http-token-file",
                 options->allow_edit ? "edit" : "break");
        return EXIT_USAGE;
    }
    if (http->needs_token)
        code = http_token_read(options->token_file, http->token);
    if (code == EXIT_YES)
        code = http_listen(options->address, &http->listener);
    if (code != EXIT_YES || http->needs_token || http->listener.loopback)
        return code;
    complain(WHAT,
             "%s: without --http-token-file the address must be one of this "
             "machine alone, such as 127.0.0.1",
             options->address);
    return EXIT_USAGE;
}

static bool start_daemon(struct http *http)
{
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
        on_request, http, MHD_OPTION_LISTEN_SOCKET, http->listener.fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNS_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)ANSWER_MS / 1000,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_END);
    if (http->daemon == NULL)
        complain(WHAT, "cannot start libmicrohttpd");
    return http->daemon != NULL;
}

static int start_http(struct http *http)
{
    http->sampler = http_sampler_start(&http->source, &http->conns);
    if (http->sampler == NULL)
        return EXIT_SYSTEM;
    http->jobs = http_jobs_start(&http->source, http->sampler);
    if (http->jobs == NULL)
        goto no_jobs;
    http->streams.sampler = http->sampler;
    http->streams.conns = &http->conns;
    if (start_daemon(http))
        return EXIT_YES;
    http_jobs_stop(http->jobs);
    http_jobs_free(http->jobs);
no_jobs:
    http_sampler_stop(http->sampler);
    http_sampler_free(http->sampler);
    return EXIT_SYSTEM;
}

static void free_http(struct http *http)
{
    http_conns_done(&http->conns);
    http_source_done(&http->source);
    explicit_bzero(http->token, sizeof(http->token));
    free(http);
}

/* Locks of all prefixes. */
static int open_source(const struct http_options *options, hf_server *server,
                       struct http *http)
{
    struct http_own *own = &http->source.own;
    hf_client_options client_options = HF_CLIENT_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    hf_status status;

    client_options.prefix = "";
    status = hf_client_open(options->store, &client_options, &client, &err);
    if (status != HF_OK)
        return complain_status(WHAT, status, &err);
    http_source_init(&http->source, client, server);
    http->source.allow_break = options->allow_break;
    http->source.allow_edit = options->allow_edit;
    http->source.is_readable = http->needs_token || http_own_is_public(server);
    own->token = http->needs_token ? http->token : NULL;
    own->password_file = options->password_file;
    return EXIT_YES;
}

int http_start(const struct http_options *options, hf_server *server,
               struct http **started)
{
    struct http *http = calloc(1, sizeof(*http));
    sigset_t all, before;
    int code;

    if (http == NULL) {
        complain(WHAT, "out of memory");
        return EXIT_SYSTEM;
    }
    http_conns_init(&http->conns);
    http->listener.fd = -1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = check_options(options, http);
    if (code == EXIT_YES)
        code = open_source(options, server, http);
    if (code == EXIT_YES)
        code = start_http(http);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code == EXIT_YES) {
        *started = http;
        return code;
    }
    if (http->listener.fd >= 0)
        close(http->listener.fd);
    free_http(http);
    return code;
}

const char *http_url(const struct http *http)
{
    return http->listener.url;
}

void http_stop(struct http *http)
{
    if (http == NULL)
        return;
    http_jobs_stop(http->jobs);
    http_sampler_stop(http->sampler);
    MHD_stop_daemon(http->daemon); /* closes the listening socket */
    http_jobs_free(http->jobs);
    http_sampler_free(http->sampler);
    free_http(http);
}
