/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words_keys.h - generating the words of commands on ranges of members and on
 * many keys; the kinds are listed in words.h.
 */
#ifndef TESTS_DIFFERENTIAL_WORDS_KEYS_H
#define TESTS_DIFFERENTIAL_WORDS_KEYS_H

#include "words.h"

hf_bytes word_member_bound(maker *make);
hf_bytes word_glob(maker *make);
hf_bytes word_type(maker *make);

#endif
