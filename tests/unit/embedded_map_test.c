/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_map_test.c - other processes write the shared files at any moment:
 * what was read once is what was checked.
 */
#include "embedded_store.h"
#include "open_env.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "engine/commit/tx.h"
#include "engine/wake/ring_read.h"

/* Of the values that a writer puts in turn, while the test runs. */
#define FLIPS 20000u
#define COMMITS 10000

static place at;

typedef struct fixture {
    hf__env *env;
    hf__wake_inbox inbox; /* of at.store */
    pthread_t writer;
    bool stop;
    uint32_t flips;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    const char *id;

    memset(&f, 0, sizeof(f));
    make_place(&at, "volatile", "");
    at.store = must_open(at.url, NULL);
    f.env = open_env(at.url);
    id = hf__embedded_store_ops.inbox(at.store) + strlen("hf:inbox:");
    f.inbox.env = f.env;
    (void)snprintf(f.inbox.id, sizeof(f.inbox.id), "%s", id);
    assert_true(hf__inbox_index(hf_str(id), &f.inbox.index));
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    hf__env_unref(f->env);
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

/* Counts a turn; false: it was the last. */
static bool flipped(fixture *f)
{
    __atomic_add_fetch(&f->flips, 1, __ATOMIC_RELAXED);
    return !__atomic_load_n(&f->stop, __ATOMIC_RELAXED);
}

static bool has_flipped(fixture *f)
{
    return __atomic_load_n(&f->flips, __ATOMIC_RELAXED) >= FLIPS;
}

static void end_writer(fixture *f)
{
    __atomic_store_n(&f->stop, true, __ATOMIC_RELAXED);
    assert_int_equal(pthread_join(f->writer, NULL), 0);
}

/* ------------------------------------------------------------ ids of inboxes
 */

/* As long as an id, with its last digits, and outside the folder of FIFOs. */
static void elsewhere(const fixture *f, char path[HF__INBOX_SIZE + 1])
{
    (void)snprintf(path, HF__INBOX_SIZE + 1, "../elsewhere0%03x",
                   f->inbox.index & 0xfff);
}

static void put_id(fixture *f, const char *id)
{
    hf__inbox_slot *slot = &f->env->sidecar.map->inboxes[f->inbox.index];

    for (size_t i = 0; i < HF__INBOX_SIZE; i++)
        __atomic_store_n(&slot->id[i], id[i], __ATOMIC_RELAXED);
}

static void *flip_id(void *user)
{
    fixture *f = user;
    char path[HF__INBOX_SIZE + 1];

    elsewhere(f, path);
    do {
        put_id(f, f->inbox.id);
        put_id(f, path);
    } while (flipped(f));
    return NULL;
}

static int make_fifo(const fixture *f)
{
    char name[HF__INBOX_SIZE + 1], path[128];

    elsewhere(f, name);
    (void)snprintf(path, sizeof(path), "%s/s/wake", at.folder);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/s/%s", at.folder, name + 3);
    assert_int_equal(mkfifo(path, 0600), 0);
    return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

TEST(an_id_that_changes_names_no_other_file)
{
    fixture *f = *state;
    hf__inbox_slot *slot = &f->env->sidecar.map->inboxes[f->inbox.index];
    const hf__event event = {f->inbox.index, 0};
    int fd = make_fifo(f);
    char byte;

    assert_true(fd >= 0);
    __atomic_store_n(&slot->fifo, 1, __ATOMIC_RELAXED);
    assert_int_equal(pthread_create(&f->writer, NULL, flip_id, f), 0);
    while (!has_flipped(f))
        hf__wake_fire(f->env, &event, 1);
    end_writer(f);
    hf__wake_fire(f->env, &event, 1);
    assert_int_equal(read(fd, &byte, 1), -1);
    close(fd);
    put_id(f, f->inbox.id);
}

/* --------------------------------------------------------- readers of a ring
 */

static void *flip_inbox(void *user)
{
    fixture *f = user;
    hf__ring_slot *slot = &f->env->rings[HF__RING_CHANGES].head->slots[0];

    do {
        __atomic_store_n(&slot->armed, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&slot->inbox, UINT32_MAX - 9, __ATOMIC_RELAXED);
        __atomic_store_n(&slot->inbox, f->inbox.index, __ATOMIC_RELAXED);
    } while (flipped(f));
    return NULL;
}

TEST(an_inbox_that_changes_is_one_in_the_table)
{
    fixture *f = *state;
    int64_t until_ms = hf__clock_boot_ms() + 60000;
    hf__ring_reader reader = {0};

    hf__ring_reader_init(&reader, &f->inbox, HF__RING_CHANGES);
    assert_int_equal(hf__ring_reader_join(&reader, until_ms, NULL), HF_OK);
    assert_int_equal(pthread_create(&f->writer, NULL, flip_inbox, f), 0);
    for (int done = 0; done < COMMITS || !has_flipped(f); done += 100) {
        for (int i = 0; i < 100; i++)
            expect(at.store, "set a b", "+:OK");
        /* Writers may have taken it for dead. */
        hf__ring_reader_leave(&reader);
        assert_int_equal(hf__ring_reader_join(&reader, until_ms, NULL), HF_OK);
    }
    end_writer(f);
    hf__ring_reader_leave(&reader);
    hf__ring_reader_done(&reader);
}
