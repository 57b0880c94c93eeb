/* SPDX-License-Identifier: Apache-2.0 */
/* await_child.h - waiting for the end of a child that may hang. */
#ifndef TESTS_SUPPORT_AWAIT_CHILD_H
#define TESTS_SUPPORT_AWAIT_CHILD_H

#include <sys/types.h>

/* waitpid() without options, but a child that has not ended after some minutes
 * is killed, with a line on stderr. */
pid_t await_child(pid_t pid, int *status);

#endif
