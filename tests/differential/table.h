/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - comparing the embedded store's table of commands with a server's.
 */
#ifndef TESTS_DIFFERENTIAL_TABLE_H
#define TESTS_DIFFERENTIAL_TABLE_H

#include "side.h"

/* Prints the differences and returns their number. */
unsigned table_differences(side *server);

#endif
