/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redisson_peer.h - for tests of Redisson's layout: the names of its keys and
 * channels, and its own scripts, which the fixture's other client runs.
 */
#ifndef TESTS_SUPPORT_REDISSON_PEER_H
#define TESTS_SUPPORT_REDISSON_PEER_H

#include "holdfast/redisson.h"
#include "support/store_fixture.h"
#include "support/told.h"

/* A thread of a Java program, as the owner of a lock. */
#define REDISSON_JAVA "9b2f0a1c-0000-4000-8000-0123456789ab:1"

/* Embedded stores and a quorum have no Redisson. */
bool redisson_is_here(const fixture *f);

/* "ROLE{NAME}": a key or channel about a name. */
hf_bytes redisson_role(const char *role, hf_bytes name, char text[256]);

/* Run a script with KEYS[1] the name and ARGV: owner, the command that
 * publishes, the channel "ROLE{NAME}"; returns its integer. */
int64_t redisson_eval(fixture *f, const char *script, const char *role,
                      hf_bytes name);

/* A client whose URL has layout=redisson. */
hf_client *redisson_client(fixture *f, const hf_client_options *opts);

/* A handle that the fixture frees. */
hf_lock *redisson_lock(fixture *f, hf_client *client, hf_bytes name,
                       hf_redisson_kind kind, const hf_lock_options *opts);

/* The started call waits, and has had the time to listen. */
void redisson_waits(hf_client *client, const told *said);

/* `wake` ends the wait of a started call at once; the client would poll only
 * after a second. */
#define REDISSON_WAKES(client, said, wake)                                     \
    do {                                                                       \
        int64_t redisson_began_ms;                                             \
                                                                               \
        redisson_waits((client), (said));                                      \
        redisson_began_ms = test_now_ms();                                     \
        wake;                                                                  \
        redisson_woken((client), (said), redisson_began_ms);                   \
    } while (0)
void redisson_woken(hf_client *client, const told *said, int64_t began_ms);

#endif
