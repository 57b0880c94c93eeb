/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cas_session.c - see cas_session.h. Sessions are made when all are in use, and
 * freed with the client.
 *
 * Locks: `mutex`; a session that was taken belongs to its call.
 */
#include "core/cas_session.h"

#include <stdio.h>
#include <string.h>

#include "core/own_key.h"
#include "util/mem.h"

void hf__cas_sessions_init(hf__cas_sessions *sessions, unsigned first,
                           const char *prefix, const char *client)
{
    memset(sessions, 0, sizeof(*sessions));
    sessions->first = first;
    sessions->prefix = prefix;
    sessions->client = client;
    pthread_mutex_init(&sessions->mutex, NULL);
}

void hf__cas_sessions_done(hf__cas_sessions *sessions)
{
    hf__cas_session *session;

    while ((session = sessions->newest) != NULL) {
        sessions->newest = session->older;
        hf__free(session);
    }
    pthread_mutex_destroy(&sessions->mutex);
}

static hf__cas_session *make_session_locked(hf__cas_sessions *sessions)
{
    size_t size = strlen(sessions->prefix) + HF__CAS_KEY_SIZE;
    hf__cas_session *session = hf__calloc(1, sizeof(*session) + size);

    if (session == NULL)
        return NULL;
    session->stem = (size_t)snprintf(
        session->key, size, "%s" HF__ROLE_CAS "%s:%u", sessions->prefix,
        sessions->client, sessions->first + sessions->count);
    session->older = sessions->newest;
    sessions->newest = session;
    sessions->count++;
    return session;
}

hf__cas_session *hf__cas_session_take(hf__cas_sessions *sessions)
{
    hf__cas_session *session;

    pthread_mutex_lock(&sessions->mutex);
    session = sessions->free;
    if (session != NULL)
        sessions->free = session->next;
    else
        session = make_session_locked(sessions);
    pthread_mutex_unlock(&sessions->mutex);
    if (session != NULL)
        session->number++;
    return session;
}

void hf__cas_session_release(hf__cas_sessions *sessions,
                             hf__cas_session *session)
{
    pthread_mutex_lock(&sessions->mutex);
    session->next = sessions->free;
    sessions->free = session;
    pthread_mutex_unlock(&sessions->mutex);
}

hf_bytes hf__cas_session_key(hf__cas_session *session, const hf__store *store,
                             hf_bytes key)
{
    char *at = session->key + session->stem;

    if (store->ops->tag != NULL) {
        *at++ = '{';
        store->ops->tag(store->ops->shard(store, key), at);
        at += strlen(at);
        *at++ = '}';
    }
    return hf_view(session->key, (size_t)(at - session->key));
}

hf_bytes hf__cas_session_number(hf__cas_session *session)
{
    return hf__number(session->text, session->number);
}
