/* SPDX-License-Identifier: Apache-2.0 */
/* drivers.h - from a URL's scheme to its driver. For core: drivers do not use
 * it. */
#ifndef HF__STORE_DRIVERS_H
#define HF__STORE_DRIVERS_H

#include "store/store.h"

/*
 * Open the store of the URL's scheme. HF_INVALID: no such scheme.
 */
hf_status hf__store_open(const hf__store_config *config, hf__store **store,
                         hf_error *err);

/* The driver of a scheme; fails as hf__store_open() does. */
hf_status hf__store_driver(const char *scheme, const hf__store_ops **ops,
                           hf_error *err);

#endif
