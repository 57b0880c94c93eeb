/* SPDX-License-Identifier: Apache-2.0 */
/* conn_log.c - see conn_log.h. */
#include "store/redis/server/conn_log.h"

void hf__conn_log_down(hf__async_conn *conn, bool was_up)
{
    const hf__conn_purpose *purpose = conn->purpose;

    if (purpose == NULL)
        return;
    conn->lost = true;
    HF__LOG(conn->node->context->log, HF_LOG_WARNING, "%s for %s%s: %s",
            was_up ? "lost the connection" : "no connection", purpose->carries,
            purpose->meanwhile, conn->error.message);
}

/* Files that were changed and cannot be used: no call fails until the old
 * certificate expires. */
static void report_files(hf__log_hook *log, const hf__redis_account *account)
{
    hf_error err = HF_ERROR_INIT;

    if (account->tls != NULL && hf__tls_state(account->tls, &err) != HF_OK)
        HF__LOG(log, HF_LOG_WARNING,
                "changed files of TLS are not used, the old ones are: %s",
                err.message);
}

void hf__conn_log_up(hf__async_conn *conn)
{
    hf__log_hook *log = conn->node->context->log;
    bool lost = conn->lost;

    conn->lost = false;
    if (log == NULL || conn->purpose == NULL)
        return;
    report_files(log, conn->node->account);
    if (lost)
        HF__LOG(log, HF_LOG_INFO, "the connection for %s is back: %s",
                conn->purpose->carries, conn->peer);
    else
        HF__LOG(log, HF_LOG_DEBUG, "connected for %s: %s",
                conn->purpose->carries, conn->peer);
}

void hf__conn_log_again(const hf__redis_node *node, const char *why)
{
    HF__LOG(node->context->log, HF_LOG_WARNING,
            "lost the connection of a call, which tries another: %s", why);
}
