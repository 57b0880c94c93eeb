/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_labels.h - attributes as the store keeps them.
 *
 * A label is an attribute's name, a NUL, its kind and value, two NULs. Nothing
 * else in it is two NULs in a row, and labels compare, byte by byte, like their
 * names and then like their values:
 *
 *     n  16 hexadecimal digits of the number, ordered like numbers
 *     t  the text, each NUL in it followed by the byte 1
 *
 * A position of an item is one of its labels, or two NULs, then its time as 16
 * decimal digits and its id. scripts/README.md.
 */
#ifndef HF__DATA_TIMELINE_TAGS_H
#define HF__DATA_TIMELINE_TAGS_H

#include "core/call.h"
#include "holdfast/timeline.h"

#define HF__LABEL_NUMBER 'n'
#define HF__LABEL_TEXT 't'
#define HF__LABEL_DIGITS 16 /* of a number, of a time */

/* Name, NUL, kind, value, two NULs. */
#define HF__LABEL_MAX                                                          \
    (HF_ATTRIBUTE_NAME_MAX + 4 + (size_t)2 * HF_ATTRIBUTE_TEXT_MAX)

/* HF_INVALID, with the name. */
hf_status hf__check_attribute_name(hf_bytes name, hf_error *err);
hf_status hf__check_attribute(const hf_attribute *attribute, hf_error *err);

/* Write one; returns its end. */
char *hf__label_put(char *at, const hf_attribute *attribute);
/* Digits of a number; of a time in a position. */
char *hf__label_put_number(char *at, double number);
char *hf__label_put_time(char *at, int64_t at_ms);

/* The word of all attributes of an item. */
void hf__add_labels(hf_call *call, const hf_attribute *attributes,
                    size_t count);

/* Count the labels of an item; SIZE_MAX: they are none. */
size_t hf__labels_count(hf_bytes labels);
/* Read and drop the first of labels that were counted. The name and the text
 * are written at `*at`, with a NUL after each. false: its number is none. */
bool hf__label_take(hf_bytes *labels, hf_attribute *attribute, char **at);

#endif
