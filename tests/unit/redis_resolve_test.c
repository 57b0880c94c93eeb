/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_resolve_test.c - names that DNS resolves, resolves late, or does not,
 * and who has to wait for that. This file defines getaddrinfo(): names that
 * begin with "slow" are resolved when the test says so, "lost" ones never
 * exist.
 */
#include "redis_driver.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>

#include "store/redis/wire/resolve.h"
#include "support/slowness.h"
#include "util/mem.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_held;       /* slow names are not resolved */
static unsigned questions; /* for names */
static unsigned under_way; /* of them */
static pthread_t last_asker;
static const char *answer = "127.0.0.1";

/* One address, as getaddrinfo() would return it; freed below. */
static int give(const char *text, const char *service, struct addrinfo **list)
{
    struct addrinfo *item = calloc(1, sizeof(*item));
    struct sockaddr_in *address = calloc(1, sizeof(*address));

    assert_non_null(item);
    assert_non_null(address);
    address->sin_family = AF_INET;
    address->sin_port = htons((uint16_t)strtol(service, NULL, 10));
    if (inet_pton(AF_INET, text, &address->sin_addr) != 1) {
        free(address);
        free(item);
        return EAI_NONAME;
    }
    item->ai_family = AF_INET;
    item->ai_addr = (struct sockaddr *)address;
    item->ai_addrlen = sizeof(*address);
    *list = item;
    return 0;
}

int getaddrinfo(const char *name, const char *service,
                const struct addrinfo *hints, struct addrinfo **list)
{
    int rc;

    if ((hints->ai_flags & AI_NUMERICHOST) != 0)
        return give(name, service, list);
    pthread_mutex_lock(&mutex);
    questions++;
    under_way++;
    last_asker = pthread_self();
    while (is_held && strncmp(name, "slow", 4) == 0)
        pthread_cond_wait(&changed, &mutex);
    rc = strncmp(name, "lost", 4) == 0 ? EAI_NONAME
                                       : give(answer, service, list);
    under_way--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return rc;
}

void freeaddrinfo(struct addrinfo *list)
{
    free(list->ai_addr);
    free(list);
}

static void hold(bool held)
{
    pthread_mutex_lock(&mutex);
    is_held = held;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

/* Until no query is under way, so that no thread outlives its test. */
static void await_queries(void)
{
    hold(false);
    pthread_mutex_lock(&mutex);
    while (under_way > 0)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static unsigned question_count(void)
{
    unsigned count;

    pthread_mutex_lock(&mutex);
    count = questions;
    pthread_mutex_unlock(&mutex);
    return count;
}

static hf_status resolver_new(const char *host, int64_t until_ms,
                              hf__resolver **resolver, hf_error *err)
{
    hf__redis_where where;
    hf_status status = hf__redis_where_init(&where, host, 6379, err);

    assert_int_equal(status, HF_OK);
    status = hf__resolver_new(&where, until_ms, resolver, err);
    hf__redis_where_done(&where);
    return status;
}

/* Poll until the resolver has `count` addresses. */
static void await_addresses(hf__resolver *resolver, size_t count)
{
    int64_t until_ms = hf__clock_boot_ms() + ENOUGH_MS;
    hf__resolved resolved;

    do {
        hf__resolver_get(resolver, &resolved);
        if (resolved.count == count)
            return;
        hf__clock_sleep_until(hf__clock_boot_ms() + 5);
    } while (hf__clock_boot_ms() < until_ms);
    fail_msg("%zu addresses", resolved.count);
}

TEST(numeric_host_needs_no_dns)
{
    unsigned before = question_count();
    hf__resolver *resolver;
    hf__resolved resolved;

    assert_int_equal(resolver_new("127.0.0.1", 0, &resolver, NULL), HF_OK);
    hf__resolver_get(resolver, &resolved);
    assert_int_equal(resolved.count, 1);
    assert_string_equal(resolved.host, "127.0.0.1");
    hf__resolver_refresh(resolver); /* there is nothing to resolve */
    assert_int_equal(question_count(), before);
    hf__resolver_free(resolver);
}

TEST(name_is_waited_for_on_another_thread)
{
    hf__resolver *resolver;
    hf__resolved resolved;

    assert_int_equal(resolver_new("quick.example",
                                  hf__clock_boot_ms() + ENOUGH_MS, &resolver,
                                  NULL),
                     HF_OK);
    hf__resolver_get(resolver, &resolved);
    assert_int_equal(resolved.count, 1);
    assert_int_equal(
        ntohs(((struct sockaddr_in *)&resolved.items[0])->sin_port), 6379);
    await_queries();
    assert_false(pthread_equal(last_asker, pthread_self()));
    hf__resolver_free(resolver);
}

TEST(slow_name_costs_no_more_than_the_deadline)
{
    int64_t began_ms = hf__clock_boot_ms();
    hf_error err = HF_ERROR_INIT;
    hf__resolver *resolver;

    hold(true);
    assert_int_equal(
        resolver_new("slow.example", began_ms + 100, &resolver, &err),
        HF_UNAVAILABLE);
    assert_took(hf__clock_boot_ms() - began_ms, 100, 1000);
    assert_non_null(strstr(err.message, "slow.example"));
    assert_non_null(strstr(err.message, "timed out"));
    await_queries(); /* the query ends after the resolver is gone */
}

/* Opening a store by a name whose DNS server hangs. */
TEST(stores_open_or_fail_by_their_deadline)
{
    static const char *const urls[] = {
        "redis://slow.example:1",
        "redis+cluster://slow.example:1,slow2.example:1",
        "redis+sentinel://slow.example:1/m",
    };
    test_driver driver;

    hold(true);
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        int64_t began_ms = hf__clock_boot_ms();
        hf_error err = HF_ERROR_INIT;

        assert_int_equal(driver_try_open(&driver, urls[i], NULL, NULL, &err),
                         HF_UNAVAILABLE);
        assert_took(hf__clock_boot_ms() - began_ms, 0, 1000 + ENOUGH_MS / 5);
        assert_non_null(strstr(err.message, "slow.example"));
    }
    await_queries();
}

TEST(unknown_name_says_why)
{
    hf_error err = HF_ERROR_INIT;
    hf__resolver *resolver;
    hf__resolved resolved;
    int64_t until_ms;

    assert_int_equal(resolver_new("lost.example",
                                  hf__clock_boot_ms() + ENOUGH_MS, &resolver,
                                  &err),
                     HF_UNAVAILABLE);
    assert_non_null(strstr(err.message, "lost.example"));
    assert_non_null(strstr(err.message, gai_strerror(EAI_NONAME)));
    /* A caller that does not wait gets the result with its next call. */
    assert_int_equal(resolver_new("lost.example", 0, &resolver, &err), HF_OK);
    until_ms = hf__clock_boot_ms() + ENOUGH_MS;
    do {
        assert_true(hf__clock_boot_ms() < until_ms);
        hf__clock_sleep_until(hf__clock_boot_ms() + 5);
        hf__resolver_get(resolver, &resolved);
        assert_int_equal(resolved.count, 0);
    } while (strstr(resolved.text, gai_strerror(EAI_NONAME)) == NULL);
    assert_non_null(strstr(resolved.text, "lost.example:6379"));
    await_queries();
    hf__resolver_free(resolver);
}

TEST(sentinel_of_an_unknown_name_is_named)
{
    hf_error err = HF_ERROR_INIT;
    test_driver driver;

    assert_int_equal(driver_try_open(&driver,
                                     "redis+sentinel://lost.example:1/m", NULL,
                                     NULL, &err),
                     HF_UNAVAILABLE);
    assert_non_null(strstr(err.message, "lost.example:1"));
    assert_non_null(strstr(err.message, gai_strerror(EAI_NONAME)));
    await_queries();
}

/* A name whose address changed: the known one is used until the reply is there.
 */
TEST(refresh_resolves_in_the_background)
{
    int64_t until_ms = hf__clock_boot_ms() + ENOUGH_MS;
    hf__resolver *resolver;
    hf__resolved resolved;
    unsigned before;

    answer = "127.0.0.1";
    assert_int_equal(resolver_new("slow.example", 0, &resolver, NULL), HF_OK);
    await_addresses(resolver, 1);
    await_queries();
    hold(true);
    answer = "127.0.0.2";
    before = question_count();
    while (question_count() == before) { /* once a second at most */
        assert_true(hf__clock_boot_ms() < until_ms);
        hf__resolver_refresh(resolver);
        hf__clock_sleep_until(hf__clock_boot_ms() + 20);
    }
    hf__resolver_get(resolver, &resolved);
    assert_int_equal(resolved.count, 1);
    await_queries();
    do {
        assert_true(hf__clock_boot_ms() < until_ms);
        hf__clock_sleep_until(hf__clock_boot_ms() + 5);
        hf__resolver_get(resolver, &resolved);
    } while (((struct sockaddr_in *)&resolved.items[0])->sin_addr.s_addr !=
             inet_addr("127.0.0.2"));
    hf__resolver_free(resolver);
    answer = "127.0.0.1";
}

TEST(resolver_may_go_while_it_asks)
{
    hf__resolver *resolver;

    hold(true);
    assert_int_equal(resolver_new("slow.example", 0, &resolver, NULL), HF_OK);
    hf__resolver_free(resolver);
    await_queries();
}
