/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_cluster_open_test.c - opening a cluster of which some nodes are slow
 * or hang. connect_ms is 1000.
 */
#include "scripted_cluster.h"
#include "support/slowness.h"

#include <stdio.h>

static hf_status open_by(scripted_cluster *self, const char *hosts,
                         hf_error *err)
{
    char url[160];

    (void)snprintf(url, sizeof(url), "redis+cluster://%s", hosts);
    return driver_try_open(&self->driver, url, NULL, NULL, err);
}

/* A machine that is busy may miss an instant once, but not each time. */
static void open_at_last(scripted_cluster *self, const char *hosts)
{
    hf_error err = HF_ERROR_INIT;

    for (int i = 0; i < 4; i++) {
        if (open_by(self, hosts, &err) == HF_OK)
            return;
    }
    fail_msg("not opened: %s", err.message);
}

/* A node of the URL that lets us in and then hangs costs its share of the
 * time; a thread sanitizer sees who else uses the opening's question. */
TEST(cluster_opens_by_the_second_host_if_the_first_hangs)
{
    scripted_cluster self;
    test_call call;
    char hosts[80];

    cluster_start(&self, tell_who);
    atomic_store(&self.nodes[A].map_ms, -1);
    (void)snprintf(hosts, sizeof(hosts), "127.0.0.1:%d,127.0.0.1:%d",
                   port_of(&self, A), port_of(&self, B));
    open_at_last(&self, hosts);
    RUN(&self.driver, &call, "GET", "foo");
    assert_text(&call, "1");
    call_end(&call);
    cluster_close(&self);
}

/* No other node is left: this one has all of the time. */
TEST(cluster_opens_by_a_node_that_takes_most_of_the_time)
{
    scripted_cluster self;
    test_call call;
    char hosts[80];

    cluster_start(&self, tell_who);
    atomic_store(&self.nodes[A].map_ms, 600);
    (void)snprintf(hosts, sizeof(hosts), "127.0.0.1:%d", port_of(&self, A));
    open_at_last(&self, hosts);
    RUN(&self.driver, &call, "GET", "foo");
    assert_text(&call, "1");
    call_end(&call);
    cluster_close(&self);
}

TEST(cluster_that_hangs_is_unavailable_by_the_deadline)
{
    int64_t began_ms = hf__clock_boot_ms();
    hf_error err = HF_ERROR_INIT;
    scripted_cluster self;
    char hosts[80];

    cluster_start(&self, tell_who);
    atomic_store(&self.nodes[A].map_ms, -1);
    atomic_store(&self.nodes[B].map_ms, -1);
    (void)snprintf(hosts, sizeof(hosts), "127.0.0.1:%d,127.0.0.1:%d",
                   port_of(&self, A), port_of(&self, B));
    assert_int_equal(open_by(&self, hosts, &err), HF_UNAVAILABLE);
    assert_took(hf__clock_boot_ms() - began_ms, 990, ENOUGH_MS);
    assert_non_null(strstr(err.message, "no reply"));
    cluster_stop(&self);
}

/* The map that opening got is out of date: who finds that out does not wait for
 * the 200 ms between two rounds. */
TEST(stale_map_is_asked_for_again_at_once)
{
    bool good = false;
    scripted_cluster self;
    test_call call;

    for (int i = 0; i < 8 && !good; i++) {
        int64_t opened_ms;

        cluster_start(&self, tell_who);
        cluster_connect(&self, A);
        opened_ms = hf__clock_boot_ms();
        atomic_store(&self.upper, A);
        fake_server_stop(self.nodes[B].fake);
        self.nodes[B].fake = NULL;
        RUN(&self.driver, &call, "GET", "foo");
        good = hf__clock_boot_ms() - opened_ms < 190;
        assert_text(&call, "0");
        call_end(&call);
        cluster_close(&self);
    }
    assert_true(good);
}
