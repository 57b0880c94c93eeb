/* SPDX-License-Identifier: Apache-2.0 */
/* work.c - see work.h. */
#include "store/quorum/work.h"

bool hf__work_enter(hf__quorum *quorum)
{
    bool open;

    pthread_mutex_lock(&quorum->mutex);
    open = !quorum->closing;
    quorum->submitting += open;
    pthread_mutex_unlock(&quorum->mutex);
    return open;
}

void hf__work_leave(hf__quorum *quorum)
{
    pthread_mutex_lock(&quorum->mutex);
    if (--quorum->submitting == 0 && quorum->closing)
        pthread_cond_broadcast(&quorum->changed);
    pthread_mutex_unlock(&quorum->mutex);
}

void hf__work_begins(hf__quorum *quorum)
{
    pthread_mutex_lock(&quorum->mutex);
    quorum->work++;
    pthread_mutex_unlock(&quorum->mutex);
}

void hf__work_ended_locked(hf__quorum *quorum)
{
    if (--quorum->work == 0 && quorum->closing)
        pthread_cond_broadcast(&quorum->changed);
}
