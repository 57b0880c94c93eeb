/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_clock_test.c - the store's clock: what is left of a step of the
 * system's clock, in this boot and after it; stores of an earlier version of
 * the sidecar; time namespaces.
 */
#include "embedded_store.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "engine/commit/flush_state.h"
#include "engine/files/files.h"
#include "engine/files/sidecar.h"
#include "support/await_child.h"
#include "support/wall_clock.h"

#define HOUR_MS INT64_C(3600000)
/* More than the two clocks of a test may differ by chance. */
#define NEAR_MS INT64_C(60000)

static const char *const schemes[] = {"volatile", "file"};
static wall_clock *ours;
static place at;

static int set_up(void **state)
{
    (void)state;
    ours = wall_clock_new();
    wall_clock_keep(ours);
    return ours == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    remove_place(&at);
    wall_clock_keep(NULL);
    wall_clock_free(ours);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

static void begin(const char *scheme)
{
    make_place(&at, scheme, "?max_size=4M");
    at.store = must_open(at.url, NULL);
}

static void again(void)
{
    close_store(at.store);
    at.store = must_open(at.url, NULL);
}

static void finish(void)
{
    remove_place(&at);
    at.store = NULL;
}

/* The reply to a command, an integer. */
static int64_t number(const char *line)
{
    char text[TEXT_SIZE];

    assert_int_equal(command(at.store, line, text), HF_OK);
    assert_memory_equal(text, "i:", 2);
    return strtoll(text + 2, NULL, 10);
}

static int64_t time_ms(void)
{
    char text[TEXT_SIZE];

    assert_int_equal(command(at.store, "time", text), HF_OK);
    assert_memory_equal(text, "[s:", 3);
    return strtoll(text + 3, NULL, 10) * 1000;
}

static void set_until(int64_t unix_ms)
{
    char line[64];

    (void)snprintf(line, sizeof(line), "set a 1 pxat %" PRId64, unix_ms);
    expect(at.store, line, "+:OK");
}

/* The value of set_until() is there, with about that much to live. */
static void assert_left(int64_t want_ms)
{
    assert_in_range(number("pttl a"), want_ms - NEAR_MS, want_ms);
}

/* ---------------------------------------------------------- the sidecar file
 */

static FILE *open_sidecar(const char *mode)
{
    char path[256];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/s/" HF__FILE_SIDECAR, at.folder);
    file = fopen(path, mode);
    assert_non_null(file);
    return file;
}

static void read_sidecar(hf__sidecar_map *map)
{
    FILE *file = open_sidecar("r");

    memset(map, 0, sizeof(*map));
    assert_true(fread(map, 1, sizeof(*map), file) > 0);
    (void)fclose(file);
}

/* In place, as its inode is known. */
static void write_sidecar(const hf__sidecar_map *map, size_t size)
{
    FILE *file = open_sidecar("r+");

    assert_int_equal(ftruncate(fileno(file), (off_t)size), 0);
    assert_int_equal(fwrite(map, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void reboot(void)
{
    static hf__sidecar_map map;

    close_store(at.store);
    read_sidecar(&map);
    map.boot_id[0] ^= 1;
    map.head_sum = hf__sidecar_head_sum(&map);
    write_sidecar(&map, sizeof(map));
    at.store = must_open(at.url, NULL);
}

/* As an earlier version of the library made it. */
static void age_to(uint32_t earlier)
{
    static hf__sidecar_map map;
    const size_t sizes[] = {0, offsetof(hf__sidecar_map, unix_ahead_ms),
                            offsetof(hf__sidecar_map, texts),
                            offsetof(hf__sidecar_map, front)};
    size_t size = earlier < 4 ? sizes[earlier] : sizeof(hf__sidecar_map);

    close_store(at.store);
    at.store = NULL;
    read_sidecar(&map);
    map.version = earlier;
    map.map_size = (uint32_t)size;
    map.head_sum = hf__sidecar_head_sum(&map);
    write_sidecar(&map, size);
}

static void age(void)
{
    age_to(1);
}

static uint32_t version(void)
{
    static hf__sidecar_map map;

    read_sidecar(&map);
    return map.version;
}

/* -------------------------------------------------------------------- steps */

TEST(step_moves_neither_time_nor_deadlines)
{
    for (size_t i = 0; i < 4; i++) {
        int64_t step_ms = i % 2 == 0 ? HOUR_MS : -HOUR_MS, began_ms;

        begin(schemes[i / 2]);
        began_ms = time_ms();
        set_until(began_ms + 10 * HOUR_MS);
        wall_clock_step(ours, step_ms);
        for (int round = 0; round < 2; round++) {
            assert_in_range(time_ms(), began_ms, began_ms + NEAR_MS);
            assert_left(10 * HOUR_MS);
            assert_int_equal(number("pexpiretime a"), began_ms + 10 * HOUR_MS);
            again();
        }
        finish();
    }
}

static int open_and_compare(int64_t began_ms)
{
    at.store = must_open(at.url, NULL);
    assert_in_range(time_ms(), began_ms, began_ms + NEAR_MS);
    assert_left(10 * HOUR_MS);
    return 0;
}

TEST(processes_share_the_clock)
{
    for (size_t i = 0; i < 2; i++) {
        int64_t began_ms;
        int status;
        pid_t pid;

        begin(schemes[i]);
        began_ms = time_ms();
        set_until(began_ms + 10 * HOUR_MS);
        wall_clock_step(ours, -HOUR_MS);
        pid = fork();
        if (pid == 0)
            _exit(open_and_compare(began_ms));
        assert_int_equal(await_child(pid, &status), pid);
        assert_int_equal(status, 0);
        finish();
    }
}

/* A reboot takes the clock of the system, so deadlines move by all the steps
 * since the last one. */
TEST(reboot_counts_by_the_clock_of_the_system)
{
    begin("file");
    set_until(time_ms() + 10 * HOUR_MS);
    wall_clock_step(ours, HOUR_MS);
    assert_left(10 * HOUR_MS);
    reboot();
    assert_left(9 * HOUR_MS);
    wall_clock_step(ours, -3 * HOUR_MS);
    assert_left(9 * HOUR_MS);
    reboot();
    assert_left(12 * HOUR_MS);
    wall_clock_step(ours, 20 * HOUR_MS);
    assert_left(12 * HOUR_MS);
    reboot();
    expect(at.store, "get a", "nil");
}

/* What docs/explanation/durability.md says to do about a clock that is days
 * behind. */
TEST(without_its_sidecar_a_file_counts_by_the_clock_of_the_system)
{
    char path[256];

    begin("file");
    set_until(time_ms() + 10 * HOUR_MS);
    wall_clock_step(ours, HOUR_MS);
    close_store(at.store);
    (void)snprintf(path, sizeof(path), "%s/s/" HF__FILE_SIDECAR, at.folder);
    assert_int_equal(unlink(path), 0);
    at.store = must_open(at.url, NULL);
    assert_left(9 * HOUR_MS);
}

/* A script that was late in reading TIME computes its deadlines from it. */
TEST(time_and_deadlines_of_a_script_are_of_one_millisecond)
{
    static const char late[] =
        "local n = 0 for i = 1, 3000000 do n = n + 1 end "
        "redis.call('set', 'a', '1', 'px', 1000) "
        "local now = redis.call('time') "
        "return now[1] * 1000 + math.floor(now[2] / 1000) + 1000 - "
        "redis.call('pexpiretime', 'a')";

    for (size_t i = 0; i < 2; i++) {
        char text[TEXT_SIZE];

        begin(schemes[i]);
        assert_int_equal(evaluate(at.store, late, 0, "", text), HF_OK);
        assert_string_equal(text, "i:0");
        finish();
    }
}

/* --------------------------------------------------------- earlier versions */

TEST(sidecar_of_version_1_is_replaced)
{
    for (size_t i = 0; i < 2; i++) {
        begin(schemes[i]);
        set_until(time_ms() + 10 * HOUR_MS);
        age();
        assert_int_equal(version(), 1);
        at.store = must_open(at.url, NULL);
        assert_int_equal(version(), HF__SIDECAR_VERSION);
        expect(at.store, "get a", "s:1");
        wall_clock_step(ours, HOUR_MS);
        assert_left(10 * HOUR_MS);
        finish();
    }
}

/* A program with the earlier library: it has the lock that proves that it has
 * the store open. */
static pid_t start_earlier_program(void)
{
    char path[256];
    char byte = 0;
    int ready[2];
    pid_t pid;

    (void)snprintf(path, sizeof(path), "%s/s/" HF__FILE_DATA, at.folder);
    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        if (flock(open(path, O_RDONLY), LOCK_SH) != 0 ||
            write(ready[1], "", 1) != 1)
            _exit(1);
        (void)pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

/* All must agree when a lease ends: by the clock that the earlier program
 * reads. */
TEST(sidecar_of_version_1_is_shared_as_it_is)
{
    for (size_t i = 0; i < 2; i++) {
        int64_t moved_ms = i == 0 ? 0 : HOUR_MS, began_ms;
        int status;
        pid_t pid;

        begin(schemes[i]);
        began_ms = time_ms();
        set_until(began_ms + 10 * HOUR_MS);
        age();
        pid = start_earlier_program();
        at.store = must_open(at.url, NULL);
        wall_clock_step(ours, HOUR_MS);
        assert_in_range(time_ms(), began_ms + HOUR_MS,
                        began_ms + HOUR_MS + NEAR_MS);
        assert_left(10 * HOUR_MS - moved_ms);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(await_child(pid, &status), pid);
        again();
        assert_int_equal(version(), HF__SIDECAR_VERSION);
        assert_left(10 * HOUR_MS - moved_ms);
        finish();
    }
}

/* They have a clock, but version 2 has no room for what events say. */
TEST(later_sidecars_are_shared_as_they_are)
{
    for (size_t i = 0; i < 8; i++) {
        char text[HF__STORE_TEXT_MAX], reply[TEXT_SIZE];
        uint32_t earlier = 2 + (uint32_t)i / 2;
        int status;
        pid_t pid;

        begin(schemes[i % 2]);
        set_until(time_ms() + 10 * HOUR_MS);
        age_to(earlier);
        pid = start_earlier_program();
        at.store = must_open(at.url, NULL);
        wall_clock_step(ours, HOUR_MS);
        assert_left(10 * HOUR_MS);
        assert_int_equal(
            evaluate(at.store, "return redis.call('publish', ARGV[1], 'x\\0a')",
                     0, hf__embedded_store_ops.inbox(at.store), reply),
            HF_OK);
        assert_string_equal(reply, "i:1");
        assert_int_equal(
            hf__embedded_store_ops.event_text(at.store, hf_str("a"), text),
            earlier == 2 ? 0 : 1);
        assert_int_equal(version(), earlier);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(await_child(pid, &status), pid);
        again();
        assert_int_equal(version(), HF__SIDECAR_VERSION);
        assert_left(10 * HOUR_MS);
        finish();
    }
}

TEST(damaged_clock_is_an_error)
{
    static hf__sidecar_map map;
    hf_error err = HF_ERROR_INIT;
    hf__store *store;

    begin("file");
    close_store(at.store);
    at.store = NULL;
    read_sidecar(&map);
    map.unix_ahead_ms ^= 1 << 20;
    write_sidecar(&map, sizeof(map));
    assert_int_equal(open_url(at.url, NULL, &store, &err), HF_CORRUPT);
    assert_non_null(strstr(err.message, "the sidecar is damaged"));
}

/* --------------------------------------------------------------- read-only */

enum { NOT_ALLOWED = 3 };

/* The result of a child that needs a namespace. */
static void expect_success(pid_t pid)
{
    int status;

    assert_int_equal(await_child(pid, &status), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_ALLOWED) {
        print_message("needs leave to make a namespace\n");
        skip();
    }
    assert_int_equal(status, 0);
}

static bool make_read_only(void)
{
    return unshare(CLONE_NEWNS) == 0 &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount(at.folder, at.folder, NULL, MS_BIND, NULL) == 0 &&
           mount(NULL, at.folder, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY,
                 NULL) == 0;
}

TEST(reader_of_a_read_only_store_has_the_same_clock)
{
    for (size_t i = 0; i < 2; i++) {
        int64_t began_ms;
        pid_t pid;

        begin(schemes[i]);
        began_ms = time_ms();
        set_until(began_ms + 10 * HOUR_MS);
        close_store(at.store);
        at.store = NULL;
        wall_clock_step(ours, HOUR_MS);
        pid = fork();
        if (pid == 0)
            _exit(make_read_only() ? open_and_compare(began_ms) : NOT_ALLOWED);
        expect_success(pid);
        finish();
    }
}

/* ---------------------------------------------------------- time namespaces */

/* Children of this process get a CLOCK_BOOTTIME that is hours ahead. */
static bool leave_time(void)
{
    static const char offset[] = "boottime 36000 0";
    int fd;

    if (unshare(CLONE_NEWTIME) != 0 &&
        unshare(CLONE_NEWUSER | CLONE_NEWTIME) != 0)
        return false;
    fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, offset, strlen(offset)) > 0;
}

static int compare_elsewhere(int64_t began_ms)
{
    int64_t before_ms = hf__clock_boot_ms();
    int status;
    pid_t pid;

    if (!leave_time())
        return NOT_ALLOWED;
    pid = fork();
    if (pid == 0) {
        assert_true(hf__clock_boot_ms() >= before_ms + 36000000);
        _exit(open_and_compare(began_ms));
    }
    assert_int_equal(await_child(pid, &status), pid);
    return status;
}

TEST(time_namespace_has_the_same_clock)
{
    for (size_t i = 0; i < 2; i++) {
        int64_t began_ms;
        pid_t pid;

        begin(schemes[i]);
        began_ms = time_ms();
        set_until(began_ms + 10 * HOUR_MS);
        pid = fork();
        if (pid == 0)
            _exit(compare_elsewhere(began_ms));
        expect_success(pid);
        finish();
    }
}

static int write_elsewhere(void)
{
    int status;
    pid_t pid;

    if (!leave_time())
        return NOT_ALLOWED;
    pid = fork();
    if (pid == 0) {
        expect(must_open(at.url, NULL), "set a 1", "+:OK");
        _exit(raise(SIGKILL)); /* before its own checkpoint */
    }
    assert_int_equal(await_child(pid, &status), pid);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : 1;
}

static bool awaits_checkpoint(hf__env *env)
{
    bool awaits;

    assert_int_equal(hf__env_lock(env, hf__clock_boot_ms() + 5000, NULL),
                     HF_OK);
    awaits = env->sidecar.map->flush.unsynced_ms != 0;
    hf__env_unlock(env);
    return awaits;
}

TEST(commit_in_a_time_namespace_is_synced_by_others)
{
    int64_t began_ms;
    hf__env *env;
    pid_t pid;

    make_place(&at, "file", "?durability=flush&max_size=4M");
    at.store = must_open(at.url, NULL);
    env = hf__embedded_env(at.store);
    expect(at.store, "set a 0", "+:OK");
    assert_int_equal(
        hf__flush_checkpoint(env, UINT64_MAX, false, INT64_MAX, NULL), HF_OK);
    assert_false(awaits_checkpoint(env));
    pid = fork();
    if (pid == 0)
        _exit(write_elsewhere());
    expect_success(pid);
    began_ms = hf__clock_boot_ms();
    while (awaits_checkpoint(env) &&
           hf__clock_boot_ms() < began_ms + slowed_ms(5000))
        hf__clock_sleep_until(hf__clock_boot_ms() + 10);
    assert_false(awaits_checkpoint(env));
}
