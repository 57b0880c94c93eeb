/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_shared_test.c - a store that a group shares: its members exclude and
 * wake each other, strangers are kept out, and a hostile member gets at no
 * file but the store's.
 */
#include "embedded_users.h"

#include "support/await_child.h"
#include "util/loop.h"

EACH_TEST_WITH(set_up, tear_down);

/* -------------------------------------------------------------------- group */

static const char *const shared_forms[] = {"volatile:%s/s?mode=0660&group=%d",
                                           "file:%s/s?group=%d&mode=0660",
                                           "file:%s/s?durability=flush&"
                                           "mode=0660&group=%d"};
#define FORM_COUNT (sizeof(shared_forms) / sizeof(shared_forms[0]))

/* A folder writable by everyone, and the URL of a store there for TEAM. */
static void make_shared(size_t form)
{
    remove_place(&at);
    make_place(&at, "volatile", "");
    assert_int_equal(chmod(at.folder, 01777), 0);
    (void)snprintf(at.url, sizeof(at.url), shared_forms[form], at.folder, TEAM);
}

static bool set_with_umask_077(void)
{
    (void)umask(077);
    return can_set();
}

static bool count_up(void)
{
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;
    char text[TEXT_SIZE];

    (void)umask(077);
    for (int round = 0; round < 20; round++) {
        if (open_url(at.url, NULL, &store, &err) != HF_OK) {
            print_message("%s\n", err.message);
            return false;
        }
        for (int i = 0; i < 10; i++) {
            if (command(store, "incr n", text) != HF_OK) {
                print_message("%s\n", text);
                return false;
            }
        }
        close_store(store);
    }
    return true;
}

static void expect_mode(const char *name, mode_t mode)
{
    struct stat info;

    assert_int_equal(lstat(in_store(name), &info), 0);
    assert_int_equal(info.st_gid, TEAM);
    if ((info.st_mode & 07777) != mode)
        fail_msg("%s: %o", name, (unsigned)info.st_mode);
}

/* By flock(): any member may open first, with any umask; even root. */
TEST(users_of_a_group_share_a_store)
{
    needs_root();
    for (size_t form = 0; form < FORM_COUNT; form++) {
        pid_t pids[3];

        make_shared(form);
        pids[0] = start_as(ALICE, count_up);
        pids[1] = start_as(BOB, count_up);
        pids[2] = start_as(0, count_up);
        for (size_t i = 0; i < 3; i++)
            must_end_well(pids[i]);
        at.store = must_open(at.url, NULL);
        expect(at.store, "get n", "s:600");
        expect_mode("", 02770);
        expect_mode(HF__FILE_DATA, 0660);
        expect_mode(HF__FILE_LOCK, 0660);
        expect_mode(HF__FILE_SIDECAR, 0660);
        expect_mode(HF__FILE_OPENING, 0660);
    }
}

static bool die_with_the_writer_lock(void)
{
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;
    char text[TEXT_SIZE];

    (void)umask(077);
    if (open_url(at.url, NULL, &store, &err) != HF_OK)
        return false;
    (void)alarm(1);
    /* Ends by SIGALRM in the middle of a transaction, as a rule. */
    while (getppid() != 1)
        (void)evaluate(store, "for i = 1, 2000 do redis.call('set', i, i) end",
                       0, "", text);
    return false;
}

TEST(killed_member_leaves_no_lock)
{
    int status;
    pid_t pid;

    needs_root();
    make_shared(0);
    at.store = must_open(at.url, NULL);
    pid = start_as(ALICE, die_with_the_writer_lock);
    assert_int_equal(await_child(pid, &status), pid);
    assert_true(WIFSIGNALED(status));
    expect(at.store, "set a 1", "+:OK");
    must_do_as(BOB, can_set);
}

static char listener[64]; /* its channel */

static bool publish(void)
{
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;
    char line[96], text[TEXT_SIZE];

    if (open_url(at.url, NULL, &store, &err) != HF_OK)
        return false;
    (void)snprintf(line, sizeof(line), "publish %s topic", listener);
    return command(store, line, text) == HF_OK && strcmp(text, "i:1") == 0;
}

static uint32_t moved_count;

static void on_moved(hf__watch *watch)
{
    (void)watch;
    __atomic_add_fetch(&moved_count, 1, __ATOMIC_SEQ_CST);
}

/* Both the sleeper on a futex and the loop with its FIFO. */
TEST(member_wakes_another)
{
    const hf__store_ops *ops = &hf__embedded_store_ops;
    hf__loop *loop = hf__loop_new();
    hf__watch watch = {.moved = on_moved};
    hf_bytes topic = hf_str("topic");
    int64_t until_ms;
    uint32_t seq;

    needs_root();
    make_shared(0);
    must_do_as(ALICE, set_with_umask_077);
    at.store = must_open(at.url, loop);
    (void)snprintf(listener, sizeof(listener), "%s", ops->inbox(at.store));
    moved_count = 0;
    assert_int_equal(ops->event_watch(at.store, topic, &watch, NULL), HF_OK);
    seq = ops->event_seq(at.store, topic, INT64_MAX);
    must_do_as(BOB, publish);
    until_ms = hf__clock_boot_ms() + 10000;
    assert_true(ops->event_wait(at.store, topic, seq, until_ms));
    while (__atomic_load_n(&moved_count, __ATOMIC_SEQ_CST) == 0 &&
           hf__clock_boot_ms() < until_ms)
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    assert_int_equal(moved_count, 1);
    ops->event_unwatch(at.store, &watch);
    close_store(at.store);
    at.store = NULL;
    hf__loop_free(loop);
}

static bool stranger(void)
{
    return setgroups(0, NULL) == 0 && setgid(BOB) == 0 && setuid(BOB) == 0 &&
           is_denied();
}

TEST(strangers_are_kept_out)
{
    needs_root();
    for (size_t form = 0; form < FORM_COUNT; form++) {
        make_shared(form);
        must_do_as(0, stranger); /* cannot make one either */
        must_do_as(ALICE, can_set);
        must_do_as(0, stranger);
    }
}

/* A store is shared where its directory and the URL say so, both. */
TEST(sharing_is_said_by_url_and_directory)
{
    char url[192];

    needs_root();
    make_shared(0);
    assert_true(can_set());
    (void)snprintf(url, sizeof(url), "%s", at.url);
    (void)snprintf(at.url, sizeof(at.url), "volatile:%s/s", at.folder);
    expect_refused("mode=0660&group=");
    (void)snprintf(at.url, sizeof(at.url), "volatile:%s/s?mode=0660&group=%d",
                   at.folder, TEAM + 1);
    expect_refused("is not shared by group 64101");
    assert_int_equal(chmod(in_store(HF__FILE_DATA), 0666), 0);
    (void)snprintf(at.url, sizeof(at.url), "%s", url);
    expect_refused("data");
}

/* --------------------------------------------------------- a hostile member */

static char victim[128];

/* Exchanges a file with a link to root's and back, again and again. */
static void swap_with_link(const char *name)
{
    char target[256], trap[256];

    (void)snprintf(target, sizeof(target), "%s/s/%s", at.folder, name);
    (void)snprintf(trap, sizeof(trap), "%s/s/.open-trap", at.folder);
    if (symlink(victim, trap) != 0)
        return;
    for (int i = 0; i < 100; i++)
        (void)renameat2(AT_FDCWD, trap, AT_FDCWD, target, RENAME_EXCHANGE);
    (void)unlink(trap);
}

/* What has no name at first: put a link, a second name of the file, or a FIFO
 * there before it is made. */
static void put_traps(const char *name)
{
    char target[256];

    (void)snprintf(target, sizeof(target), "%s/s/%s", at.folder, name);
    (void)!symlink(victim, target);
    (void)unlink(target);
    (void)!link(victim, target);
    (void)unlink(target);
    (void)!mkfifo(target, 0660);
    (void)unlink(target);
}

static bool set_traps(void)
{
    static const char *const names[] = {HF__FILE_LOCK,    HF__FILE_LOCK,
                                        HF__FILE_DATA,    HF__FILE_WAKE,
                                        HF__FILE_SIDECAR, HF__FILE_CHECKPOINT};
    static const char *const fresh[] = {HF__FILE_SIDECAR ".new",
                                        HF__FILE_CHECKPOINT ".new",
                                        HF__FILE_REWRITE, ".open-0"};

    for (unsigned i = 0; getppid() != 1; i++) {
        swap_with_link(names[i % 6]);
        put_traps(fresh[i % 4]);
        if (i % 50 == 49) { /* a new store, whose birth is raced, too */
            (void)unlink(in_store(HF__FILE_SIDECAR));
            (void)unlink(in_store(HF__FILE_DATA));
            (void)unlink(in_store(HF__FILE_LOCK));
        }
    }
    return false;
}

static bool open_again_and_again(void)
{
    int64_t until_ms = hf__clock_boot_ms() + 400;
    hf_error err = HF_ERROR_INIT;
    unsigned opened = 0, refused = 0;
    hf__store *store;

    while (hf__clock_boot_ms() < until_ms) {
        if (open_url(at.url, NULL, &store, &err) == HF_OK) {
            opened++;
            close_store(store);
        } else {
            refused++;
        }
    }
    print_message("opened %u times, refused %u times\n", opened, refused);
    return true;
}

static int make_victim(const char *text)
{
    int fd;

    (void)snprintf(victim, sizeof(victim), "%s/victim", at.folder);
    fd = open(victim, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    return fd;
}

static void expect_untouched(int fd, const char *text)
{
    char found[4096] = "";
    struct stat info;

    assert_true(pread(fd, found, sizeof(found) - 1, 0) >= 0);
    assert_string_equal(found, text);
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(info.st_size, strlen(text));
    assert_int_equal(info.st_mode & 07777, 0600);
    assert_int_equal(info.st_uid, 0);
    assert_int_equal(info.st_gid, 0);
}

/* Only that no other file is touched: what the store itself comes to while a
 * member destroys it is his to choose. */
TEST(hostile_member_reaches_no_other_file)
{
    static const char text[] = "root's own";
    int status, fd;
    pid_t pid;

    needs_root();
    for (size_t form = 0; form < FORM_COUNT; form++) {
        make_shared(form);
        must_do_as(BOB, can_set);
        fd = make_victim(text);
        pid = start_as(BOB, set_traps);
        must_do_as(0, open_again_and_again);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(await_child(pid, &status), pid);
        assert_true(WIFSIGNALED(status));
        expect_untouched(fd, text);
        close(fd);
    }
}
