/* SPDX-License-Identifier: Apache-2.0 */
/* client_line.h - a client's line of CLIENT LIST. */
#ifndef HF__SERVE_CLIENT_LINE_H
#define HF__SERVE_CLIENT_LINE_H

#include "serve/conn/conn.h"

void hf__client_describe(const hf__conn *conn, hf__buf *text);

#endif
