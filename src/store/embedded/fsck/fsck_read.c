/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsck_read.c - what the parts of fsck share: telling, memory, reading.
 */
#include <string.h>
#include <sys/mman.h>

#include "store/embedded/fsck/fsck.h"

void hf__survey_tell(hf__survey *survey, hf__finding_code code, uint64_t page,
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
    survey->findings++;
    survey->tell(survey, &found);
}

void *hf__survey_map(hf__survey *survey, size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory != MAP_FAILED)
        return memory;
    survey->no_memory = true;
    return NULL;
}

void hf__survey_unmap(void *memory, size_t size)
{
    if (memory != NULL)
        (void)munmap(memory, size);
}

bool hf__survey_read(hf__survey *survey, void *to, size_t size, uint64_t offset)
{
    if (hf__pages_read(survey->fd, to, size, offset))
        return true;
    survey->failed = true;
    survey->error_page = offset / survey->meta.page_size;
    return false;
}

bool hf__survey_value(hf__survey *survey, const hf__item *item, size_t offset,
                      void *to, size_t size)
{
    return hf__survey_read(survey, to, size,
                           item->value_page * survey->meta.page_size +
                               HF__PAGE_HEAD + offset);
}

size_t hf__survey_key_at(hf__survey *survey, uint64_t number, uint32_t index,
                         unsigned char *to, size_t room)
{
    hf__finding found;
    hf__page page;
    hf__node node;

    if (!hf__survey_read(survey, survey->scratch, survey->meta.page_size,
                         number * survey->meta.page_size) ||
        !hf__page_open(survey->scratch, survey->meta.page_size, number, &page,
                       &found) ||
        index >= page.count || !hf__page_node(&page, index, &node))
        return 0;
    if (node.key.size < room)
        room = node.key.size;
    memcpy(to, node.key.data, room);
    return room;
}
