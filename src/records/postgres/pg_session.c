/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pg_session.c - see pg_session.h.
 *
 * libpq tries several hosts one after the other, but without a limit of time if
 * it does not block, and otherwise with one of whole seconds for each. So each
 * host is tried here, with its share of the time that is left.
 */
#include "records/postgres/pg_session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "util/clock.h"
#include "util/error.h"

/* Of a question's reply, bytes: its results are short. */
#define ANSWER_MAX (1u << 20)
/* What setup.sql has. */
#define PROTOCOL 1
/* The time is looked at so often, as a suspended machine does not count in
 * poll(). */
#define POLL_MS 1000

int64_t hf__pg_deadline(const hf__pg_account *account)
{
    return hf__clock_boot_ms() + account->connect_ms;
}

/* false: not by the deadline. */
static bool wait_socket(PGconn *conn, short events, int64_t deadline_ms)
{
    struct pollfd fd = {.fd = PQsocket(conn), .events = events};

    for (;;) {
        int64_t left_ms = deadline_ms - hf__clock_boot_ms();
        int ready;

        if (left_ms <= 0)
            return false;
        ready = poll(&fd, 1, left_ms < POLL_MS ? (int)left_ms : POLL_MS);
        /* libpq finds out what is wrong with it. */
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true;
    }
}

/* ------------------------------------------------------------------- login */

/* Where a verbose message has a SQLSTATE, which is not in anyone's language;
 * NULL: nowhere, as it is not of the server. */
static const char *find_state(const char *message)
{
    static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const char *at = strstr(message, ":  ");

    while (at != NULL && (strspn(at + 3, letters) != 5 || at[8] != ':'))
        at = strstr(at + 1, ":  ");
    return at != NULL ? at + 3 : NULL;
}

static hf_status fail_login(const PGconn *conn, hf_error *err)
{
    const char *message = PQerrorMessage(conn);
    const char *state = find_state(message);
    const char *text = state != NULL ? state + 7 : "";
    hf_status status = HF_UNAVAILABLE;

    if (PQconnectionNeedsPassword(conn) != 0 ||
        (state != NULL &&
         (strncmp(state, "28", 2) == 0 || strncmp(state, "42501", 5) == 0)))
        status = HF_DENIED;
    else if (state != NULL && strncmp(state, "3D", 2) == 0)
        status = HF_INVALID;
    if (state == NULL)
        return hf__fail(err, status, "%s", message);
    return hf__fail(err, status, "PostgreSQL: %.*s", (int)strcspn(text, "\n"),
                    text);
}

static hf_status finish_login(PGconn *conn, int64_t deadline_ms, hf_error *err)
{
    PostgresPollingStatusType wants = PGRES_POLLING_WRITING;

    (void)PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
    while (PQstatus(conn) != CONNECTION_BAD && wants != PGRES_POLLING_OK &&
           wants != PGRES_POLLING_FAILED) {
        if (!wait_socket(conn,
                         wants == PGRES_POLLING_READING ? POLLIN : POLLOUT,
                         deadline_ms))
            return hf__fail(err, HF_UNAVAILABLE,
                            "PostgreSQL did not log us in by the deadline");
        wants = PQconnectPoll(conn);
    }
    (void)PQsetErrorVerbosity(conn, PQERRORS_DEFAULT);
    return wants == PGRES_POLLING_OK && PQsetnonblocking(conn, 1) == 0
               ? HF_OK
               : fail_login(conn, err);
}

static void ignore_notice(void *user, const PGresult *result)
{
    (void)user;
    (void)result;
}

/* As the account says, but for these; NULL: no others. */
static hf_status login_host(const hf__pg_account *account, const char *host,
                            const char *port, int64_t deadline_ms,
                            PGconn **conn, hf_error *err)
{
    const char *names[HF__PG_SETTINGS + 1] = {NULL};
    const char *values[HF__PG_SETTINGS + 1] = {NULL};
    PGconn *made;
    hf_status status;

    for (size_t i = 0; i < account->count; i++) {
        names[i] = account->names[i];
        values[i] = account->values[i];
        if (host != NULL && strcmp(names[i], "host") == 0)
            values[i] = host;
        if (port != NULL && strcmp(names[i], "port") == 0)
            values[i] = port;
    }
    made = PQconnectStartParams(names, values, 0);
    if (made == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    PQsetNoticeReceiver(made, ignore_notice, NULL);
    status = finish_login(made, deadline_ms, err);
    if (status == HF_OK)
        *conn = made;
    else
        PQfinish(made);
    return status;
}

/* An entry of a list with commas, which may have a single one for all. */
static const char *entry_of(const char *list, size_t at,
                            char entry[HF__PG_HOST_SIZE])
{
    if (list == NULL)
        return NULL;
    for (; at > 0 && strchr(list, ',') != NULL; at--)
        list = strchr(list, ',') + 1;
    (void)snprintf(entry, HF__PG_HOST_SIZE, "%.*s", (int)strcspn(list, ","),
                   list);
    return entry;
}

static const char *setting_of(const hf__pg_account *account, const char *name)
{
    for (size_t i = 0; i < account->count; i++) {
        if (strcmp(account->names[i], name) == 0)
            return account->values[i];
    }
    return NULL;
}

static size_t count_entries(const char *list)
{
    size_t count = 1;

    for (; list != NULL && *list != '\0'; list++)
        count += *list == ',';
    return count;
}

hf_status hf__pg_connect(const hf__pg_account *account, bool listens,
                         int64_t deadline_ms, PGconn **conn, hf_error *err)
{
    const char *hosts = setting_of(account, "host");
    const char *ports = setting_of(account, "port");
    hf_status status = HF_UNAVAILABLE;
    size_t count;

    if (listens && account->listen_host != NULL)
        return login_host(account, account->listen_host, account->listen_port,
                          deadline_ms, conn, err);
    count = count_entries(hosts);
    for (size_t i = 0; status != HF_OK && i < count; i++) {
        int64_t now_ms = hf__clock_boot_ms();
        int64_t share_ms = (deadline_ms - now_ms) / (int64_t)(count - i);
        char host[HF__PG_HOST_SIZE];
        char port[HF__PG_HOST_SIZE];

        status =
            login_host(account, entry_of(hosts, i, host),
                       entry_of(ports, i, port), now_ms + share_ms, conn, err);
    }
    return status;
}

/* --------------------------------------------------------------- questions */

int hf__pg_dup_socket(const PGconn *conn)
{
    return fcntl(PQsocket(conn), F_DUPFD_CLOEXEC, 0);
}

uint64_t hf__pg_received(PGconn *conn)
{
    struct tcp_info info = {.tcpi_bytes_received = 0};
    socklen_t size = sizeof(info);

    (void)getsockopt(PQsocket(conn), IPPROTO_TCP, TCP_INFO, &info, &size);
    return info.tcpi_bytes_received;
}

/* `began`: hf__pg_received() when its query was sent. */
static hf_status await_result(PGconn *conn, int64_t deadline_ms, uint64_t began,
                              hf_error *err)
{
    int left = PQflush(conn);

    /* Also where there is always more. */
    if (hf__clock_boot_ms() >= deadline_ms)
        return hf__fail(err, HF_UNAVAILABLE,
                        "PostgreSQL did not answer by the deadline");
    while (left > 0 || PQisBusy(conn) != 0) {
        if (!wait_socket(conn, left > 0 ? POLLIN | POLLOUT : POLLIN,
                         deadline_ms))
            return hf__fail(err, HF_UNAVAILABLE,
                            "PostgreSQL did not answer by the deadline");
        if (PQconsumeInput(conn) == 0)
            break;
        if (hf__pg_received(conn) - began > ANSWER_MAX)
            return hf__fail(err, HF_CORRUPT,
                            "PostgreSQL sent a reply of more than %u KiB",
                            ANSWER_MAX >> 10);
        left = left > 0 ? PQflush(conn) : 0;
    }
    return HF_OK;
}

bool hf__pg_is_result(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);

    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK ||
           status == PGRES_EMPTY_QUERY || status == PGRES_FATAL_ERROR;
}

hf_status hf__pg_query(PGconn *conn, const char *query, int64_t deadline_ms,
                       PGresult **result, hf_error *err)
{
    PGresult *last = NULL;
    uint64_t began = hf__pg_received(conn);
    hf_status status = HF_OK;
    bool more = PQsendQuery(conn, query) == 1;

    while (more && status == HF_OK) {
        status = await_result(conn, deadline_ms, began, err);
        if (status == HF_OK) {
            PGresult *next = PQgetResult(conn);

            more = next != NULL;
            if (more) {
                PQclear(last);
                last = next;
                if (!hf__pg_is_result(next))
                    status = hf__fail(err, HF_CORRUPT,
                                      "PostgreSQL sent a malformed reply");
            }
        }
    }
    if (status == HF_OK && PQresultStatus(last) != PGRES_TUPLES_OK &&
        PQresultStatus(last) != PGRES_COMMAND_OK)
        status = hf__pg_failed(conn, last, err);
    if (status == HF_OK)
        *result = last;
    else
        PQclear(last);
    return status;
}

hf_status hf__pg_row(PGconn *conn, const char *query, int columns,
                     int64_t deadline_ms, PGresult **row, hf_error *err)
{
    PGresult *result;
    hf_status status = hf__pg_query(conn, query, deadline_ms, &result, err);

    if (status != HF_OK)
        return status;
    if (PQntuples(result) == 1 && PQnfields(result) == columns) {
        *row = result;
        return HF_OK;
    }
    PQclear(result);
    return hf__fail(err, HF_CORRUPT, "PostgreSQL sent a malformed reply");
}

hf_status hf__pg_check(const hf__pg_account *account, PGconn *conn,
                       int64_t deadline_ms, bool *durable, hf_error *err)
{
    char query[256];
    PGresult *row;
    hf_status status;

    (void)snprintf(query, sizeof(query),
                   "SELECT %s.protocol(), pg_catalog.current_setting('fsync')",
                   account->schema);
    status = hf__pg_row(conn, query, 2, deadline_ms, &row, err);
    if (status != HF_OK)
        return status;
    if (strtol(PQgetvalue(row, 0, 0), NULL, 10) != PROTOCOL)
        status = hf__fail(err, HF_UNSUPPORTED,
                          "the schema %s is of protocol %s, and this is "
                          "%d: run `holdfast store setup`",
                          account->schema, PQgetvalue(row, 0, 0), PROTOCOL);
    *durable = strcmp(PQgetvalue(row, 0, 1), "on") == 0;
    PQclear(row);
    return status;
}

/* A pooler says a number of its own at the login, by which calls are cancelled.
 */
hf_status hf__pg_is_pooled(PGconn *conn, int64_t deadline_ms, bool *is_pooled,
                           hf_error *err)
{
    PGresult *row;
    hf_status status = hf__pg_row(conn, "SELECT pg_catalog.pg_backend_pid()", 1,
                                  deadline_ms, &row, err);

    if (status != HF_OK)
        return status;
    *is_pooled = strtol(PQgetvalue(row, 0, 0), NULL, 10) != PQbackendPID(conn);
    PQclear(row);
    return HF_OK;
}
