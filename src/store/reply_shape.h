/* SPDX-License-Identifier: Apache-2.0 */
/* reply_shape.h - does a reply have the shape that its request requires? */
#ifndef HF__STORE_REPLY_SHAPE_H
#define HF__STORE_REPLY_SHAPE_H

#include "script/shape.h"
#include "store/reply.h"

/* `keys`: how many the request has. */
bool hf__reply_fits(const hf_reply *reply, const hf__shape *shape, size_t keys);

/* A reply for a message: "an integer (-7)". Returns `text`. */
#define HF__REPLY_TEXT_SIZE 48
const char *hf__reply_text(char text[HF__REPLY_TEXT_SIZE],
                           const hf_reply *reply);

#endif
