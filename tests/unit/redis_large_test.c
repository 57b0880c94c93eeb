/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_large_test.c - large values by a server: what is allocated for them,
 * which is what they are copied to, and whose memory is sent.
 */
#include "redis_driver.h"

#include <unistd.h>

#include "holdfast/client.h"
#include "holdfast/hash.h"
#include "holdfast/value.h"
#include "support/slowness.h"
#include "util/mem.h"

#define LARGE ((size_t)8 << 20)
#define MANY_ALLOCATIONS 100000

typedef struct large_fixture {
    redis_server *server;
    hf_client *client;
    char *value;
} large_fixture;

static int set_up(void **state)
{
    static large_fixture self;
    hf_error err = HF_ERROR_INIT;

    self.server = redis_server_start(NULL);
    if (self.server == NULL ||
        hf_client_open(redis_server_tcp_url(self.server), NULL, &self.client,
                       &err) != HF_OK)
        return -1;
    self.value = malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++)
        self.value[i] = (char)(i * 31 + i / 4096);
    *state = &self;
    return 0;
}

static int tear_down(void **state)
{
    large_fixture *self = *state;

    hf_client_close(self->client);
    redis_server_stop(self->server);
    free(self->value);
    return 0;
}

ALL_TESTS_WITH(set_up, tear_down);

typedef void work_fn(large_fixture *self, size_t size);

/* How often memory is allocated by it. */
static long count_allocations(work_fn *work, large_fixture *self, size_t size)
{
    work(self, size); /* buffers grow once */
    (void)hf__alloc_fail_after(MANY_ALLOCATIONS);
    work(self, size);
    return MANY_ALLOCATIONS - hf__alloc_fail_after(-1);
}

/* A copy of a large value would be an allocation more. */
static void assert_same_allocations(work_fn *work, large_fixture *self)
{
    assert_int_equal(count_allocations(work, self, LARGE),
                     count_allocations(work, self, 10));
}

static void set_value(large_fixture *self, size_t size)
{
    hf_error err = HF_ERROR_INIT;

    if (hf_value_set(self->client, hf_str("k"), hf_view(self->value, size),
                     NULL, NULL, &err) != HF_OK)
        fail_msg("%s", err.message);
}

TEST(large_value_is_sent_from_where_it_is)
{
    assert_same_allocations(set_value, *state);
}

static void put_field(large_fixture *self, size_t size)
{
    hf_field field = {hf_str("f"), hf_view(self->value, size)};
    hf_error err = HF_ERROR_INIT;

    if (hf_hash_put(self->client, hf_str("h"), &field, 1, NULL, &err) != HF_OK)
        fail_msg("%s", err.message);
}

TEST(large_field_is_sent_from_where_it_is)
{
    assert_same_allocations(put_field, *state);
}

static void swap_value(large_fixture *self, size_t size)
{
    hf_bytes value = hf_view(self->value, size);
    hf_error err = HF_ERROR_INIT;

    set_value(self, size);
    if (hf_value_cas(self->client, hf_str("k"), &value, value, NULL, NULL,
                     &err) != HF_OK)
        fail_msg("%s", err.message);
}

TEST(large_values_of_a_cas_are_sent_from_where_they_are)
{
    assert_same_allocations(swap_value, *state);
}

static void get_value(large_fixture *self, size_t size)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;

    set_value(self, size);
    assert_int_equal(hf_value_get(self->client, hf_str("k"), &value, &err),
                     HF_OK);
    assert_int_equal(value.size, size);
    assert_memory_equal(value.data, self->value, size);
    hf_buffer_free(&value);
}

TEST(large_value_is_received_where_it_stays)
{
    assert_same_allocations(get_value, *state);
}

/* ------------------------------------------- the lender's memory is its own */

typedef struct slow_reader {
    fake_server *fake;
    test_driver driver;
    uint32_t may_read; /* futex */
    const char *wanted;
    bool as_wanted;
} slow_reader;

static bool read_exactly(int fd, char *text, size_t size)
{
    size_t have = 0;

    while (have < size) {
        ssize_t got = read(fd, text + have, size - have);

        if (got <= 0)
            return false;
        have += (size_t)got;
    }
    return true;
}

static void read_late(int fd, unsigned number, void *user)
{
    static const char head[] = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$8388608\r\n";
    slow_reader *self = user;
    char text[400];
    char *got = malloc(LARGE + 2);

    if (!fake_server_login(fd, "7.0.0"))
        goto free_got;
    if (number == 0) { /* the pool's, by which the store is opened */
        fake_server_drain(fd);
        goto free_got;
    }
    while (__atomic_load_n(&self->may_read, __ATOMIC_ACQUIRE) == 0)
        hf__futex_wait(&self->may_read, 0, INT64_MAX, false);
    if (!read_exactly(fd, text, sizeof(head) - 1) ||
        !read_exactly(fd, got, LARGE + 2))
        goto free_got;
    self->as_wanted = memcmp(text, head, sizeof(head) - 1) == 0 &&
                      memcmp(got, self->wanted, LARGE) == 0;
    if (!fake_server_say(fd, "+LATE\r\n"))
        goto free_got;
    while (fake_server_read(fd, text, sizeof(text)) &&
           fake_server_say(fd, "+OK\r\n"))
        continue;
free_got:
    free(got);
}

/* Its deadline passes while the server takes nothing; then its caller may do
 * anything with the value. */
TEST(value_of_an_expired_request_is_sent_as_it_was)
{
    large_fixture *large = *state;
    slow_reader self = {.wanted = large->value};
    char *value = malloc(LARGE);
    int64_t limit_ms = slowed_ms(300);
    test_call call, next;

    /* After two seconds the driver would try another connection. */
    if (limit_ms > 1500)
        limit_ms = 1500;
    memcpy(value, large->value, LARGE);
    self.fake = fake_server_start(read_late, &self);
    assert_non_null(self.fake);
    driver_open(&self.driver, fake_server_url(self.fake));
    CALL(&call, limit_ms, "SET", "k", "");
    call.words[2] = hf_view(value, LARGE);
    call_submit(&self.driver, &call);
    assert_int_equal(call_wait(&call), HF_INDETERMINATE);
    call_end(&call);
    memset(value, 0, LARGE);
    free(value);
    CALL(&next, ENOUGH_MS, "SET", "a", "b");
    call_submit(&self.driver, &next);
    __atomic_store_n(&self.may_read, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&self.may_read, false);
    call_wait(&next);
    assert_text(&next, "OK");
    assert_true(self.as_wanted);
    call_end(&next);
    driver_close(&self.driver);
    fake_server_stop(self.fake);
}
