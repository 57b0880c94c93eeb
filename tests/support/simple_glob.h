/* SPDX-License-Identifier: Apache-2.0 */
/* simple_glob.h - matching with patterns in the plainest way, to compare. */
#ifndef TESTS_SUPPORT_SIMPLE_GLOB_H
#define TESTS_SUPPORT_SIMPLE_GLOB_H

#include "holdfast/base.h"

#define SIMPLE_TEXT_MAX 700

/* The text has at most SIMPLE_TEXT_MAX bytes. */
bool simple_fits(hf_bytes pattern, hf_bytes text);

#endif
