/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixture_rights.h - the users of docs/howto/least-rights.md on the servers of
 * a test. Their commands are read from the page itself, so that the tests use
 * what people copy from it.
 */
#ifndef TESTS_SUPPORT_FIXTURE_RIGHTS_H
#define TESTS_SUPPORT_FIXTURE_RIGHTS_H

#include "support/store_fixture.h"

#define FIXTURE_RIGHTS_SIZE 1024

/* How the command of the user with least rights begins. */
#define FIXTURE_RIGHTS_USER "ACL SETUSER holdfast on >PASSWORD"

/*
 * The command of the page that begins with it, in one line, and with "t" for
 * the prefix "app:", as keys of tests begin with it. false, with a line on
 * stderr: there is none, or more than one.
 */
bool fixture_rights_read(const char *first, char line[FIXTURE_RIGHTS_SIZE]);

/* Create those users, as f->rights says, and make f->url log in as them.
 * Clients have the prefix "t", unless they may dump. */
bool fixture_rights_give(fixture *f);

#endif
