/* SPDX-License-Identifier: Apache-2.0 */
/* boot_id.h - which boot of which machine this is: who has the same id reads
 * the same CLOCK_BOOTTIME, but for time namespaces (util/clock.h). */
#ifndef HF__UTIL_BOOT_ID_H
#define HF__UTIL_BOOT_ID_H

#include "holdfast/base.h"

/* A UUID as text; the rest are zeros. */
#define HF__BOOT_ID_SIZE 40

/* HF_SYSTEM. Without it no one may take what is of an earlier boot, or of
 * another machine, for what is of this one. */
hf_status hf__boot_id_read(char boot_id[HF__BOOT_ID_SIZE], hf_error *err);

#endif
