/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - included by the compiler's command line into each test file that is
 * one part of a larger program: its main() becomes HF_PART(), which parts.c
 * calls.
 */
#ifndef PART_H
#define PART_H

#define main(arguments)                                                        \
    HF_PART(arguments);                                                        \
    int HF_PART(arguments)

#endif
