/* SPDX-License-Identifier: Apache-2.0 */
/*
 * undo.c - see undo.h. Each undo is a request with copies of its words, and
 * counted as work: close() waits for it.
 */
#include "store/quorum/undo.h"

#include <string.h>

#include "store/quorum/work.h"
#include "util/clock.h"
#include "util/mem.h"

/* Under way at a time: a bound while a node is unreachable. */
#define UNDOS_MAX 4096

struct hf__release {
    hf__request request;
    hf_bytes words[HF__FOLLOW_WORDS_MAX];
    hf__quorum *quorum;
    hf__release **noted; /* guarded by the quorum's mutex; NULL: not tracked */
    char bytes[];
};

static bool begin_undo(hf__quorum *quorum)
{
    bool room;

    pthread_mutex_lock(&quorum->mutex);
    room = quorum->undos < UNDOS_MAX;
    quorum->undos += room;
    quorum->work += room;
    pthread_mutex_unlock(&quorum->mutex);
    return room;
}

static void end_locked(hf__quorum *quorum)
{
    quorum->undos--;
    hf__work_ended_locked(quorum);
}

static void release_done(hf__request *request)
{
    hf__release *self = request->user;
    hf__quorum *quorum = self->quorum;

    hf__request_done(request);
    pthread_mutex_lock(&quorum->mutex);
    if (self->noted != NULL)
        *self->noted = NULL;
    hf__free(self);
    end_locked(quorum);
    pthread_mutex_unlock(&quorum->mutex);
}

static char *add_word(char *at, hf_bytes word)
{
    memcpy(at, word.data, word.size);
    return at + word.size;
}

static hf__release *release_new(hf__quorum *quorum, const hf__undo *undo)
{
    const hf__acquire_rule *rule = undo->rule;
    size_t size = 0;
    hf__release *self;
    char *at;

    for (size_t i = 0; i < rule->undo.word_count; i++)
        size += undo->words[i].size;
    self = hf__alloc(sizeof(*self) + size);
    if (self == NULL)
        return NULL;
    self->quorum = quorum;
    at = self->bytes;
    for (size_t i = 0; i < rule->undo.word_count; i++) {
        char *begin = at;

        at = add_word(at, undo->words[i]);
        self->words[i] = hf_view(begin, (size_t)(at - begin));
    }
    return self;
}

static void note_undo(hf__release *self, hf__release **noted)
{
    self->noted = noted;
    if (noted == NULL)
        return;
    pthread_mutex_lock(&self->quorum->mutex);
    *noted = self;
    pthread_mutex_unlock(&self->quorum->mutex);
}

void hf__undo_send(hf__quorum *quorum, size_t node, const hf__undo *undo,
                   hf__release **noted)
{
    const hf__follow *rule = &undo->rule->undo;
    hf__store *store = quorum->nodes[node].store;
    hf__request *request;
    hf__release *self;

    if (!begin_undo(quorum))
        return;
    self = release_new(quorum, undo);
    if (self == NULL) {
        pthread_mutex_lock(&quorum->mutex);
        end_locked(quorum);
        pthread_mutex_unlock(&quorum->mutex);
        return;
    }
    note_undo(self, noted);
    request = &self->request;
    hf__request_script(request, rule->script, self->words, rule->word_count,
                       rule->key_count);
    request->began_ms = hf__clock_boot_ms();
    request->deadline_ms = hf__clock_after(request->began_ms, undo->ttl_ms);
    request->on_done = release_done;
    request->user = self;
    store->ops->submit(store, &request, 1);
}

bool hf__undo_ended(hf__quorum *quorum, hf__release **noted)
{
    bool over;

    pthread_mutex_lock(&quorum->mutex);
    over = *noted == NULL;
    if (!over)
        (*noted)->noted = NULL;
    *noted = NULL;
    pthread_mutex_unlock(&quorum->mutex);
    return over;
}
