/* SPDX-License-Identifier: Apache-2.0 */
/*
 * env_registry.c - the list of environments open in this process, by the
 * identity of their data files.
 *
 * One mutex guards it and serialises opening and closing. A child of fork()
 * starts with an empty list: the parent's environments are unusable there, and
 * their memory is left alone.
 */
#include "engine/open/env_registry.h"

#include <stddef.h>

#include "engine/commit/identity.h"
#include "util/mutex.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static hf__env *first;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start_empty(void)
{
    /* The child has one thread; the holder of the lock does not exist in it. */
    pthread_mutex_init(&lock, NULL);
    first = NULL;
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, start_empty);
}

bool hf__registry_lock(int64_t deadline_ms)
{
    (void)pthread_once(&once, watch_forks);
    return hf__mutex_lock_until(&lock, deadline_ms) == 0;
}

void hf__registry_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

hf__env *hf__registry_find(dev_t device, ino_t inode)
{
    for (hf__env *env = first; env != NULL; env = env->next) {
        if (env->device == device && env->inode == inode)
            return env;
    }
    return NULL;
}

hf_status hf__registry_check_apart(const hf__found *found, hf_error *err)
{
    hf_status status = HF_OK;

    for (hf__env *env = first; env != NULL && status == HF_OK; env = env->next)
        status = hf__identity_check_apart(env, found, err);
    return status;
}

void hf__registry_add(hf__env *env)
{
    env->next = first;
    first = env;
}

void hf__registry_remove(hf__env *env)
{
    hf__env **at = &first;

    while (*at != NULL && *at != env)
        at = &(*at)->next;
    if (*at == env)
        *at = env->next;
}
