/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/reply.h - replies of any shape, as trees.
 *
 * Contents: hf_reply_type(), hf_reply_integer(), hf_reply_bytes(),
 * hf_reply_count(), hf_reply_at(), hf_reply_free()
 *
 * @code
 * int64_t sum(const hf_reply *reply)
 * {
 *     int64_t total = hf_reply_integer(reply);
 *
 *     for (size_t i = 0; i < hf_reply_count(reply); i++)
 *         total += sum(hf_reply_at(reply, i));
 *     return total;
 * }
 * @endcode
 */
#ifndef HOLDFAST_REPLY_H
#define HOLDFAST_REPLY_H

#include "holdfast/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The type of a reply, in the terms of RESP2. */
typedef enum hf_reply_kind {
    HF_REPLY_NIL = 0,      /**< no value */
    HF_REPLY_INTEGER = 1,  /**< a 64-bit integer */
    HF_REPLY_STRING = 2,   /**< bytes */
    HF_REPLY_STATUS = 3,   /**< a status line such as "OK" */
    HF_REPLY_ERROR = 4,    /**< an error: within an array, or of a command */
    HF_REPLY_ARRAY = 5,    /**< replies */
    HF_REPLY_NIL_ARRAY = 6 /**< no array; not of a script */
} hf_reply_kind;

/** A reply, or an element of one. */
typedef struct hf_reply hf_reply;

/**
 * Free a reply. Only for one returned by a call, not for its elements.
 *
 * @param reply  may be NULL
 */
HF_API void hf_reply_free(hf_reply *reply);

/**
 * The type of a reply.
 *
 * @param reply  NULL counts as nil
 * @return the type
 */
HF_API hf_reply_kind hf_reply_type(const hf_reply *reply);

/**
 * The number in an integer reply.
 *
 * @param reply  the reply
 * @return the number; 0 for any other type
 */
HF_API int64_t hf_reply_integer(const hf_reply *reply);

/**
 * The bytes of a string, status or error reply.
 *
 * @param reply  the reply
 * @return a view, followed by a NUL, that is valid until the whole reply is
 *         freed; empty for any other type
 */
HF_API hf_bytes hf_reply_bytes(const hf_reply *reply);

/**
 * The number of elements of an array reply.
 *
 * @param reply  the reply
 * @return the count; 0 for any other type
 */
HF_API size_t hf_reply_count(const hf_reply *reply);

/**
 * An element of an array reply.
 *
 * @param reply  the reply
 * @param index  0..hf_reply_count() - 1
 * @return the element, owned by the whole reply; NULL (which counts as nil)
 *         outside the range
 */
HF_API const hf_reply *hf_reply_at(const hf_reply *reply, size_t index);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_REPLY_H */
