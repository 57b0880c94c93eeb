/* SPDX-License-Identifier: Apache-2.0 */
/* power_image.c - see power_image.h. */
#include "power_image.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "engine/commit/flush_state.h"
#include "util/crc32c.h"
#include "util/mem.h"
#include "util/rand.h"

#define PAGE 4096u

/* A slot of the checkpoint file, as checkpoint.c lays it out. */
enum { SLOT_SIZE = 4096, AT_BOOT_ID = 24, AT_SUM = 24 + 40 + 152 };

void image_path(const place *at, const char *store, const char *name,
                char path[160])
{
    (void)snprintf(path, 160, "%s/%s/%s", at->folder, store, name);
}

/* ------------------------------------------------------------------ files */

image_file image_read(const char *path)
{
    image_file what;
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &info), 0);
    what.size = (size_t)info.st_size;
    what.data = hf__alloc(what.size);
    assert_int_equal(read(fd, what.data, what.size), what.size);
    close(fd);
    return what;
}

void image_write(const char *path, const image_file *what)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, what->data, what->size), what->size);
    close(fd);
}

/* As if they had been written before the machine was started. */
static void age_slots(image_file *file)
{
    uint32_t sum;

    for (size_t at = 0; at < file->size; at += SLOT_SIZE) {
        unsigned char *slot = file->data + at;

        if (memcmp(slot, "HFCHECK\n", 8) != 0)
            continue;
        slot[AT_BOOT_ID] = 'x';
        sum = hf__crc32c(0, slot, AT_SUM);
        memcpy(slot + AT_SUM, &sum, sizeof(sum));
    }
}

uint64_t image_newest_txn(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    hf__checkpoint newest = {0};
    bool same_boot;

    assert_true(fd >= 0);
    assert_int_equal(hf__checkpoint_newest(fd, &newest, &same_boot, NULL),
                     HF_OK);
    close(fd);
    return newest.txn;
}

/* Which of the pages that differ reach the disk, and how. */
static void cut_power(image_file *now, const image_file *synced)
{
    for (size_t at = 0; at < now->size; at += PAGE) {
        unsigned char *page = now->data + at;
        bool same = at + PAGE <= synced->size &&
                    memcmp(page, synced->data + at, PAGE) == 0;
        int64_t chance = hf__rand_between(0, 2);

        if (same || chance == 0)
            continue;
        if (chance == 1 && at + PAGE <= synced->size)
            memcpy(page, synced->data + at, PAGE);
        else
            hf__rand_bytes(page, PAGE);
    }
}

/* The files of the store as a power cut would leave them, in the folder
 * "image". */
void image_make(const place *at, const image_file *synced, bool sidecar)
{
    static const char *const kept[] = {"checkpoint", "sidecar", "redo"};
    image_file file;
    char path[160];

    (void)snprintf(path, sizeof(path), "%s/image", at->folder);
    assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
    image_path(at, "image", "lock.mdb", path);
    (void)unlink(path);
    image_path(at, "s", "data.mdb", path);
    file = image_read(path);
    cut_power(&file, synced);
    image_path(at, "image", "data.mdb", path);
    image_write(path, &file);
    hf__free(file.data);
    for (size_t i = 0; i < 3; i++) {
        image_path(at, "s", kept[i], path);
        if (access(path, F_OK) != 0)
            continue;
        file = image_read(path);
        if (i == 0)
            age_slots(&file);
        image_path(at, "image", kept[i], path);
        (void)unlink(path);
        if (i != 1 || sidecar)
            image_write(path, &file);
        hf__free(file.data);
    }
}

/* --------------------------------------------------------------- power cut */

void image_change(hf__store *store, int round)
{
    char text[TEXT_SIZE];
    char line[256];

    for (int i = 0; i < 60; i++) {
        (void)snprintf(line, sizeof(line), "set k%d %d", i % 17, round);
        expect(store, line, "+:OK");
        (void)snprintf(line, sizeof(line), "setrange large%d %d %d", i % 5,
                       1000 * (int)hf__rand_between(0, 19), round);
        (void)command(store, line, text);
        (void)snprintf(line, sizeof(line), "hset h%d f%d %d", i % 3,
                       (int)hf__rand_between(0, 399), round);
        (void)command(store, line, text);
        if (i % 20 == 7) {
            (void)snprintf(line, sizeof(line), "del large%d h%d", i % 5, i % 3);
            (void)command(store, line, text);
        }
    }
    (void)snprintf(line, sizeof(line), "set round %d", round);
    expect(store, line, "+:OK");
}

/* Everything, as text that can be compared. */
void image_describe(hf__store *store, char text[TEXT_SIZE])
{
    static const char source[] =
        "local keys = redis.call('keys', '*') table.sort(keys) local s = ''"
        "for _, k in ipairs(keys) do local t = redis.call('type', k).ok "
        "if t == 'string' then s = s .. k .. redis.call('get', k) else "
        "local f = redis.call('hkeys', k) table.sort(f) for _, n in ipairs(f) "
        "do s = s .. k .. n .. redis.call('hget', k, n) end end end "
        "return redis.sha1hex(s)";

    assert_int_equal(evaluate(store, source, 0, "", text), HF_OK);
}

/* Have no other checkpoint made until the next that is asked for. */
void image_hold(hf__env *env)
{
    assert_int_equal(hf__env_lock(env, INT64_MAX, NULL), HF_OK);
    env->sidecar.map->flush.unsynced_ms = INT64_MAX / 2;
    env->sidecar.map->flush.claimed_ms = INT64_MAX / 2;
    hf__env_unlock(env);
}
