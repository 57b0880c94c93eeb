/* SPDX-License-Identifier: Apache-2.0 */
/* wait_line.c - see wait_line.h. */
#include "engine/files/wait_line.h"

#include "util/clock.h"
#include "util/cond.h"

void hf__wait_line_init(hf__wait_line *line)
{
    pthread_mutex_init(&line->mutex, NULL);
    line->first = NULL;
    line->last = NULL;
}

static void unlink_place(hf__wait_line *line, const hf__line_place *place)
{
    hf__line_place *before = NULL;

    for (hf__line_place *it = line->first; it != place; it = it->next)
        before = it;
    if (before == NULL)
        line->first = place->next;
    else
        before->next = place->next;
    if (line->last == place)
        line->last = before;
}

bool hf__wait_line_enter(hf__wait_line *line, hf__line_place *place,
                         int64_t deadline_ms)
{
    bool is_first;

    hf__cond_init(&place->turn);
    place->next = NULL;
    pthread_mutex_lock(&line->mutex);
    if (line->last == NULL)
        line->first = place;
    else
        line->last->next = place;
    line->last = place;
    while (line->first != place && hf__clock_boot_ms() < deadline_ms)
        hf__cond_wait_until(&place->turn, &line->mutex, deadline_ms);
    is_first = line->first == place;
    if (!is_first)
        unlink_place(line, place);
    pthread_mutex_unlock(&line->mutex);
    if (!is_first)
        pthread_cond_destroy(&place->turn);
    return is_first;
}

void hf__wait_line_leave(hf__wait_line *line)
{
    hf__line_place *place;

    pthread_mutex_lock(&line->mutex);
    place = line->first;
    unlink_place(line, place);
    if (line->first != NULL)
        pthread_cond_signal(&line->first->turn);
    pthread_mutex_unlock(&line->mutex);
    pthread_cond_destroy(&place->turn);
}
