/* SPDX-License-Identifier: Apache-2.0 */
/* dump_tape.c - see dump_tape.h. */
#include "support/dump_tape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int dump_tape_put(void *tape, const void *data, size_t size)
{
    dump_tape *to = tape;

    if (to->fails_at != 0 && to->size + size >= to->fails_at)
        return ENOSPC;
    if (to->size + size > to->room) {
        size_t room = 2 * (to->size + size);
        void *more = realloc(to->data, room);

        if (more == NULL)
            return ENOMEM;
        to->data = more;
        to->room = room;
    }
    memcpy(to->data + to->size, data, size);
    to->size += size;
    return 0;
}

int dump_tape_take(void *tape, void *data, size_t size, size_t *got)
{
    dump_tape *from = tape;

    if (from->fails_at != 0 && from->at >= from->fails_at)
        return ECANCELED;
    *got = from->size - from->at < size ? from->size - from->at : size;
    memcpy(data, from->data + from->at, *got);
    from->at += *got;
    return 0;
}
