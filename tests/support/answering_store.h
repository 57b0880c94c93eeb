/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answering_store.h - a store without a server: a function of the test yields
 * the reply to each request, which is then checked like a server's. It replaces
 * the store of an open client. White-box.
 */
#ifndef TESTS_SUPPORT_ANSWERING_STORE_H
#define TESTS_SUPPORT_ANSWERING_STORE_H

#include "store/store.h"

typedef struct answering_store {
    hf__store base;
    hf__store *real; /* the client's own */
    /* Yield the reply to a script or command of that name; false: there is
     * none, and whether it was applied is unknown. */
    bool (*answer)(void *user, const char *target, hf__arena *arena,
                   hf_reply *reply);
    /* Called with each submit() before it is answered; may be NULL. */
    void (*submitted)(void *user, hf__request *const *requests, size_t count);
    void *user;
} answering_store;

void answering_store_begin(answering_store *self, hf_client *client);
void answering_store_end(answering_store *self, hf_client *client);

#endif
