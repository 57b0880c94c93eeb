/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_cluster_test.c - following a cluster of two scripted servers, whose
 * replies are rare in reality. Key "foo" is in slot 12182, "bar" in 5061.
 */
#include "scripted_cluster.h"

#include <stdio.h>

#include "support/slowness.h"
#include "util/mem.h"

TEST(requests_go_to_their_slots)
{
    scripted_cluster self;
    test_call calls[40];

    cluster_open(&self, tell_who);
    RUN(&self.driver, &calls[0], "GET", "bar");
    assert_text(&calls[0], "0");
    RUN(&self.driver, &calls[1], "GET", "foo");
    assert_text(&calls[1], "1");
    RUN(&self.driver, &calls[2], "MGET", "foo", "bar");
    assert_status(&calls[2], HF_INVALID);
    assert_int_equal(requests(&self, A) + requests(&self, B), 2);
    /* Many at once, some of them wrong. */
    for (int i = 0; i < 40; i++) {
        hf__request *request = &calls[i].request;

        CALL(&calls[i], ENOUGH_MS, "MGET", i % 2 ? "foo" : "bar",
             i % 5 == 4 ? "x" : (i % 2 ? "{foo}" : "{bar}"));
        self.driver.store->ops->submit(self.driver.store, &request, 1);
    }
    for (int i = 0; i < 40; i++) {
        (void)call_wait(&calls[i]);
        if (i % 5 == 4)
            assert_status(&calls[i], HF_INVALID);
        else
            assert_text(&calls[i], i % 2 ? "1" : "0");
        call_end(&calls[i]);
    }
    cluster_close(&self);
}

static bool move_foo_to_a(scripted_node *self, int fd, unsigned number,
                          const char *text)
{
    (void)number;
    if (self->at == B && strcmp(text, "GET foo") == 0)
        return say_redirect(self, fd, "MOVED", 12182, "", A);
    return say_who(self, fd);
}

/* Neither the slot map nor MOVED names the host: the host that was queried is
 * meant. */
TEST(moved_slot_is_remembered)
{
    scripted_cluster self;
    test_call call;

    cluster_start(&self, move_foo_to_a);
    atomic_store(&self.nameless, true);
    cluster_connect(&self, B);
    RUN(&self.driver, &call, "GET", "foo");
    assert_text(&call, "0");
    assert_int_equal(call.request.sends, 1);
    call_end(&call);
    assert_int_equal(requests(&self, B), 1);
    cluster_close(&self);
}

static bool move_to_no_owner(scripted_node *self, int fd, unsigned number,
                             const char *text)
{
    bool open;

    (void)text;
    if (self->at == A)
        return say_who(self, fd);
    atomic_store(&self->cluster->unnamed, true);
    open = fake_server_say(fd, number == 0 ? "-MOVED 12182 ?:7000\r\n"
                                           : "-ASK 12182 ?:7000\r\n");
    /* Not before: a request without a reply is given up where the map says that
     * the slot has moved. */
    atomic_store(&self->cluster->upper, A);
    return open;
}

/* The node that knows where the slot went does not know that node's name; the
 * slot map has its address. */
TEST(node_without_a_name_is_found_by_the_map)
{
    scripted_cluster self;
    test_call call;

    /* Each time the store is closed while the slot map is being installed. */
    for (int round = 0; round < 20; round++) {
        bool by_loop = round % 2 == 1;

        cluster_open(&self, move_to_no_owner);
        CALL(&call, ENOUGH_MS, "INCR", "foo");
        if (by_loop)
            call_submit(&self.driver, &call);
        else
            self.driver.store->ops->perform(self.driver.store, &call.request);
        if (by_loop)
            (void)call_wait(&call);
        assert_text(&call, "0");
        assert_int_equal(call.request.sends, 1);
        call_end(&call);
        cluster_close(&self);
    }
}

static bool fill_the_hole(scripted_node *self, int fd, unsigned number,
                          const char *text)
{
    (void)text;
    if (number < 2 && self->cluster->holed)
        return fake_server_say(fd, "-CLUSTERDOWN Hash slot not served\r\n");
    atomic_store(&self->cluster->holed, false);
    return say_who(self, fd);
}

/* For a slot without an owner any node is tried, until it has one. */
TEST(slot_without_owner_is_waited_for)
{
    scripted_cluster self;
    test_call call;

    cluster_start(&self, fill_the_hole);
    atomic_store(&self.holed, true);
    cluster_connect(&self, A);
    RUN(&self.driver, &call, "GET", "bar");
    assert_text(&call, "0");
    call_end(&call);
    RUN(&self.driver, &call, "GET", "foo");
    assert_text(&call, "0");
    call_end(&call);
    assert_in_range(requests(&self, A), 3, 8);
    cluster_close(&self);
}

static bool ask_for_foo(scripted_node *self, int fd, unsigned number,
                        const char *text)
{
    if (self->at == B)
        return say_redirect(self, fd, "ASK", 12182, "127.0.0.1", A);
    if (number % 2 == 0) {
        assert_string_equal(text, "ASKING");
        return fake_server_say(fd, "+OK\r\n");
    }
    return say_who(self, fd);
}

TEST(asked_slot_stays_where_it_is)
{
    scripted_cluster self;
    test_call call;

    cluster_open(&self, ask_for_foo);
    for (unsigned i = 1; i <= 3; i++) {
        RUN(&self.driver, &call, "GET", "foo");
        assert_text(&call, "0");
        call_end(&call);
        assert_int_equal(requests(&self, B), i);
    }
    CALL(&call, ENOUGH_MS, "GET", "foo");
    call_submit(&self.driver, &call);
    assert_int_equal(call_wait(&call), HF_OK);
    assert_text(&call, "0");
    call_end(&call);
    assert_int_equal(atomic_load(&self.nodes[A].maps), 1);
    cluster_close(&self);
}

static bool ask_for_script(scripted_node *self, int fd, unsigned number,
                           const char *text)
{
    if (self->at == B)
        return say_redirect(self, fd, "ASK", 12182, "127.0.0.1", A);
    if (number == 0)
        return fake_server_say(fd, "+OK\r\n");
    /* NOSCRIPT here would use up the permission. */
    assert_memory_equal(text, "EVAL return 1", 13);
    return say_who(self, fd);
}

TEST(script_behind_asking_is_sent_whole)
{
    static const hf__script script = HF__USER_SCRIPT(
        "return 1", 8, "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
    scripted_cluster self;
    test_call call;

    cluster_open(&self, ask_for_script);
    CALL(&call, ENOUGH_MS, "foo");
    call.request.script = &script;
    call.request.key_count = 1;
    (void)call_perform(&self.driver, &call);
    assert_text(&call, "0");
    call_end(&call);
    cluster_close(&self);
}

static bool refuse_twice(scripted_node *self, int fd, unsigned number,
                         const char *text)
{
    (void)text;
    if (number == 0)
        return fake_server_say(fd, "-TRYAGAIN Multiple keys request during "
                                   "rehashing of slot\r\n");
    if (number == 1)
        return fake_server_say(fd, "-CLUSTERDOWN The cluster is down\r\n");
    return say_who(self, fd);
}

TEST(refusals_for_now_are_waited_for)
{
    scripted_cluster self;
    test_call call;

    cluster_open(&self, refuse_twice);
    RUN(&self.driver, &call, "INCR", "foo");
    assert_text(&call, "1");
    assert_int_equal(call.request.sends, 1);
    call_end(&call);
    assert_int_equal(requests(&self, B), 3);
    cluster_close(&self);
}

static bool always_down(scripted_node *self, int fd, unsigned number,
                        const char *text)
{
    (void)self;
    (void)number;
    (void)text;
    return fake_server_say(fd, "-CLUSTERDOWN Hash slot not served\r\n");
}

static bool in_a_circle(scripted_node *self, int fd, unsigned number,
                        const char *text)
{
    (void)number;
    (void)text;
    return say_redirect(self, fd, "MOVED", 12182, "127.0.0.1",
                        self->at == A ? B : A);
}

/* Not the caller's mistake, and on time; neither had an effect. */
TEST(what_does_not_end_ends_with_the_deadline)
{
    static const act_fn acts[] = {always_down, in_a_circle};

    for (size_t i = 0; i < 2; i++) {
        for (int shared = 0; shared < 2; shared++) {
            scripted_cluster self;
            test_call call;
            int64_t began_ms;

            cluster_open(&self, acts[i]);
            began_ms = hf__clock_boot_ms();
            CALL(&call, 600, "INCR", "foo");
            if (shared)
                call_submit(&self.driver, &call);
            else
                (void)call_perform(&self.driver, &call);
            if (shared)
                (void)call_wait(&call);
            /* On a busy machine the last reply may be late. */
            assert_status(&call, call.request.sends == 0 ? HF_UNAVAILABLE
                                                         : HF_INDETERMINATE);
            assert_took(hf__clock_boot_ms() - began_ms, 0, 1500);
            assert_null(strstr(call.request.error.message, "is one node"));
            call_end(&call);
            assert_in_range(requests(&self, A) + requests(&self, B), 3, 40);
            cluster_close(&self);
        }
    }
}

/* A node of the URL and of the slot map dies; the map says who has its slots.
 */
TEST(node_that_is_gone_is_replaced)
{
    scripted_cluster self;
    test_call call;

    cluster_open(&self, tell_who);
    RUN(&self.driver, &call, "GET", "foo");
    assert_text(&call, "1");
    call_end(&call);
    fake_server_stop(self.nodes[B].fake);
    self.nodes[B].fake = NULL;
    atomic_store(&self.upper, A);
    RUN(&self.driver, &call, "GET", "foo");
    assert_text(&call, "0");
    call_end(&call);
    CALL(&call, ENOUGH_MS, "GET", "foo");
    call_submit(&self.driver, &call);
    (void)call_wait(&call);
    assert_text(&call, "0");
    call_end(&call);
    cluster_close(&self);
}

/* B replies to nothing from then on, not even to what follows on the same
 * connection: such a reply would be taken for the one to this. */
static bool hang_on_b(scripted_node *self, int fd, unsigned number,
                      const char *text)
{
    char ignored[400];

    (void)number;
    (void)text;
    if (self->at != B)
        return say_who(self, fd);
    while (fake_server_read(fd, ignored, sizeof(ignored)))
        ;
    return false;
}

/* Nothing fails while it hangs; the others are queried, not the hanging one,
 * and once its slots have another owner nothing waits for it. */
TEST(node_that_hangs_is_replaced)
{
    scripted_cluster self;
    test_call call;
    int64_t began_ms = hf__clock_boot_ms();

    cluster_open(&self, hang_on_b);
    atomic_store(&self.upper, A);
    CALL(&call, 3000, "INCR", "foo");
    call_submit(&self.driver, &call);
    (void)call_wait(&call);
    assert_status(&call, HF_INDETERMINATE);
    assert_took(hf__clock_boot_ms() - began_ms, 450, 1400);
    call_end(&call);
    assert_in_range(atomic_load(&self.nodes[A].maps), 2, 20);
    RUN(&self.driver, &call, "INCR", "foo");
    assert_text(&call, "0");
    call_end(&call);
    cluster_close(&self);
}

TEST(cluster_without_any_node_is_unavailable_soon)
{
    scripted_cluster self;
    test_call call;
    int64_t began_ms;

    cluster_open(&self, tell_who);
    cluster_stop(&self);
    self.nodes[A].fake = self.nodes[B].fake = NULL;
    began_ms = hf__clock_boot_ms();
    RUN(&self.driver, &call, "GET", "foo");
    assert_status(&call, HF_UNAVAILABLE);
    assert_took(hf__clock_boot_ms() - began_ms, 0, ENOUGH_MS / 2);
    call_end(&call);
    cluster_close(&self);
}

TEST(any_host_of_the_url_will_do)
{
    hf_error err = HF_ERROR_INIT;
    scripted_cluster self;
    test_driver driver;
    test_call call;
    char url[120];

    cluster_start(&self, tell_who);
    (void)snprintf(url, sizeof(url),
                   "redis+cluster://127.0.0.1:1,127.0.0.1:%d/",
                   port_of(&self, B));
    driver_open(&driver, url);
    RUN(&driver, &call, "GET", "bar");
    assert_text(&call, "0");
    call_end(&call);
    driver_close(&driver);
    assert_int_equal(driver_try_open(&driver,
                                     "redis+cluster://127.0.0.1:1,127.0.0.1:2",
                                     NULL, NULL, &err),
                     HF_UNAVAILABLE);
    assert_non_null(strstr(err.message, "127.0.0.1:1"));
    cluster_stop(&self);
}

TEST(urls_that_mean_nothing_are_refused)
{
    static const char *const urls[] = {
        "redis+cluster://h:1/1", "redis+cluster://h:1/x",
        "redis+cluster://h?db=0", "redis+cluster:///",
        "redis+cluster://h?tls_verify=none"};
    hf_error err = HF_ERROR_INIT;
    test_driver driver;

    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        if (driver_try_open(&driver, urls[i], NULL, NULL, &err) != HF_INVALID)
            fail_msg("accepted: %s", urls[i]);
    }
}

TEST(server_that_is_no_cluster_says_so)
{
    hf_error err = HF_ERROR_INIT;
    redis_server *server = redis_server_start(NULL);
    test_driver driver;
    char url[80];

    assert_non_null(server);
    (void)snprintf(url, sizeof(url), "redis+cluster://127.0.0.1:%d",
                   redis_server_port(server));
    assert_int_equal(driver_try_open(&driver, url, NULL, NULL, &err),
                     HF_INVALID);
    assert_non_null(strstr(err.message, "cluster support disabled"));
    redis_server_stop(server);
}

/* Each allocation fails once, except the loop's own. */
TEST(no_memory_is_reported_and_nothing_leaks)
{
    scripted_cluster self;
    int failures = 0;
    char url[80];

    cluster_start(&self, tell_who);
    (void)snprintf(url, sizeof(url), "redis+cluster://127.0.0.1:%d",
                   port_of(&self, A));
    for (long after = 0; after < 200; after++) {
        hf_error err = HF_ERROR_INIT;
        test_driver driver = {hf__loop_new(), NULL};
        hf__url parsed;
        hf__store_config config = {
            .url = &parsed, .connect_ms = 1000, .loop = driver.loop};
        hf_status status = hf__url_parse(url, &parsed, &err);
        test_call call;

        hf__alloc_fail_after(after);
        status = hf__store_open(&config, &driver.store, &err);
        if (status == HF_OK) {
            CALL(&call, ENOUGH_MS, "GET", "foo");
            status = call_perform(&driver, &call);
            call_end(&call);
            driver.store->ops->close(driver.store);
        }
        hf__alloc_fail_after(-1);
        hf__url_done(&parsed);
        hf__loop_free(driver.loop);
        if (status == HF_OK)
            break;
        assert_int_equal(status, HF_NO_MEMORY);
        failures++;
    }
    assert_in_range(failures, 10, 100);
    cluster_stop(&self);
}
