/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - see log.h. */
#include "serve/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "serve/conn/peer.h"
#include "util/clock.h"
#include "util/error.h"

#define LINE_SIZE 512

/* What many clients can cause is reported at most so often, ms. */
#define BURST_MS 10000

void hf__log(hf_server *server, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list args;

    if (server->options.on_log == NULL)
        return;
    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    server->options.on_log(line, server->options.log_user);
}

/* Is a line due? It counts in any case. */
static bool is_due(hf__log_burst *burst)
{
    int64_t now_ms = hf__clock_boot_ms();

    burst->count++;
    if (burst->reported_ms != 0 && now_ms - burst->reported_ms < BURST_MS)
        return false;
    burst->reported_ms = now_ms;
    return true;
}

void hf__log_refused(hf__conn *conn, hf_bytes user)
{
    hf__log_burst *burst = &conn->server->refused_logins;
    char peer[HF__PEER_SIZE];
    char quoted[HF__QUOTED_SIZE];

    if (!is_due(burst))
        return;
    hf__log(conn->server, "logins refused: %llu, the last of %s from %s",
            (unsigned long long)burst->count, hf__quoted(quoted, user),
            hf__peer_address(conn, false, peer));
    burst->count = 0;
}

void hf__log_web(hf__conn *conn)
{
    hf__log_burst *burst = &conn->server->web_requests;
    char peer[HF__PEER_SIZE];

    if (!is_due(burst))
        return;
    hf__log(conn->server,
            "requests of HTTP refused: %llu, the last from %s; does a web page "
            "try to send commands?",
            (unsigned long long)burst->count,
            hf__peer_address(conn, false, peer));
    burst->count = 0;
}

void hf__log_refused_tls(hf__conn *conn, int sys_errno)
{
    hf__log_burst *burst = &conn->server->failed_handshakes;
    char peer[HF__PEER_SIZE];
    hf_error error = HF_ERROR_INIT;

    if (!is_due(burst))
        return;
    (void)hf__channel_fail(&conn->channel, &error, HF_UNAVAILABLE, sys_errno,
                           "the last from",
                           hf__peer_address(conn, false, peer));
    hf__log(conn->server, "TLS handshakes failed: %llu, %s",
            (unsigned long long)burst->count, error.message);
    burst->count = 0;
}
