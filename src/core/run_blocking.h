/* SPDX-License-Identifier: Apache-2.0 */
/* run_blocking.h - running a procedure on the calling thread. */
#ifndef HF__CORE_RUN_BLOCKING_H
#define HF__CORE_RUN_BLOCKING_H

#include "core/procedure.h"

/* Do what is next, until the end. */
void hf__run_blocking(hf__procedure *procedure, hf__next next);

#endif
