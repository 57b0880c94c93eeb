/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_rights_test.c - other users of the machine: whose directory is
 * taken for a store, and what they can do to those who open one.
 *
 * Other users are children that give up root; without root those tests are
 * skipped.
 */
#include "embedded_store.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "store/embedded/files/files.h"

/* Nobody has these numbers. */
enum { ALICE = 64001, BOB = 64002, TEAM = 64100 };

static place at;
static char path[512];

static int set_up(void **state)
{
    (void)state;
    make_place(&at, "volatile", "");
    assert_int_equal(chmod(at.folder, 0755), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_place(&at);
    return 0;
}

static const char *in_store(const char *name)
{
    (void)snprintf(path, sizeof(path), "%s/s/%s", at.folder, name);
    return path;
}

static void needs_root(void)
{
    if (geteuid() == 0)
        return;
    print_message("needs root, to become other users\n");
    skip();
}

static void expect_refused(const char *part)
{
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;
    hf_status status = open_url(at.url, NULL, &store, &err);

    if (status != HF_DENIED || strstr(err.message, part) == NULL)
        fail_msg("%d %s", status, err.message);
}

/* ----------------------------------------------------------------- children */

static pid_t start_as(uid_t uid, bool (*what)(void))
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

static void must_end_well(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void must_do_as(uid_t uid, bool (*what)(void))
{
    must_end_well(start_as(uid, what));
}

static bool can_set(void)
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

static bool is_denied(void)
{
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;

    return open_url(at.url, NULL, &store, &err) == HF_DENIED;
}

/* ------------------------------------------------------------ whose directory
 */

static void directory_of_another_user_is_refused(void **state)
{
    (void)state;
    needs_root();
    assert_int_equal(mkdir(in_store(""), 0700), 0);
    assert_int_equal(chown(in_store(""), ALICE, ALICE), 0);
    expect_refused("belongs to uid 64001");
    must_do_as(ALICE, can_set);
    expect_refused("belongs to uid 64001");
    must_do_as(BOB, is_denied);
}

static void directory_that_others_may_write_to_is_refused(void **state)
{
    static const mode_t modes[] = {0770, 0720, 0702, 01777, 02770};

    (void)state;
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        assert_int_equal(mkdir(in_store(""), 0700), 0);
        assert_int_equal(chmod(in_store(""), modes[i]), 0);
        expect_refused("others may write to it");
        assert_int_equal(rmdir(in_store("")), 0);
    }
}

static void link_of_another_user_is_not_followed(void **state)
{
    char target[128], link[128];

    (void)state;
    (void)snprintf(target, sizeof(target), "%s/t", at.folder);
    (void)snprintf(link, sizeof(link), "%s/s", at.folder);
    assert_int_equal(mkdir(target, 0700), 0);
    assert_int_equal(symlink("t", link), 0);
    assert_true(can_set());
    (void)snprintf(target, sizeof(target), "%s/t/" HF__FILE_DATA, at.folder);
    assert_int_equal(access(target, F_OK), 0);
    needs_root();
    assert_int_equal(lchown(link, ALICE, ALICE), 0);
    assert_false(can_set());
}

/* ------------------------------------------------------------- what they do */

static bool hold_flock_of_directory(void)
{
    int fd = open(in_store(""), O_RDONLY | O_DIRECTORY);

    if (fd < 0 || flock(fd, LOCK_EX) != 0)
        return false;
    (void)raise(SIGSTOP);
    return true;
}

static void flock_of_another_user_holds_up_nobody(void **state)
{
    int status;
    pid_t pid;

    (void)state;
    assert_int_equal(mkdir(in_store(""), 0755), 0);
    pid = start_as(geteuid() == 0 ? BOB : geteuid(), hold_flock_of_directory);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    assert_true(can_set());
    assert_int_equal(kill(pid, SIGCONT), 0);
    must_end_well(pid);
}

/* Nobody but the owner can open the file that is locked instead. */
static void lock_file_is_for_the_owner_only(void **state)
{
    struct stat info;

    (void)state;
    assert_int_equal(mkdir(in_store(""), 0755), 0);
    assert_true(can_set());
    assert_int_equal(stat(in_store(HF__FILE_OPENING), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

/* -------------------------------------------------------------------- umask */

static bool set_with_umask_0777(void)
{
    bool fine;

    (void)umask(0777);
    fine = can_set();
    return can_set() && fine;
}

static void umask_takes_nothing_from_a_new_store(void **state)
{
    static const char *const schemes[] = {"volatile", "file"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        remove_place(&at);
        make_place(&at, schemes[i], "");
        assert_int_equal(chmod(at.folder, 0777), 0);
        must_do_as(geteuid() == 0 ? ALICE : geteuid(), set_with_umask_0777);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(directory_of_another_user_is_refused),
        TEST(directory_that_others_may_write_to_is_refused),
        TEST(link_of_another_user_is_not_followed),
        TEST(flock_of_another_user_holds_up_nobody),
        TEST(lock_file_is_for_the_owner_only),
        TEST(umask_takes_nothing_from_a_new_store),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
