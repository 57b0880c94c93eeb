/* SPDX-License-Identifier: Apache-2.0 */
/* stray_module.c - a module next to a program that is linked statically, where
 * it must not be found: it is not one. */
extern int stray;
int stray = 1;
