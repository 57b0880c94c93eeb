/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shebang.h - the first line of a script that says what the script needs:
 * "#!lua flags=no-writes,allow-oom".
 */
#ifndef HF__EMBEDDED_SHEBANG_H
#define HF__EMBEDDED_SHEBANG_H

#include "holdfast/base.h"

typedef struct hf__shebang {
    bool present;
    bool no_writes;
    size_t size; /* of the line, its end not counted */
} hf__shebang;

/* Read the line, if the script begins with one. false: it is wrong, and `text`
 * says why, without a code. */
bool hf__shebang_read(hf_bytes source, hf__shebang *shebang, char *text,
                      size_t text_size);

#endif
