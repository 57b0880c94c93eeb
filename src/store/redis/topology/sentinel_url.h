/* SPDX-License-Identifier: Apache-2.0 */
/* sentinel_url.h - the URL of a master behind sentinels. */
#ifndef HF__STORE_REDIS_SENTINEL_URL_H
#define HF__STORE_REDIS_SENTINEL_URL_H

#include "store/redis/wire/address.h"

/* Sentinels in a URL; three or five are usual. */
#define HF__SENTINEL_URL_MAX 16

/* Sentinel keeps names in one line of its file. */
#define HF__SENTINEL_NAME_MAX 255

typedef struct hf__sentinel_url {
    char *name; /* of the master */
    hf__redis_where sentinels[HF__SENTINEL_URL_MAX];
    size_t count;
    hf__redis_account account;  /* of the master */
    hf__redis_account watchers; /* of the sentinels; its `tls` is borrowed */
} hf__sentinel_url;

/*
 * Read a URL:
 *     redis+sentinel://[user:pass@]h1[:26379][,h2...]/name[/db]
 *         [?sentinel_username=...][&sentinel_password=...]
 * also valkey+sentinel:, and with TLS to both kinds of server rediss+sentinel:
 * and valkeys+sentinel:, with parameters of tls.h. HF_INVALID names the part
 * that is wrong. End it with hf__sentinel_url_done() on HF_OK.
 */
hf_status hf__sentinel_url_init(hf__sentinel_url *place,
                                const hf__store_config *config, hf_error *err);
void hf__sentinel_url_done(hf__sentinel_url *place);

#endif
