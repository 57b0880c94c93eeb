/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.h - looking for expired keys while they are to be reported. */
#ifndef HF__SERVE_SWEEP_H
#define HF__SERVE_SWEEP_H

#include "engine/engine.h"

struct hf_server;

void hf__sweep_open_server(struct hf_server *server);

/* Events of expired keys are wanted, or a client tracks, or not any more. */
void hf__sweep_set(struct hf_server *server);
/* Once, soon: what a pause has held back. */
void hf__sweep_soon(struct hf_server *server);

#endif
