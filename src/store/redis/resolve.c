/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.c - names to addresses without ever making a request wait for DNS.
 *
 * The first question is asked while the store is opened. Afterwards connecting
 * uses what is known, and a failure starts a new question in the background: a
 * fail-over that is announced by DNS is found by the attempt after the next.
 * getaddrinfo() cannot be interrupted, so a question runs on a detached thread
 * that shares the resolver by a reference: closing does not wait for it.
 *
 * Locks: `mutex` guards everything but host, port and is_name, which do not
 * change. In a forked child the resolver is left alone, as its mutex may be
 * locked there for ever.
 */
#include "store/redis/resolve.h"

#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "util/clock.h"
#include "util/error.h"
#include "util/fork.h"
#include "util/mem.h"

#define REFRESH_MS 1000

struct hf__resolver {
    pthread_mutex_t mutex;
    unsigned refs; /* the owner's and that of a question under way */
    bool asking;
    int64_t asked_ms;
    hf__resolved known;
    uint32_t fork_generation;
    bool is_name; /* what DNS says may change */
    int port;
    char host[];
};

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

static void know_path(hf__resolved *resolved, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    memcpy(address.sun_path, path, strlen(path) + 1);
    memcpy(&resolved->items[0], &address, sizeof(address));
    resolved->sizes[0] = sizeof(address);
    resolved->count = 1;
}

static hf_status first_look_up(hf__resolver *resolver, hf_error *err)
{
    int rc = look_up(resolver->host, resolver->port, AI_NUMERICHOST,
                     &resolver->known);

    if (rc == 0)
        return HF_OK;
    resolver->is_name = true;
    rc = look_up(resolver->host, resolver->port, 0, &resolver->known);
    if (rc == 0)
        return HF_OK;
    return hf__fail(err, HF_UNAVAILABLE, "cannot find the address of %s: %s",
                    resolver->host, gai_strerror(rc));
}

hf_status hf__resolver_new(const hf__redis_address *address,
                           hf__resolver **resolver, hf_error *err)
{
    const char *host = address->host != NULL ? address->host : "";
    hf__resolver *made = hf__calloc(1, sizeof(*made) + strlen(host) + 1);
    hf_status status = HF_OK;

    if (made == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    memcpy(made->host, host, strlen(host) + 1);
    made->port = address->port;
    made->refs = 1;
    made->fork_generation = hf__fork_generation();
    if (address->path != NULL)
        know_path(&made->known, address->path);
    else
        status = first_look_up(made, err);
    if (status != HF_OK) {
        hf__free(made);
        return status;
    }
    made->asked_ms = hf__clock_boot_ms();
    pthread_mutex_init(&made->mutex, NULL);
    *resolver = made;
    return HF_OK;
}

static void drop_reference(hf__resolver *resolver)
{
    bool last;

    pthread_mutex_lock(&resolver->mutex);
    last = --resolver->refs == 0;
    pthread_mutex_unlock(&resolver->mutex);
    if (!last)
        return;
    pthread_mutex_destroy(&resolver->mutex);
    hf__free(resolver);
}

void hf__resolver_free(hf__resolver *resolver)
{
    if (resolver == NULL)
        return;
    if (resolver->fork_generation == hf__fork_generation())
        drop_reference(resolver);
    else
        hf__free(resolver);
}

void hf__resolver_get(hf__resolver *resolver, hf__resolved *resolved)
{
    pthread_mutex_lock(&resolver->mutex);
    *resolved = resolver->known;
    pthread_mutex_unlock(&resolver->mutex);
}

static void *ask(void *user)
{
    hf__resolver *resolver = user;
    hf__resolved resolved;
    int rc = look_up(resolver->host, resolver->port, 0, &resolved);

    pthread_mutex_lock(&resolver->mutex);
    resolver->asking = false;
    if (rc == 0)
        resolver->known = resolved;
    pthread_mutex_unlock(&resolver->mutex);
    drop_reference(resolver);
    return NULL;
}

/* Signals are for the program's own threads. */
static bool start_asking(hf__resolver *resolver)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    bool started;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&thread, &attributes, ask, resolver) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

void hf__resolver_refresh(hf__resolver *resolver)
{
    int64_t now_ms = hf__clock_boot_ms();

    if (!resolver->is_name)
        return;
    pthread_mutex_lock(&resolver->mutex);
    if (!resolver->asking && now_ms - resolver->asked_ms >= REFRESH_MS) {
        resolver->asked_ms = now_ms;
        resolver->asking = start_asking(resolver);
        if (resolver->asking)
            resolver->refs++;
    }
    pthread_mutex_unlock(&resolver->mutex);
}
