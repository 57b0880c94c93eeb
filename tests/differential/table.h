/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - comparing the embedded store's table of commands with what a
 * server says of its own.
 */
#ifndef TESTS_DIFFERENTIAL_TABLE_H
#define TESTS_DIFFERENTIAL_TABLE_H

#include "side.h"

/* Prints what differs; how much of it there is. */
unsigned table_differences(side *server);

#endif
