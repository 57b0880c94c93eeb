/* SPDX-License-Identifier: Apache-2.0 */
/* page.h - page.html and its scripts, which tools/embed_page.py made into C. */
#ifndef HOLDFAST_CLI_HTTP_PAGE_H
#define HOLDFAST_CLI_HTTP_PAGE_H

#include <stddef.h>

extern const unsigned char page_text[];
extern const size_t page_size;

/* Content-Security-Policy: only what is in the page itself. */
extern const char page_policy[];

/* page_change.lua and page_read.lua. */
extern const char page_change[];
extern const char page_read[];

#endif
