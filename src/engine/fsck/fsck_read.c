/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsck_read.c - reporting, memory and reading for the other files of fsck.
 */
#include <string.h>
#include <sys/mman.h>

#include "engine/fsck/fsck.h"

void hf__fsck_report(hf__fsck *fsck, hf__finding_code code, uint64_t page,
                     hf_bytes key, uint64_t a, uint64_t b)
{
    hf__finding found;

    memset(&found, 0, sizeof(found));
    found.code = code;
    found.page = page;
    found.a = a;
    found.b = b;
    found.key_size =
        (uint32_t)(key.size < HF__FINDING_KEY_MAX ? key.size
                                                  : HF__FINDING_KEY_MAX);
    if (found.key_size > 0)
        memcpy(found.key, key.data, found.key_size);
    if (fsck->again) {
        fsck->last = found;
        return;
    }
    fsck->findings++;
    fsck->report(fsck, &found);
}

void *hf__fsck_map(hf__fsck *fsck, size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory != MAP_FAILED)
        return memory;
    fsck->no_memory = true;
    return NULL;
}

void hf__fsck_unmap(void *memory, size_t size)
{
    if (memory != NULL)
        (void)munmap(memory, size);
}

bool hf__fsck_read(hf__fsck *fsck, void *to, size_t size, uint64_t offset)
{
    if (hf__pages_read(fsck->fd, to, size, offset))
        return true;
    fsck->failed = true;
    fsck->error_page = offset / fsck->meta.page_size;
    return false;
}

bool hf__fsck_value(hf__fsck *fsck, const hf__item *item, size_t offset,
                    void *to, size_t size)
{
    return hf__fsck_read(fsck, to, size,
                         item->value_page * fsck->meta.page_size +
                             HF__PAGE_HEAD + offset);
}

size_t hf__fsck_key_at(hf__fsck *fsck, uint64_t number, uint32_t index,
                       unsigned char *to, size_t room)
{
    hf__finding found;
    hf__page page;
    hf__node node;

    if (!hf__fsck_read(fsck, fsck->scratch, fsck->meta.page_size,
                       number * fsck->meta.page_size) ||
        !hf__page_open(fsck->scratch, fsck->meta.page_size, number, &page,
                       &found) ||
        index >= page.count || !hf__page_node(&page, index, &node))
        return 0;
    if (node.key.size < room)
        room = node.key.size;
    memcpy(to, node.key.data, room);
    return room;
}
