/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_store.h - store.h's check() for embedded stores.
 */
#ifndef HF__ENGINE_CHECK_STORE_H
#define HF__ENGINE_CHECK_STORE_H

#include "store/store.h"

hf_status hf__embedded_check(const hf__store_config *config,
                             const hf__check *check, hf_error *err);

#endif
