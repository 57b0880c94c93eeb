/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - lines for the operator, by hf_server_options::on_log. */
#ifndef HF__SERVE_LOG_H
#define HF__SERVE_LOG_H

#include "serve/state.h"

__attribute__((format(printf, 2, 3))) void hf__log(hf_server *server,
                                                   const char *format, ...);

/* A login was refused as this user, a request of HTTP was, or a TLS handshake
 * failed. One line for many. */
void hf__log_refused(hf__conn *conn, hf_bytes user);
void hf__log_web(hf__conn *conn);
void hf__log_refused_tls(hf__conn *conn, int sys_errno);

#endif
