/* SPDX-License-Identifier: Apache-2.0 */
/* auth.h - logging in, and the server's users. */
#ifndef HF__SERVE_AUTH_H
#define HF__SERVE_AUTH_H

#include "serve/state.h"

/* The user of a connection that has not logged in: the default user if it needs
 * no password, else none. */
void hf__auth_reset(hf__conn *conn);

/* Log in; false: replied with an error. */
bool hf__auth_login(hf__conn *conn, hf_bytes name, hf_bytes password);

/* Read the users of the options' files, or the default one. */
hf_status hf__auth_read(const hf_server_options *options, hf__users *users,
                        hf_error *err);

/* Have these users from now on; takes them. The connections of users that have
 * changed are closed, `self` after its reply. */
void hf__auth_replace(hf_server *server, hf__users *users, hf__conn *self);
/* Close the connections of users that are not among `users`. */
void hf__auth_leave(hf_server *server, const hf__users *users, hf__conn *self);

#endif
