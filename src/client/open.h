/* SPDX-License-Identifier: Apache-2.0 */
/* open.h - a client before its store is opened. */
#ifndef HF__CLIENT_OPEN_H
#define HF__CLIENT_OPEN_H

#include "holdfast/client.h"

/* To be closed by hf_client_close(); NULL: no memory. */
hf_client *hf__client_new(const hf_client_options *options);

#endif
