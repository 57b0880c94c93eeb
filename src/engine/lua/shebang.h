/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shebang.h - the first line of a script: "#!lua flags=no-writes,allow-oom",
 * and of a library of functions: "#!lua name=mylib".
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

/* Its flags. Of one that has no effect see shebang.c. */
#define HF__SCRIPT_FLAG_COUNT 5u
extern const char *const hf__script_flags[HF__SCRIPT_FLAG_COUNT];
#define HF__SCRIPT_NO_WRITES (1u << 0)

/* Most bytes of the name of a library or a function. */
#define HF__FUNCTION_NAME_MAX 256u
/* Letters, digits and underscores. */
bool hf__function_is_name(hf_bytes name);
#define HF__ERROR_FUNCTION_NAME                                                \
    "Library names can only contain letters, numbers, or underscores(_) and "  \
    "must be at least one character long"

/* Read the line of a library, of `line_size` bytes without its end. `name` is a
 * view. false: invalid; `text` is the error without a code. */
bool hf__shebang_library(hf_bytes source, hf_bytes *name, size_t *line_size,
                         char *text, size_t text_size);

#endif
