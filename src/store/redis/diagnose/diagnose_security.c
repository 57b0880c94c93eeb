/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose_security.c - encryption, authentication and secret files.
 *
 * Encryption is checked on a separate connection: the others are in use.
 */
#include <inttypes.h>
#include <string.h>

#include "store/redis/diagnose/diagnose_server.h"
#include "store/redis/server/blocking_conn.h"
#include "util/clock.h"

/* Certificates are renewed a month or so before they end. */
#define EXPIRY_WARNING_S (30 * INT64_C(86400))

/* On this machine: a unix socket's path, or a loopback address. */
static bool is_near(const char *name)
{
    return name[0] == '/' || strncmp(name, "localhost:", 10) == 0 ||
           strncmp(name, "127.", 4) == 0 || strncmp(name, "[::1]:", 6) == 0;
}

static void tell_expiry(const hf__diagnosis *to, const hf__tls_facts *facts)
{
    int64_t days = facts->expires_s / 86400;

    if (!facts->is_dated)
        return;
    if (facts->expires_s < 0)
        hf__report_error(to, HF_DENIED, "certificate",
                         "renew the server's certificate",
                         "it expired %" PRId64 " days ago", -days);
    else if (facts->expires_s < EXPIRY_WARNING_S)
        hf__report(to, HF_LEVEL_WARNING, "certificate",
                   "renew the server's certificate: after that no new "
                   "connection can be made",
                   "it expires in %" PRId64 " days", days);
    else
        hf__report(to, HF_LEVEL_OK, "certificate", "",
                   "it expires in %" PRId64 " days", days);
}

/* New versions of files in use that cannot be loaded. */
static void tell_files(const hf__diagnosis *to, hf__tls *tls)
{
    const char *key = hf__tls_key_path(tls, false);
    const char *password = hf__tls_key_path(tls, true);
    hf_error err = HF_ERROR_INIT;

    if (hf__tls_state(tls, &err) != HF_OK)
        hf__report(to, HF_LEVEL_WARNING, "certificate files",
                   "correct them: only open clients still work, with the "
                   "previous files",
                   "changed, and not usable: %s", err.message);
    if (key != NULL)
        hf__diagnose_secret_file(to, "key file", key);
    if (password != NULL)
        hf__diagnose_secret_file(to, "key password file", password);
}

static void tell_tls(hf__target *target, hf__tls *tls)
{
    const hf__diagnosis *to = &target->diagnosis;
    const char *verified = hf__tls_describe(tls);
    hf__tls_facts facts = {"TLS", "unknown", false, 0};
    hf_error err = HF_ERROR_INIT;
    hf__blocking_conn conn;

    hf__blocking_conn_init(&conn, &target->server->node);
    if (hf__blocking_conn_open(
            &conn,
            hf__clock_after(hf__clock_boot_ms(),
                            target->server->node.context->connect_ms),
            &err) == HF_OK)
        hf__tls_tell(hf__channel_ssl(&conn.channel), &facts);
    else
        hf__report(to, HF_LEVEL_WARNING, "new connection", "", "failed: %s",
                   err.message);
    hf__report(to,
               strncmp(verified, "encrypted;", 10) == 0 ? HF_LEVEL_WARNING
                                                        : HF_LEVEL_OK,
               "encryption",
               strncmp(verified, "encrypted;", 10) == 0
                   ? "remove tls_verify=none: anyone on the network path can "
                     "impersonate the server"
                   : "",
               "%s, %s; %s", facts.protocol, facts.cipher, verified);
    tell_expiry(to, &facts);
    hf__blocking_conn_done(&conn);
    tell_files(to, tls);
}

void hf__diagnose_security(hf__target *target)
{
    const hf__diagnosis *to = &target->diagnosis;
    const hf__redis_account *account = target->server->node.account;
    bool near = is_near(to->node);

    if (account->tls != NULL)
        tell_tls(target, account->tls);
    else if (near)
        hf__report(to, HF_LEVEL_OK, "encryption", "",
                   "none; nothing leaves this machine");
    else
        hf__report(
            to, HF_LEVEL_NOTE, "encryption",
            "use rediss://, unless the network is private",
            "none: anyone on the network path can read and change all data");
    if (account->password_file != NULL)
        hf__diagnose_secret_file(to, "password file", account->password_file);
    if (account->password != NULL)
        hf__report(to, HF_LEVEL_OK, "password", "", "given");
    else
        hf__report(to, near ? HF_LEVEL_NOTE : HF_LEVEL_WARNING, "password",
                   "create a user with a password and least rights; see "
                   "docs/explanation/security.md",
                   "none: anyone who can reach the server may do what its "
                   "default user may");
}
