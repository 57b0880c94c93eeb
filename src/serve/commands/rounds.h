/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.h - running what connections ask for. */
#ifndef HF__SERVE_ROUNDS_H
#define HF__SERVE_ROUNDS_H

#include "serve/state.h"

/* Before the first connection; after the last. */
void hf__rounds_init(hf_server *server);
void hf__rounds_done(hf_server *server);

#endif
