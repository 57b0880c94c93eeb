/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - see log.h. */
#include "serve/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "serve/client.h"
#include "util/clock.h"
#include "util/error.h"

#define LINE_SIZE 512

/* Refused logins are reported at most so often, ms. */
#define REFUSED_MS 10000

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

void hf__log_refused(hf__conn *conn, hf_bytes user)
{
    hf_server *server = conn->server;
    int64_t now_ms = hf__clock_boot_ms();
    char peer[HF__CLIENT_ADDRESS_SIZE];
    char quoted[HF__QUOTED_SIZE];

    server->refused_logins++;
    if (server->refused_ms != 0 && now_ms - server->refused_ms < REFUSED_MS)
        return;
    hf__log(server, "%llu logins refused, the last of %s from %s",
            (unsigned long long)server->refused_logins,
            hf__quoted(quoted, user), hf__client_address(conn, false, peer));
    server->refused_logins = 0;
    server->refused_ms = now_ms;
}
