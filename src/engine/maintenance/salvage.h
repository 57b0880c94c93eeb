/* SPDX-License-Identifier: Apache-2.0 */
/*
 * salvage.h - store.h's salvage() for embedded stores.
 */
#ifndef HF__ENGINE_SALVAGE_H
#define HF__ENGINE_SALVAGE_H

#include "store/maintenance.h"
#include "store/store.h"

hf_status hf__embedded_salvage(const hf__store_config *config,
                               const hf__salvage *how, hf_store_salvaged *done,
                               hf_error *err);

#endif
