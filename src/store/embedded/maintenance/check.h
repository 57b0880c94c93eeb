/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - the care of embedded stores, behind the slots of store.h.
 */
#ifndef HF__EMBEDDED_CHECK_H
#define HF__EMBEDDED_CHECK_H

#include "store/store.h"

hf_status hf__embedded_check(const hf__store_config *config,
                             const hf__check *check, hf_error *err);

#endif
