/* SPDX-License-Identifier: Apache-2.0 */
/* embedded.h - the driver for stores in files that this process opens. */
#ifndef HF__STORE_EMBEDDED_H
#define HF__STORE_EMBEDDED_H

#include "store/store.h"

extern const hf__store_ops hf__embedded_store_ops;

#endif
