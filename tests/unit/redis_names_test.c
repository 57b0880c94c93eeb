/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_names_test.c - nodes of a cluster with host names, which DNS resolves
 * late. This file defines getaddrinfo(): all names are 127.0.0.1.
 */
#include "scripted_cluster.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>

static atomic_int answer_ms;   /* how long resolving a name takes */
static atomic_uint asked;      /* queries for names */
static atomic_uint under_way;  /* of them */
static atomic_llong answer_at; /* when the latest was resolved */

static int give(const char *host, const char *service, struct addrinfo **list)
{
    struct addrinfo *item = calloc(1, sizeof(*item));
    struct sockaddr_in *address = calloc(1, sizeof(*address));

    assert_non_null(item);
    assert_non_null(address);
    item->ai_family = AF_INET;
    address->sin_family = AF_INET;
    address->sin_port = htons((uint16_t)strtol(service, NULL, 10));
    item->ai_addr = (struct sockaddr *)address;
    item->ai_addrlen = sizeof(*address);
    *list = item;
    if (inet_pton(AF_INET, host, &address->sin_addr) == 1)
        return 0;
    freeaddrinfo(item);
    return EAI_NONAME;
}

int getaddrinfo(const char *name, const char *service,
                const struct addrinfo *hints, struct addrinfo **list)
{
    int rc;

    if ((hints->ai_flags & AI_NUMERICHOST) != 0)
        return give(name, service, list);
    atomic_fetch_add(&under_way, 1);
    atomic_fetch_add(&asked, 1);
    hf__clock_sleep_until(hf__clock_boot_ms() + atomic_load(&answer_ms));
    rc = give("127.0.0.1", service, list);
    atomic_store(&answer_at, hf__clock_boot_ms());
    atomic_fetch_sub(&under_way, 1);
    return rc;
}

void freeaddrinfo(struct addrinfo *list)
{
    free(list->ai_addr);
    free(list);
}

/* No thread outlives its test. */
static void await_queries(void)
{
    while (atomic_load(&under_way) > 0)
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
}

static void names_begin(scripted_cluster *self, act_fn act, int late_ms)
{
    cluster_start(self, act);
    atomic_store(&asked, 0);
    atomic_store(&answer_ms, late_ms);
}

/* It has not been used yet. */
TEST(names_of_a_map_are_looked_up_at_once)
{
    int64_t until_ms = hf__clock_boot_ms() + ENOUGH_MS;
    scripted_cluster self;

    names_begin(&self, tell_who, 0);
    self.nodes[B].name = "b.example";
    cluster_connect(&self, A);
    while (atomic_load(&asked) == 0) {
        assert_true(hf__clock_boot_ms() < until_ms);
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    }
    cluster_close(&self);
    await_queries();
    assert_int_equal(atomic_load(&asked), 1);
}

static bool name_b(scripted_node *self, int fd, unsigned number,
                   const char *text)
{
    (void)number;
    (void)text;
    return self->at == A
               ? say_redirect(self, fd, "MOVED", 12182, "b.example", B)
               : say_who(self, fd);
}

/* A call to a node whose name is new. Did it end within 50 ms of the DNS reply,
 * and without another request for the slot map? */
static bool continues_with_the_reply(bool by_loop)
{
    scripted_cluster self;
    test_call call;
    bool good;

    names_begin(&self, name_b, 300);
    atomic_store(&self.upper, A);
    cluster_connect(&self, A);
    CALL(&call, ENOUGH_MS, "GET", "foo");
    if (by_loop) {
        call_submit(&self.driver, &call);
        (void)call_wait(&call);
    } else {
        (void)call_perform(&self.driver, &call);
    }
    good = hf__clock_boot_ms() - atomic_load(&answer_at) < 50 &&
           atomic_load(&self.nodes[A].maps) == 1;
    assert_text(&call, "1");
    assert_int_equal(call.request.sends, 1);
    call_end(&call);
    assert_int_equal(requests(&self, A), 1);
    cluster_close(&self);
    await_queries();
    return good;
}

/* On a busy machine, not every time. */
static void call_continues_with_the_reply(bool by_loop)
{
    bool good = false;

    for (int i = 0; i < 6 && !good; i++)
        good = continues_with_the_reply(by_loop);
    assert_true(good);
}

TEST(blocking_call_waits_for_a_name)
{
    call_continues_with_the_reply(false);
}

TEST(started_call_waits_for_a_name)
{
    call_continues_with_the_reply(true);
}

/* The only host of the URL: its name has all of the time, 1000 ms. */
TEST(cluster_opens_by_a_name_that_is_found_late)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status = HF_UNAVAILABLE;
    scripted_cluster self;
    char url[80];

    names_begin(&self, tell_who, 600);
    (void)snprintf(url, sizeof(url), "redis+cluster://a.example:%d",
                   port_of(&self, A));
    for (int i = 0; i < 4 && status != HF_OK; i++)
        status = driver_try_open(&self.driver, url, NULL, NULL, &err);
    if (status != HF_OK)
        fail_msg("not opened: %s", err.message);
    cluster_close(&self);
    await_queries();
}
