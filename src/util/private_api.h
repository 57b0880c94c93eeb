/* SPDX-License-Identifier: Apache-2.0 */
/*
 * private_api.h - marks what libholdfast exports only to the libraries that are
 * built with it, under a version of their own: see src/engine/engine.map.
 *
 * Exported, but not replaceable: within libholdfast such functions are called
 * and inlined like all others (-fno-semantic-interposition and
 * -Bsymbolic-functions).
 */
#ifndef HF__UTIL_PRIVATE_API_H
#define HF__UTIL_PRIVATE_API_H

#define HF__PRIVATE_API __attribute__((visibility("default")))

#endif
