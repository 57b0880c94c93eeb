/* SPDX-License-Identifier: Apache-2.0 */
/* web.c - see web.h. */
#include "serve/conn/web.h"

#include <string.h>

#include "engine/engine.h"

#define VERSION "HTTP/"

bool hf__web_sent(const hf_bytes *words, size_t count, bool is_line)
{
    const char *last = words[count - 1].data;
    size_t size = strlen(VERSION);

    if (hf__arg_is(words[0], "post") || hf__arg_is(words[0], "host:"))
        return true;
    return is_line && count == 3 && words[2].size > size &&
           memcmp(last, VERSION, size) == 0 && last[size] >= '0' &&
           last[size] <= '9';
}
