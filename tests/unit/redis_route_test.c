/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_route_test.c - pauses before a request is tried again, and what ends
 * them early. The router is the test's.
 */
#include "redis_driver.h"

#include <pthread.h>

#include "store/redis/server/route.h"
#include "store/redis/server/server.h"

/* Longer than any test may take. */
#define PAUSE_MS 60000

typedef struct routed {
    hf__router router; /* first */
    hf__store_context context;
    hf__redis_account account;
    hf__server *servers[2];
    hf__server *named; /* the server that the router names; NULL: none */
} routed;

static bool name_server(hf__router *router, hf__server *from,
                        const hf__request *request,
                        const hf__attempts *attempts, const hf__redirect *why,
                        hf__route *route)
{
    routed *self = (routed *)router;

    (void)from;
    (void)request;
    (void)attempts;
    (void)why;
    route->server = __atomic_load_n(&self->named, __ATOMIC_SEQ_CST);
    if (route->server != NULL)
        hf__server_hold(route->server);
    return route->server != NULL;
}

static void routed_begin(routed *self)
{
    hf__store_config config = {.loop = hf__loop_new(), .connect_ms = 1000};
    hf__redis_where where;
    hf__resolver *resolver;

    memset(self, 0, sizeof(*self));
    self->router.redirect = name_server;
    hf__store_context_init(&self->context, &config, &self->router);
    assert_int_equal(hf__redis_where_init(&where, "127.0.0.1", 1, NULL), HF_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(hf__resolver_new(&where, 0, &resolver, NULL), HF_OK);
        assert_int_equal(hf__server_new(&self->context, &self->account,
                                        resolver, &self->servers[i], NULL),
                         HF_OK);
    }
    hf__redis_where_done(&where);
}

static void routed_end(routed *self)
{
    for (int i = 0; i < 2; i++)
        hf__server_close(self->servers[i]);
    hf__loop_free(self->context.loop);
}

static void *change(void *user)
{
    routed *self = user;

    hf__clock_sleep_until(hf__clock_boot_ms() + 20);
    hf__store_context_change(&self->context);
    return NULL;
}

/* Pause before server 0, while another thread changes the topology; which of
 * the servers the route names then. */
static hf__server *pause_through_a_change(routed *self, int64_t pause_ms)
{
    static const hf__request request;
    static const hf__attempts attempts;
    hf__route route = {.server = self->servers[0]};
    pthread_t thread;

    hf__server_hold(route.server);
    route.at_ms = hf__clock_boot_ms() + pause_ms;
    assert_int_equal(pthread_create(&thread, NULL, change, self), 0);
    hf__route_pause(&request, &attempts, &route);
    pthread_join(thread, NULL);
    hf__server_release(route.server);
    return route.server;
}

TEST(pause_ends_when_another_server_is_named)
{
    int64_t began_ms = hf__clock_boot_ms();
    routed self;

    routed_begin(&self);
    self.named = self.servers[1];
    assert_ptr_equal(pause_through_a_change(&self, PAUSE_MS), self.servers[1]);
    assert_true(hf__clock_boot_ms() - began_ms < PAUSE_MS / 2);
    routed_end(&self);
}

/* The server itself has moved, like a master behind sentinels. */
TEST(pause_ends_when_the_server_has_moved)
{
    int64_t began_ms = hf__clock_boot_ms();
    routed self;

    routed_begin(&self);
    assert_ptr_equal(pause_through_a_change(&self, PAUSE_MS), self.servers[0]);
    assert_true(hf__clock_boot_ms() - began_ms < PAUSE_MS / 2);
    routed_end(&self);
}

/* A request sent to the same server would only fail again. */
TEST(pause_continues_when_the_same_server_is_named)
{
    int64_t began_ms = hf__clock_boot_ms();
    routed self;

    routed_begin(&self);
    self.named = self.servers[0];
    assert_ptr_equal(pause_through_a_change(&self, 200), self.servers[0]);
    assert_true(hf__clock_boot_ms() - began_ms >= 200);
    routed_end(&self);
}
