/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_users.h - shared by the tests in which other users open a store:
 * children that drop root. Without root those tests are skipped.
 */
#ifndef EMBEDDED_USERS_H
#define EMBEDDED_USERS_H

#include "embedded_store.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/wait.h>

#include "engine/files/files.h"
#include "engine/files/sidecar.h"
#include "support/await_child.h"

/* Unused ids. */
enum { ALICE = 64001, BOB = 64002, TEAM = 64100 };

static place at;
static char path[512];

HELPER int set_up(void **state)
{
    (void)state;
    make_place(&at, "volatile", "");
    assert_int_equal(chmod(at.folder, 0755), 0);
    return 0;
}

HELPER int tear_down(void **state)
{
    (void)state;
    remove_place(&at);
    return 0;
}

HELPER const char *in_store(const char *name)
{
    (void)snprintf(path, sizeof(path), "%s/s/%s", at.folder, name);
    return path;
}

HELPER void needs_root(void)
{
    if (geteuid() == 0)
        return;
    print_message("needs root, to become other users\n");
    skip();
}

HELPER void expect_refused(const char *part)
{
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;
    hf_status status = open_url(at.url, NULL, &store, &err);

    if (status != HF_DENIED || strstr(err.message, part) == NULL)
        fail_msg("%d %s", status, err.message);
}

/* ----------------------------------------------------------------- children */

HELPER pid_t start_as(uid_t uid, bool (*what)(void))
{
    gid_t team = TEAM;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        if (uid != geteuid() &&
            (setgroups(1, &team) != 0 || setgid(uid) != 0 || setuid(uid) != 0))
            _exit(2);
        _exit(what() ? 0 : 1);
    }
    return pid;
}

HELPER void must_end_well(pid_t pid)
{
    int status;

    assert_int_equal(await_child(pid, &status), pid);
    assert_int_equal(status, 0);
}

HELPER void must_do_as(uid_t uid, bool (*what)(void))
{
    must_end_well(start_as(uid, what));
}

HELPER bool can_set(void)
{
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;
    char text[TEXT_SIZE];
    hf_status status = open_url(at.url, NULL, &store, &err);

    if (status == HF_OK) {
        status = command(store, "set a 1", text);
        close_store(store);
    } else {
        print_message("%d %s\n", status, err.message);
    }
    return status == HF_OK;
}

HELPER bool is_denied(void)
{
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;

    return open_url(at.url, NULL, &store, &err) == HF_DENIED;
}

#endif
