/* SPDX-License-Identifier: Apache-2.0 */
/* pg_setup.h - setup.sql, for the schema of a URL. */
#ifndef HF__RECORDS_PG_SETUP_H
#define HF__RECORDS_PG_SETUP_H

#include "store/store.h"

/* See hf__store_ops::setup. */
hf_status hf__pg_setup(const hf__store_config *config,
                       void (*print)(void *user, const char *sql), void *user,
                       hf_error *err);

#endif
