/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answering_store.h - a store without a server: a function of the test gives
 * the answer to each request, which is then judged as one of a server is. It
 * stands in for the store of a client that is open. White-box.
 */
#ifndef TESTS_SUPPORT_ANSWERING_STORE_H
#define TESTS_SUPPORT_ANSWERING_STORE_H

#include "store/store.h"

typedef struct answering_store {
    hf__store base;
    hf__store *real; /* the client's own */
    /* Give the answer to a script or command of that name; false: none comes,
     * and whether it was applied is not known. */
    bool (*answer)(void *user, const char *target, hf__arena *arena,
                   hf_reply *reply);
    /* Told of each submit() before it is answered; may be NULL. */
    void (*submitted)(void *user, hf__request *const *requests, size_t count);
    void *user;
} answering_store;

void answering_store_begin(answering_store *self, hf_client *client);
void answering_store_end(answering_store *self, hf_client *client);

#endif
