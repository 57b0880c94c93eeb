/* SPDX-License-Identifier: Apache-2.0 */
/* rand_test.c - random bytes: well formed, and never repeated. */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/await_child.h"
#include "support/test.h"
#include "util/fork.h"
#include "util/rand.h"

TEST(rand_hex_is_lower_case_and_terminated)
{
    char text[2 * 100 + 2];

    for (size_t size = 0; size <= 100; size++) {
        memset(text, '!', sizeof(text));
        hf__rand_hex(text, size);
        assert_int_equal(strspn(text, "0123456789abcdef"), 2 * size);
        assert_int_equal(text[2 * size], '\0');
        assert_int_equal(text[2 * size + 1], '!');
    }
}

TEST(rand_bytes_fill_every_size_and_no_more)
{
    unsigned char bytes[1001];

    /* A byte that is zero in 20 fills was almost certainly not written
     * (2^-160). */
    for (size_t size = 0; size <= 1000; size += size < 300 ? 1 : 100) {
        unsigned char seen[1000] = {0};

        bytes[size] = 0x5a;
        for (int fill = 0; fill < 20; fill++) {
            hf__rand_bytes(bytes, size);
            for (size_t i = 0; i < size; i++)
                seen[i] |= bytes[i];
        }
        for (size_t i = 0; i < size; i++)
            assert_true(seen[i] != 0);
        assert_int_equal(bytes[size], 0x5a);
    }
}

TEST(rand_between_includes_both_ends)
{
    unsigned seen = 0;

    for (int i = 0; i < 1000; i++) {
        int64_t number = hf__rand_between(-2, 2);

        assert_in_range(number + 2, 0, 4);
        seen |= 1u << (number + 2);
    }
    assert_int_equal(seen, 31);
    assert_int_equal(hf__rand_between(7, 7), 7);
    (void)hf__rand_between(INT64_MIN, INT64_MAX);
}

TEST(rand_child_draws_other_bytes_than_its_parent)
{
    unsigned char first, ours[16], theirs[16];
    int fds[2];
    int child_status;
    pid_t child;

    hf__rand_bytes(&first, 1); /* the pool is filled now */
    assert_int_equal(pipe(fds), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        hf__rand_bytes(theirs, sizeof(theirs));
        _exit(write(fds[1], theirs, sizeof(theirs)) == sizeof(theirs) ? 0 : 1);
    }
    hf__rand_bytes(ours, sizeof(ours));
    assert_int_equal(read(fds[0], theirs, sizeof(theirs)), sizeof(theirs));
    assert_memory_not_equal(ours, theirs, sizeof(ours));
    assert_int_equal(await_child(child, &child_status), child);
    assert_int_equal(child_status, 0);
    close(fds[0]);
    close(fds[1]);
}

static void *draw(void *user)
{
    hf__rand_bytes(user, 16);
    return NULL;
}

TEST(rand_threads_draw_different_bytes)
{
    unsigned char bytes[2][16];
    pthread_t threads[2];

    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, draw, bytes[i]), 0);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_memory_not_equal(bytes[0], bytes[1], 16);
}

TEST(fork_generation_counts_the_forks)
{
    uint32_t before = hf__fork_generation();
    int child_status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0)
        _exit((int)(hf__fork_generation() - before));
    assert_int_equal(await_child(child, &child_status), child);
    assert_true(WIFEXITED(child_status));
    assert_int_equal(WEXITSTATUS(child_status), 1);
    assert_int_equal(hf__fork_generation(), before);
}
