/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shebang.h - the first line of a script: "#!lua flags=no-writes,allow-oom".
 */
#ifndef HF__ENGINE_SHEBANG_H
#define HF__ENGINE_SHEBANG_H

#include "holdfast/base.h"
#include "util/private_api.h"

typedef struct hf__shebang {
    bool present;
    bool no_writes;
    size_t size; /* of the line without its end */
} hf__shebang;

/* Read the line, if there is one. false: invalid; `text` is the error without a
 * code. */
HF__PRIVATE_API bool hf__shebang_read(hf_bytes source, hf__shebang *shebang,
                                      char *text, size_t text_size);

#endif
