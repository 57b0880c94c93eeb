/* SPDX-License-Identifier: Apache-2.0 */
/* store_facts.h - how much is in an embedded store. */
#ifndef HOLDFAST_CLI_STORE_FACTS_H
#define HOLDFAST_CLI_STORE_FACTS_H

#include "holdfast/store.h"

struct store_facts { /* -1: not known */
    int64_t keys;
    int64_t size;     /* bytes in use */
    int64_t size_max; /* bytes it may use */
};

/* The status of hf_store_info(). */
hf_status store_facts_read(struct store_facts *facts, hf_client *client);

#endif
