/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_files_test.c - which URLs, directories and files are taken for a
 * store, and what is said of the others. Nothing that is not ours is changed.
 */
#include "embedded_store.h"

#include <fcntl.h>
#include <lmdb.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "engine/files/files.h"
#include "engine/files/sidecar.h"
#include "support/await_child.h"

static place at;
static char path[512];

static int set_up(void **state)
{
    (void)state;
    make_place(&at, "volatile", "");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

static const char *in_store(const char *name)
{
    (void)snprintf(path, sizeof(path), "%s/s/%s", at.folder, name);
    return path;
}

static void expect_refused(const char *url, hf_status want, const char *part)
{
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;
    hf_status status = open_url(url, NULL, &store, &err);

    if (status != want || strstr(err.message, part) == NULL)
        fail_msg("%s: %d %s", url, status, err.message);
    assert_null(store);
}

static void file_url(char url[256], const char *parameters)
{
    (void)snprintf(url, 256, "file:%s/s%s", at.folder, parameters);
}

/* Make a store with something in it, and close it. */
static void make_store(const char *url)
{
    hf__store *store = must_open(url, NULL);

    expect(store, "set a 1", "+:OK");
    close_store(store);
}

static void write_file(const char *name, const void *data, size_t size)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
    close(fd);
}

static void patch_file(const char *name, long offset, const void *data,
                       size_t size)
{
    int fd = open(name, O_WRONLY);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, data, size, offset), (ssize_t)size);
    close(fd);
}

/* --------------------------------------------------------------------- URLs */

TEST(url_parts_that_mean_nothing_are_refused)
{
    char url[256];

    expect_refused("volatile:a/b", HF_INVALID, "a/b");
    expect_refused("volatile:..", HF_INVALID, "..");
    expect_refused("volatile:a?colour=red", HF_INVALID, "colour");
    expect_refused("volatile:a?durability=commit", HF_INVALID, "durability");
    expect_refused("volatile:a?max_size=1", HF_INVALID, "max_size");
    expect_refused("volatile:a?max_size=many", HF_INVALID, "max_size");
    expect_refused("file:", HF_INVALID, "directory");
    expect_refused("file://host/srv/x", HF_INVALID, "host");
    expect_refused("file:///srv/x?durability=maybe", HF_INVALID, "maybe");
    file_url(url, "/deeper/still");
    expect_refused(url, HF_INVALID, "deeper");
    assert_int_equal(access(in_store(""), F_OK), -1);
}

TEST(file_url_forms_name_one_store)
{
    char url[256], cwd[256];
    hf__store *stores[3];

    assert_non_null(getcwd(cwd, sizeof(cwd)));
    file_url(url, "?durability=commit&max_size=2M");
    stores[0] = must_open(url, NULL);
    expect(stores[0], "set a 1", "+:OK");
    (void)snprintf(url, sizeof(url), "file://%s/s", at.folder);
    stores[1] = must_open(url, NULL);
    expect(stores[1], "get a", "s:1");
    assert_int_equal(chdir(at.folder), 0);
    stores[2] = must_open("file:s", NULL);
    assert_int_equal(chdir(cwd), 0);
    expect(stores[2], "incr a", "i:2");
    close_store(stores[0]);
    expect(stores[1], "get a", "s:2");
    close_store(stores[1]);
    expect(stores[2], "get a", "s:2");
    close_store(stores[2]);
}

TEST(files_are_for_their_owner_only)
{
    static const char *const names[] = {"", HF__FILE_DATA, HF__FILE_LOCK,
                                        HF__FILE_SIDECAR};
    struct stat info;

    make_store(at.url);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(stat(in_store(names[i]), &info), 0);
        assert_int_equal(info.st_mode & 077, 0);
    }
    /* Every byte has its block: no SIGBUS when the file system is full. */
    assert_int_equal(stat(in_store(HF__FILE_DATA), &info), 0);
    assert_true(info.st_blocks * 512 >= info.st_size);
    assert_int_equal(stat(in_store(HF__FILE_LOCK), &info), 0);
    assert_true(info.st_blocks * 512 >= info.st_size);
}

TEST(named_store_needs_a_safe_folder)
{
    char folder[128], url[64];
    hf__store *store;

    (void)snprintf(url, sizeof(url), "volatile:test-%ld", (long)getpid());
    store = must_open(url, NULL);
    expect(store, "set a 1", "+:OK");
    close_store(store);
    (void)snprintf(folder, sizeof(folder), "/dev/shm/holdfast-%lu/test-%ld",
                   (unsigned long)geteuid(), (long)getpid());
    assert_int_equal(chmod(folder, 0770), 0);
    expect_refused(url, HF_DENIED, "writable by others");
    assert_int_equal(chmod(folder, 0700), 0);
    (void)remove_tree(folder);
    assert_int_equal(symlink(at.folder, folder), 0);
    expect_refused(url, HF_DENIED, "not a directory");
    assert_int_equal(unlink(folder), 0);
}

/* ------------------------------------------------------------ other people's
 */

TEST(other_files_are_left_alone)
{
    char url[256];

    file_url(url, "");
    (void)snprintf(path, sizeof(path), "%s/s", at.folder);
    write_file(path, "text", 4);
    expect_refused(url, HF_INVALID, "not a directory");
    expect_refused(at.url, HF_INVALID, "not a directory");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    write_file(in_store("notes"), "text", 4);
    expect_refused(url, HF_INVALID, "other files");
    expect_refused(at.url, HF_INVALID, "other files");
    assert_int_equal(access(in_store(HF__FILE_DATA), F_OK), -1);
    assert_int_equal(access(in_store(HF__FILE_SIDECAR), F_OK), -1);
}

TEST(foreign_lmdb_is_left_alone)
{
    struct stat before, after;
    MDB_txn *txn;
    MDB_dbi dbi;
    char name[] = "key";
    MDB_val key = {3, name}, value = key;

    assert_int_equal(mkdir(in_store(""), 0700), 0);
    txn = begin_raw(in_store(""), &dbi);
    assert_int_equal(mdb_put(txn, dbi, &key, &value, 0), 0);
    commit_raw(txn);
    assert_int_equal(stat(in_store(HF__FILE_DATA), &before), 0);
    expect_refused(at.url, HF_INVALID, "not a holdfast store");
    assert_int_equal(stat(in_store(HF__FILE_DATA), &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    assert_int_equal(access(in_store(HF__FILE_SIDECAR), F_OK), -1);
}

TEST(modes_are_not_mixed)
{
    char url[256];

    file_url(url, "");
    make_store(url);
    expect_refused(at.url, HF_INVALID, "commit), not volatile");
    at.store = must_open(url, NULL);
    expect_refused(at.url, HF_INVALID, "commit), not volatile");
}

/* --------------------------------------------------------------- damaged ones
 */

TEST(damaged_files_are_errors)
{
    static unsigned char noise[65536];
    uint32_t newer = 99;

    for (size_t i = 0; i < sizeof(noise); i++)
        noise[i] = (unsigned char)(i * 7 % 251);
    make_store(at.url);
    assert_int_equal(truncate(in_store(HF__FILE_DATA), 8192), 0);
    expect_refused(at.url, HF_CORRUPT, "truncated");
    assert_int_equal(truncate(in_store(HF__FILE_DATA), 0), 0);
    expect_refused(at.url, HF_INVALID, "not an LMDB file");
    write_file(in_store(HF__FILE_DATA), noise, sizeof(noise));
    expect_refused(at.url, HF_INVALID, "not an LMDB file");
    assert_int_equal(unlink(in_store(HF__FILE_DATA)), 0);
    expect_refused(at.url, HF_CORRUPT, "missing");
    write_file(in_store(HF__FILE_SIDECAR), noise, sizeof(noise));
    expect_refused(at.url, HF_CORRUPT, "sidecar");

    remove_place(&at);
    make_place(&at, "volatile", "");
    make_store(at.url);
    patch_file(in_store(HF__FILE_SIDECAR), 8, &newer, sizeof(newer));
    expect_refused(at.url, HF_UNSUPPORTED, "newer");
    newer = 1;
    patch_file(in_store(HF__FILE_SIDECAR), 8, &newer, sizeof(newer));
    assert_int_equal(truncate(in_store(HF__FILE_SIDECAR), 100), 0);
    expect_refused(at.url, HF_CORRUPT, "sidecar");
}

/* Overwrite each of the first pages in turn: opening and reading must say so
 * or work, in a child that would tell by its death. */
TEST(damaged_pages_do_not_crash_opening)
{
    static unsigned char noise[4096];
    char url[256];

    for (size_t i = 0; i < sizeof(noise); i++)
        noise[i] = (unsigned char)(i * 13 % 253);
    for (long page = 0; page < 8; page++) {
        int status;
        pid_t pid;

        remove_place(&at);
        make_place(&at, "volatile", "");
        file_url(url, "");
        make_store(url);
        patch_file(in_store(HF__FILE_DATA), page * 4096, noise, sizeof(noise));
        pid = fork();
        if (pid == 0) {
            hf_error err = HF_ERROR_INIT;
            hf__store *store;

            _exit(open_url(url, NULL, &store, &err) == HF_NO_MEMORY);
        }
        assert_int_equal(await_child(pid, &status), pid);
        assert_int_equal(status, 0);
    }
}

/* A durable store may be put back from a copy, sidecar or not. */
TEST(copied_store_is_adopted)
{
    char url[256], command_line[768];

    file_url(url, "");
    make_store(url);
    (void)snprintf(command_line, sizeof(command_line),
                   "cd %s && cp -r s copy && rm -rf s && mv copy s", at.folder);
    assert_int_equal(system(command_line), 0);
    at.store = must_open(url, NULL);
    expect(at.store, "get a", "s:1");
    close_store(at.store);
    at.store = NULL;
    assert_int_equal(unlink(in_store(HF__FILE_SIDECAR)), 0);
    at.store = must_open(url, NULL);
    expect(at.store, "get a", "s:1");
}

/* Making the sidecar may be cut short; durable data is kept all the same. */
TEST(half_made_sidecar_keeps_the_data)
{
    char url[256];

    file_url(url, "");
    make_store(url);
    for (uint32_t half = HF__SIDECAR_CREATING; half < HF__SIDECAR_READY;
         half++) {
        patch_file(in_store(HF__FILE_SIDECAR),
                   (long)offsetof(hf__sidecar_map, state), &half, sizeof(half));
        at.store = must_open(url, NULL);
        expect(at.store, "get a", "s:1");
        close_store(at.store);
        at.store = NULL;
    }
}

/* Programs that the caller starts get none of our descriptors. */
TEST(descriptors_are_closed_on_exec)
{
    const char *schemes[] = {"volatile", "file"};

    for (size_t i = 0; i < 2; i++) {
        char link[64], target[256];

        remove_place(&at);
        make_place(&at, schemes[i], "");
        at.store = must_open(at.url, NULL);
        for (int fd = 0; fd < 64; fd++) {
            ssize_t size;

            (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
            size = readlink(link, target, sizeof(target) - 1);
            if (size < 0)
                continue;
            target[size] = '\0';
            if (strncmp(target, at.folder, strlen(at.folder)) == 0 &&
                (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0)
                fail_msg("%s stays open", target);
        }
    }
}

/* A volatile store of an unknown boot is neither trusted nor discarded. */
TEST(volatile_store_without_sidecar_is_refused)
{
    make_store(at.url);
    assert_int_equal(unlink(in_store(HF__FILE_SIDECAR)), 0);
    expect_refused(at.url, HF_CORRUPT, "boot");
    assert_int_equal(access(in_store(HF__FILE_DATA), F_OK), 0);
}

TEST(files_replaced_in_use_are_noticed)
{
    int status;
    pid_t pid;

    at.store = must_open(at.url, NULL);
    expect(at.store, "set a 1", "+:OK");
    assert_int_equal(unlink(in_store(HF__FILE_LOCK)), 0);
    pid = fork();
    if (pid == 0) {
        hf_error err = HF_ERROR_INIT;
        hf__store *store;

        _exit(open_url(at.url, NULL, &store, &err) != HF_CORRUPT);
    }
    assert_int_equal(await_child(pid, &status), pid);
    assert_int_equal(status, 0);
    assert_int_equal(unlink(in_store(HF__FILE_SIDECAR)), 0);
    expect(at.store, "get a", "s:1");
}

/* Make the store one that was used in another boot. */
static void age_sidecar(void)
{
    static hf__sidecar_map map;
    int fd = open(in_store(HF__FILE_SIDECAR), O_RDONLY);

    assert_true(fd >= 0);
    assert_int_equal(read(fd, &map, sizeof(map)), (ssize_t)sizeof(map));
    close(fd);
    map.boot_id[0] ^= 1;
    map.head_sum = hf__sidecar_head_sum(&map);
    patch_file(in_store(HF__FILE_SIDECAR), 0, &map, sizeof(map));
}

/* What a volatile store held before the machine was booted is gone, what a
 * durable one held is not. */
TEST(reboot_empties_volatile_stores_only)
{
    char url[256];

    make_store(at.url);
    age_sidecar();
    at.store = must_open(at.url, NULL);
    expect(at.store, "dbsize", "i:0");
    remove_place(&at);
    make_place(&at, "file", "");
    file_url(url, "");
    make_store(url);
    age_sidecar();
    at.store = must_open(url, NULL);
    expect(at.store, "get a", "s:1");
}

/* ----------------------------------------------------------------- permission
 */

TEST(denied_directory_is_denied)
{
    int status;
    pid_t pid;

    make_store(at.url);
    if (geteuid() != 0) {
        assert_int_equal(chmod(in_store(""), 0), 0);
        expect_refused(at.url, HF_DENIED, "denied");
        assert_int_equal(chmod(in_store(""), 0700), 0);
        return;
    }
    pid = fork();
    if (pid == 0) {
        hf_error err = HF_ERROR_INIT;
        hf__store *store;

        if (setuid(65534) != 0)
            _exit(2);
        _exit(open_url(at.url, NULL, &store, &err) != HF_DENIED);
    }
    assert_int_equal(await_child(pid, &status), pid);
    assert_int_equal(status, 0);
}

/* Eight processes open, use and close at once. */
TEST(many_may_open_at_once)
{
    pid_t pids[8];

    for (size_t i = 0; i < 8; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            for (int round = 0; round < 50; round++) {
                hf__store *store = must_open(at.url, NULL);
                char text[TEXT_SIZE];

                if (command(store, "incr n", text) != HF_OK)
                    _exit(1);
                close_store(store);
            }
            _exit(0);
        }
    }
    for (size_t i = 0; i < 8; i++) {
        int status;

        assert_int_equal(await_child(pids[i], &status), pids[i]);
        assert_int_equal(status, 0);
    }
    at.store = must_open(at.url, NULL);
    expect(at.store, "get n", "s:400");
}

/* ------------------------------------------------------- use without others */

#define RING_SIZE (sizeof(((hf__sidecar_map *)NULL)->inboxes))

/* Of `inboxes`, the whole pages: from the first on. */
static unsigned char *whole_pages(hf__sidecar_map *map, size_t *size)
{
    uintptr_t from = ((uintptr_t)map->inboxes + 4095) / 4096 * 4096;
    uintptr_t to = ((uintptr_t)map->inboxes + RING_SIZE) / 4096 * 4096;

    *size = to - from;
    return (unsigned char *)map->inboxes + (from - (uintptr_t)map->inboxes);
}

/* All but the first two are 0, and may not be written. */
TEST(first_process_clears_what_is_not_zero_and_writes_nothing_else)
{
    static const hf__event_text no_text;
    hf__sidecar_map *map = mmap(NULL, sizeof(*map), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *pages;
    size_t size;

    assert_true(map != MAP_FAILED);
    map->version = HF__SIDECAR_VERSION;
    memset(map->buckets, 0xff, sizeof(map->buckets));
    memset(map->texts, 0xff, sizeof(map->texts));
    pages = whole_pages(map, &size);
    assert_true(size >= 3 * 4096);
    pages[0] = pages[4095] = 1;
    assert_int_equal(mprotect(pages + 8192, size - 8192, PROT_READ), 0);
    hf__sidecar_reset(map);
    for (size_t i = 0; i < sizeof(map->buckets); i++)
        assert_int_equal(((const unsigned char *)map->buckets)[i], 0);
    for (size_t i = 0; i < RING_SIZE; i++)
        assert_int_equal(((const unsigned char *)map->inboxes)[i], 0);
    for (size_t i = 0; i < HF__BUCKET_MAX; i++)
        assert_memory_equal(&map->texts[i], &no_text, sizeof(no_text));
    munmap(map, sizeof(*map));
}
