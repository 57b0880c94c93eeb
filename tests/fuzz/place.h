/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - a folder for what a fuzz target stores. */
#ifndef TESTS_FUZZ_PLACE_H
#define TESTS_FUZZ_PLACE_H

/* The path of a new folder, in memory if the machine has such a file system. It
 * is removed at exit, after what was registered by atexit() later than this
 * call. */
const char *place_make(void);

#endif
