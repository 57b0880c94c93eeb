/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_changes.h - changes of a data file from a fuzzer's bytes: fields of
 * pages, of their nodes and of the meta page, whole pages, the file's size.
 */
#ifndef TESTS_FUZZ_PAGE_CHANGES_H
#define TESTS_FUZZ_PAGE_CHANGES_H

#include "fault/embedded_damage.h"
#include "input.h"

/* Change `data`, up to the end of the input; mostly its pages in use, which
 * `from` knows. */
void page_changes_apply(input *in, bytes *data, const sources *from);

/* Correct the checksums of key records, as no fuzzer finds them. */
void page_changes_sum(bytes *data);

#endif
