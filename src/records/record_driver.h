/* SPDX-License-Identifier: Apache-2.0 */
/* record_driver.h - the drivers of stores of records: the door of this folder.
 */
#ifndef HF__RECORDS_RECORD_DRIVER_H
#define HF__RECORDS_RECORD_DRIVER_H

#include "store/store.h"

extern const hf__store_ops hf__postgres_store_ops;

#endif
