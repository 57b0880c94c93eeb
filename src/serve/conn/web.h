/* SPDX-License-Identifier: Apache-2.0 */
/*
 * web.h - requests that a web page has its user's browser send to our port:
 * the body of a POST could be any commands. Their connections are closed.
 */
#ifndef HF__SERVE_WEB_H
#define HF__SERVE_WEB_H

#include "holdfast/base.h"

/* Are these words the first line of a request of HTTP, or its header Host? As
 * in Redis these are commands named POST and "Host:"; and, typed as a line, any
 * three words of which the last is a version of HTTP. */
bool hf__web_sent(const hf_bytes *words, size_t count, bool is_line);

#endif
