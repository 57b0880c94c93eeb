/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_rights_test.c - whose directory is taken for a store, what other
 * users can do to it, and where the default one is.
 */
#include "embedded_users.h"
#include "support/await_child.h"

#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>

#include "holdfast/store.h"

EACH_TEST_WITH(set_up, tear_down);

/* ---------------------------------------------------------- whose directory */

TEST(directory_of_another_user_is_refused)
{
    needs_root();
    assert_int_equal(mkdir(in_store(""), 0700), 0);
    assert_int_equal(chown(in_store(""), ALICE, ALICE), 0);
    expect_refused("belongs to uid 64001");
    must_do_as(ALICE, can_set);
    expect_refused("belongs to uid 64001");
    must_do_as(BOB, is_denied);
}

TEST(directory_that_others_may_write_to_is_refused)
{
    static const mode_t modes[] = {0770, 0720, 0702, 01777, 02770};

    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        assert_int_equal(mkdir(in_store(""), 0700), 0);
        assert_int_equal(chmod(in_store(""), modes[i]), 0);
        expect_refused("writable by others");
        assert_int_equal(rmdir(in_store("")), 0);
    }
}

TEST(link_of_another_user_is_not_followed)
{
    char target[128], link[128];

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

TEST(flock_of_another_user_blocks_no_one)
{
    int status;
    pid_t pid;

    assert_int_equal(mkdir(in_store(""), 0755), 0);
    pid = start_as(geteuid() == 0 ? BOB : geteuid(), hold_flock_of_directory);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    assert_true(can_set());
    assert_int_equal(kill(pid, SIGCONT), 0);
    must_end_well(pid);
}

/* Only the owner can open the file that is locked instead. */
TEST(lock_file_is_for_the_owner_only)
{
    struct stat info;

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

TEST(umask_takes_nothing_from_a_new_store)
{
    static const char *const schemes[] = {"volatile", "file"};

    for (size_t i = 0; i < 2; i++) {
        remove_place(&at);
        make_place(&at, schemes[i], "");
        assert_int_equal(chmod(at.folder, 0777), 0);
        must_do_as(geteuid() == 0 ? ALICE : geteuid(), set_with_umask_0777);
    }
}

/* ---------------------------------------------------------------- read-only */

/* A machine of our own: /dev/shm and /run are new, and empty. */
static bool enter_new_machine(void)
{
    return unshare(CLONE_NEWNS) == 0 &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", "/dev/shm", "tmpfs", 0, "mode=1777") == 0 &&
           mount("none", "/run", "tmpfs", 0, "mode=0755") == 0;
}

static void needs_new_machine(void)
{
    int status;
    pid_t pid;

    needs_root();
    pid = fork();
    if (pid == 0)
        _exit(enter_new_machine() ? 0 : 1);
    assert_int_equal(await_child(pid, &status), pid);
    if (status == 0)
        return;
    print_message("needs leave to mount\n");
    skip();
}

static bool can_load(void)
{
    hf_bytes words[] = {hf_str("function"), hf_str("load"), hf_str("replace"),
                        hf_str("#!lua name=l\nredis.register_function{"
                               "function_name='f', flags={'no-writes'}, "
                               "callback=function() return 7 end}")};
    hf__store *store = must_open(at.url, NULL);
    char text[TEXT_SIZE];
    hf_status status = perform(store, NULL, words, 4, 0, text);

    close_store(store);
    return status == HF_OK;
}

/* Functions are called and listed, and none can be changed. */
static bool can_call_only(hf__store *store)
{
    static const char *const refused[] = {"function flush",
                                          "function delete l"};
    char text[TEXT_SIZE];
    bool fine = command(store, "fcall_ro f 0", text) == HF_OK &&
                strcmp(text, "i:7") == 0 &&
                command(store, "function list", text) == HF_OK &&
                strstr(text, "s:library_name, s:l") != NULL &&
                command(store, "function stats", text) == HF_OK &&
                command(store, "function dump", text) == HF_OK;

    for (size_t i = 0; i < 2; i++)
        fine = fine && command(store, refused[i], text) == HF_DENIED;
    return fine && command(store, "fcall f 0", text) == HF_OK;
}

/* Reading, by commands, scripts and functions, and the check; nothing else. */
static bool can_only_read(void)
{
    static const char script[] = "return redis.call('get', KEYS[1])";
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;
    char text[TEXT_SIZE];
    bool fine;

    if (open_url(at.url, NULL, &store, &err) != HF_OK) {
        print_message("%s\n", err.message);
        return false;
    }
    fine = command(store, "get a", text) == HF_OK && strcmp(text, "s:1") == 0 &&
           evaluate(store, script, 1, "a", text) == HF_OK &&
           strcmp(text, "s:1") == 0 &&
           command(store, "set a 2", text) == HF_DENIED &&
           strstr(text, "the store is read-only") != NULL &&
           evaluate(store, "redis.call('incr', KEYS[1])", 1, "a", text) ==
               HF_DENIED &&
           command(store, "get a", text) == HF_OK && strcmp(text, "s:1") == 0 &&
           can_call_only(store);
    if (!fine)
        print_message("%s\n", text);
    close_store(store);
    return fine && hf_store_check(at.url, NULL, NULL, NULL, NULL) == HF_OK;
}

static bool sets_its_mode_and_reads(void)
{
    struct stat before, after;

    return can_set() && can_load() && chmod(in_store(""), 0500) == 0 &&
           stat(in_store(HF__FILE_DATA), &before) == 0 && can_only_read() &&
           stat(in_store(HF__FILE_DATA), &after) == 0 &&
           memcmp(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim)) ==
               0 &&
           chmod(in_store(""), 0700) == 0 && can_set();
}

static const char *const forms[] = {"volatile:%s/s", "file:%s/s",
                                    "file:%s/s?durability=flush"};

static void make_form(size_t form)
{
    remove_place(&at);
    make_place(&at, "volatile", "");
    assert_int_equal(chmod(at.folder, 0777), 0);
    (void)snprintf(at.url, sizeof(at.url), forms[form], at.folder);
}

TEST(directory_without_permission_to_write_is_read)
{
    for (size_t form = 0; form < 3; form++) {
        make_form(form);
        must_do_as(geteuid() == 0 ? ALICE : geteuid(), sets_its_mode_and_reads);
    }
}

static bool mounts_and_reads(void)
{
    return unshare(CLONE_NEWNS) == 0 &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount(at.folder, at.folder, NULL, MS_BIND, NULL) == 0 &&
           mount(NULL, at.folder, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY,
                 NULL) == 0 &&
           can_only_read();
}

static bool is_in_use(void)
{
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;

    return unshare(CLONE_NEWNS) == 0 &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount(at.folder, at.folder, NULL, MS_BIND, NULL) == 0 &&
           mount(NULL, at.folder, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY,
                 NULL) == 0 &&
           open_url(at.url, NULL, &store, &err) == HF_UNAVAILABLE;
}

TEST(read_only_mount_is_read)
{
    needs_new_machine();
    for (size_t form = 0; form < 3; form++) {
        make_form(form);
        assert_true(can_set() && can_load());
        must_do_as(0, mounts_and_reads);
        at.store = must_open(at.url, NULL);
        must_do_as(0, is_in_use);
    }
}

/* ------------------------------------------------------------ default store */

static bool error_names_the_owner(void)
{
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;

    return open_url("volatile:", NULL, &store, &err) == HF_DENIED &&
           strstr(err.message, "belongs to uid 64002") != NULL;
}

static const char *counted = "volatile:";

static bool count_is(const char *want)
{
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;
    char text[TEXT_SIZE];

    if (open_url(counted, NULL, &store, &err) != HF_OK) {
        print_message("%s\n", err.message);
        return false;
    }
    (void)command(store, "incr n", text);
    close_store(store);
    return strcmp(text, want) == 0;
}

static bool first(void)
{
    return count_is("i:1");
}

static bool second_in_a_session(void)
{
    return setenv("XDG_RUNTIME_DIR", "/tmp", 1) == 0 && count_is("i:2");
}

static bool third(void)
{
    return count_is("i:3");
}

static bool ends_well_as(uid_t uid, bool (*what)(void))
{
    int status = 0;
    pid_t pid = start_as(uid, what);

    return await_child(pid, &status) == pid && status == 0;
}

static bool squat(uid_t uid, char home[64])
{
    (void)snprintf(home, 64, "/dev/shm/holdfast-%d", (int)uid);
    return mkdir(home, 0700) == 0 && chown(home, BOB, BOB) == 0;
}

/* Whatever their environment, all programs of the user are in one store; also
 * after the place that was taken has become free. */
static bool finds_another_place(uid_t uid, const char *runtime)
{
    char home[64];

    return enter_new_machine() && squat(uid, home) &&
           (uid == 0 ||
            (ends_well_as(uid, error_names_the_owner) &&
             mkdir("/run/user", 0755) == 0 && mkdir(runtime, 0700) == 0 &&
             chown(runtime, uid, uid) == 0)) &&
           ends_well_as(uid, first) && ends_well_as(uid, second_in_a_session) &&
           rmdir(home) == 0 && ends_well_as(uid, third) &&
           access(home, F_OK) != 0;
}

static bool alice_finds_another_place(void)
{
    return finds_another_place(ALICE, "/run/user/64001");
}

static bool root_finds_another_place(void)
{
    return finds_another_place(0, NULL);
}

TEST(default_store_is_one_even_if_its_place_is_taken)
{
    needs_new_machine();
    must_do_as(0, alice_finds_another_place);
    must_do_as(0, root_finds_another_place);
}

/* One that is there is not left for a session that begins. */
static bool stays_where_it_is(void)
{
    return enter_new_machine() && ends_well_as(ALICE, first) &&
           mkdir("/run/user", 0755) == 0 &&
           mkdir("/run/user/64001", 0700) == 0 &&
           chown("/run/user/64001", ALICE, ALICE) == 0 &&
           ends_well_as(ALICE, second_in_a_session) &&
           access("/run/user/64001/holdfast", F_OK) != 0;
}

static bool named_store_of_the_group(void)
{
    counted = "volatile:jobs?group=64100&mode=0660";
    return enter_new_machine() && ends_well_as(ALICE, first) &&
           ends_well_as(BOB, second_in_a_session) && ends_well_as(0, third) &&
           access("/dev/shm/holdfast-group-64100/jobs", F_OK) == 0;
}

TEST(group_has_one_store_of_a_name)
{
    needs_new_machine();
    must_do_as(0, named_store_of_the_group);
}

TEST(default_store_is_the_same_in_and_out_of_a_session)
{
    needs_new_machine();
    must_do_as(0, stays_where_it_is);
}
