/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child_store.h - how a command that we start learns of the store and its
 * passwords.
 */
#ifndef CLI_CHILD_STORE_H
#define CLI_CHILD_STORE_H

/*
 * The URL with an absolute path and without passwords: each is a file in place
 * of it, as by child_secret(). To be freed; NULL: errno says why.
 */
char *child_store(const char *url);

/*
 * The name of a file that holds the secret, for processes of this user while
 * we live. Nothing is on any disk. To be freed; NULL: errno says why.
 */
char *child_secret(const char *secret);

#endif
