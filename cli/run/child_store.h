/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child_store.h - how a command that we start gets the store and its
 * passwords.
 */
#ifndef HOLDFAST_CLI_RUN_CHILD_STORE_H
#define HOLDFAST_CLI_RUN_CHILD_STORE_H

/*
 * The URL with an absolute path, and with files in place of passwords, as by
 * child_secret(). To be freed; NULL: errno has the reason.
 */
char *child_store(const char *url);

/*
 * The name of a memory file with the secret, readable by this user until we
 * end. To be freed; NULL: errno has the reason.
 */
char *child_secret(const char *secret);

#endif
