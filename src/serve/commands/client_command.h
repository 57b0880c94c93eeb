/* SPDX-License-Identifier: Apache-2.0 */
/* client_command.h - what clients say about themselves. */
#ifndef HF__SERVE_CLIENT_COMMAND_H
#define HF__SERVE_CLIENT_COMMAND_H

#include "serve/conn/conn.h"

/* An empty name removes it. false: replied with an error. */
bool hf__client_set_name(hf__conn *conn, hf_bytes name);

#endif
