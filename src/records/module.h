/* SPDX-License-Identifier: Apache-2.0 */
/* module.h - loading a backend that is not part of the library. */
#ifndef HF__RECORDS_MODULE_H
#define HF__RECORDS_MODULE_H

#include "records/backend.h"

/*
 * The backend of libholdfast-<name>.so. HF_UNSUPPORTED: it is not installed;
 * the message names the package. HF_SYSTEM: it cannot be loaded, is of another
 * release, or others can change it or its folder. Any thread.
 */
hf_status hf__module_load(const char *name, const hf__backend_module **module,
                          hf_error *err);

#endif
