/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.c - names to addresses without making requests wait for DNS.
 *
 * The first lookup starts while the store is opened, which waits for it until
 * its deadline. Afterwards connecting uses the known addresses, and a failure
 * starts a new lookup in the background: a failover announced by DNS is found
 * by the attempt after the next. Only while there is no address at all do
 * callers poll every few ms for the first lookup. getaddrinfo() cannot be
 * interrupted and may take many seconds, so each lookup runs on a detached
 * thread that holds a reference to the resolver.
 *
 * Locks: `mutex` guards everything but port, is_name, and the host and text of
 * what is known, which do not change. In a forked child the resolver is not
 * touched, as its mutex may be locked.
 */
#include "store/redis/wire/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "util/clock.h"
#include "util/cond.h"
#include "util/error.h"
#include "util/fork.h"
#include "util/mem.h"
#include "util/thread.h"

#define REFRESH_MS 1000

/* Longest pause between two polls for the first result. */
#define LOOK_MS 10

typedef struct dns_resolver {
    hf__resolver base;
    pthread_mutex_t mutex;
    unsigned refs; /* the owner's and a running lookup's */
    bool asking;
    pthread_cond_t answered; /* `asking` has become false */
    int failure;             /* of the latest lookup: of getaddrinfo(), or 0 */
    int64_t asked_ms;
    hf__resolved known;
    uint32_t fork_generation;
    bool is_name; /* the result of DNS may change */
    int port;
} dns_resolver;

static dns_resolver *dns_of(hf__resolver *resolver)
{
    return (dns_resolver *)resolver;
}

/* 0 or a getaddrinfo() error. */
static int look_up(const char *host, int port, int flags,
                   hf__resolved *resolved)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = flags | AI_NUMERICSERV};
    struct addrinfo *list;
    struct addrinfo *item;
    char service[16];
    int rc;

    snprintf(service, sizeof(service), "%d", port);
    rc = getaddrinfo(host, service, &hints, &list);
    if (rc != 0)
        return rc;
    resolved->count = 0;
    for (item = list; item != NULL; item = item->ai_next) {
        if (resolved->count == HF__RESOLVED_MAX)
            break;
        memcpy(&resolved->items[resolved->count], item->ai_addr,
               item->ai_addrlen);
        resolved->sizes[resolved->count++] = item->ai_addrlen;
    }
    freeaddrinfo(list);
    return 0;
}

static void drop_reference(dns_resolver *self)
{
    bool last;

    pthread_mutex_lock(&self->mutex);
    last = --self->refs == 0;
    pthread_mutex_unlock(&self->mutex);
    if (!last)
        return;
    pthread_cond_destroy(&self->answered);
    pthread_mutex_destroy(&self->mutex);
    hf__free(self);
}

static void dns_free(hf__resolver *resolver)
{
    dns_resolver *self = dns_of(resolver);

    if (self->fork_generation == hf__fork_generation())
        drop_reference(self);
    else
        hf__free(self);
}

static void dns_get(hf__resolver *resolver, hf__resolved *resolved)
{
    dns_resolver *self = dns_of(resolver);

    pthread_mutex_lock(&self->mutex);
    *resolved = self->known;
    if (resolved->count == 0 && self->failure != 0)
        snprintf(resolved->text, sizeof(resolved->text), "%.150s (%.100s)",
                 self->known.text, gai_strerror(self->failure));
    pthread_mutex_unlock(&self->mutex);
}

/* Of `known`, only count, items and sizes ever change. */
static void *resolve_thread(void *user)
{
    dns_resolver *self = user;
    hf__resolved resolved;
    int rc = look_up(self->known.host, self->port, 0, &resolved);

    pthread_mutex_lock(&self->mutex);
    self->asking = false;
    self->failure = rc;
    if (rc == 0) {
        memcpy(self->known.items, resolved.items, sizeof(resolved.items));
        memcpy(self->known.sizes, resolved.sizes, sizeof(resolved.sizes));
        self->known.count = resolved.count;
    }
    pthread_cond_signal(&self->answered);
    pthread_mutex_unlock(&self->mutex);
    drop_reference(self);
    return NULL;
}

static void dns_refresh(hf__resolver *resolver)
{
    dns_resolver *self = dns_of(resolver);
    int64_t now_ms = hf__clock_boot_ms();

    if (!self->is_name)
        return;
    pthread_mutex_lock(&self->mutex);
    if (!self->asking && now_ms - self->asked_ms >= REFRESH_MS) {
        self->asked_ms = now_ms;
        self->asking = hf__thread_detach(resolve_thread, self);
        if (self->asking)
            self->refs++;
    }
    pthread_mutex_unlock(&self->mutex);
}

static bool dns_asks(hf__resolver *resolver)
{
    dns_resolver *self = dns_of(resolver);
    bool asks;

    pthread_mutex_lock(&self->mutex);
    asks = self->asking && self->known.count == 0;
    pthread_mutex_unlock(&self->mutex);
    return asks;
}

static const hf__resolver_ops dns_ops = {
    .get = dns_get,
    .refresh = dns_refresh,
    .asks = dns_asks,
    .free = dns_free,
};

static void know_path(hf__resolved *resolved, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    memcpy(address.sun_path, path, strlen(path) + 1);
    memcpy(&resolved->items[0], &address, sizeof(address));
    resolved->sizes[0] = sizeof(address);
    resolved->count = 1;
}

/* Wait for the first result, or until an instant. */
static hf_status await_answer(dns_resolver *self, int64_t until_ms,
                              hf_error *err)
{
    hf_status status = HF_OK;

    pthread_mutex_lock(&self->mutex);
    while (self->asking && hf__clock_boot_ms() < until_ms)
        hf__cond_wait_until(&self->answered, &self->mutex, until_ms);
    if (self->failure != 0)
        status = hf__fail(err, HF_UNAVAILABLE, "cannot resolve host %s: %s",
                          self->known.host, gai_strerror(self->failure));
    else if (self->asking)
        status = hf__fail(err, HF_UNAVAILABLE, "timed out resolving host %s",
                          self->known.host);
    else if (self->known.count == 0)
        status =
            hf__fail(err, HF_SYSTEM, "cannot start a thread to resolve host %s",
                     self->known.host);
    pthread_mutex_unlock(&self->mutex);
    return status;
}

static hf_status first_look_up(dns_resolver *self, int64_t until_ms,
                               hf_error *err)
{
    if (look_up(self->known.host, self->port, AI_NUMERICHOST, &self->known) ==
        0)
        return HF_OK;
    self->is_name = true;
    self->asked_ms = INT64_MIN / 2;
    dns_refresh(&self->base);
    return until_ms == 0 ? HF_OK : await_answer(self, until_ms, err);
}

hf_status hf__resolver_new(const hf__redis_where *where, int64_t until_ms,
                           hf__resolver **resolver, hf_error *err)
{
    dns_resolver *self = hf__calloc(1, sizeof(*self));
    hf_status status = HF_OK;

    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    self->base.ops = &dns_ops;
    self->port = where->port;
    self->refs = 1;
    self->fork_generation = hf__fork_generation();
    pthread_mutex_init(&self->mutex, NULL);
    hf__cond_init(&self->answered);
    memcpy(self->known.text, where->text, strlen(where->text) + 1);
    if (where->path != NULL) {
        know_path(&self->known, where->path);
    } else {
        memcpy(self->known.host, where->host, strlen(where->host) + 1);
        status = first_look_up(self, until_ms, err);
    }
    if (status == HF_OK)
        *resolver = &self->base;
    else
        dns_free(&self->base);
    return status;
}

void hf__resolver_free(hf__resolver *resolver)
{
    if (resolver != NULL)
        resolver->ops->free(resolver);
}

void hf__resolver_get(hf__resolver *resolver, hf__resolved *resolved)
{
    resolver->ops->get(resolver, resolved);
}

void hf__resolver_refresh(hf__resolver *resolver)
{
    resolver->ops->refresh(resolver);
}

bool hf__resolver_asks(hf__resolver *resolver)
{
    return resolver->ops->asks != NULL && resolver->ops->asks(resolver);
}

int64_t hf__resolver_pause_ms(int64_t since_ms, int64_t now_ms)
{
    int64_t pause_ms = (now_ms - since_ms) / 8;

    if (pause_ms < 1)
        return 1;
    return pause_ms < LOOK_MS ? pause_ms : LOOK_MS;
}

bool hf__host_is_name(const char *host)
{
    struct in_addr address;

    return strchr(host, ':') == NULL && inet_pton(AF_INET, host, &address) != 1;
}
