/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_grammar.h - the text of a script from a fuzzer's bytes: each byte
 * chooses one way to continue. Any bytes yield Lua that gets past the parser,
 * and a byte more or less changes only a part.
 */
#ifndef TESTS_FUZZ_SCRIPT_GRAMMAR_H
#define TESTS_FUZZ_SCRIPT_GRAMMAR_H

#include <stddef.h>
#include <stdint.h>

#define SCRIPT_TEXT_MAX 8192u

/* Writes at most SCRIPT_TEXT_MAX bytes and no NUL; returns how many. */
size_t script_from_bytes(const uint8_t *data, size_t size,
                         char text[SCRIPT_TEXT_MAX]);

#endif
