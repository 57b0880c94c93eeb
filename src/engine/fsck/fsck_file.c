/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsck_file.c - checking a store's data file up to the first error.
 */
#include <unistd.h>

#include "engine/files/files.h"
#include "engine/fsck/fsck.h"
#include "util/clock.h"
#include "util/error.h"

typedef struct verification {
    hf__finding first; /* the others are dropped */
    int64_t deadline_ms;
} verification;

static void keep_first(hf__fsck *fsck, const hf__finding *found)
{
    verification *self = fsck->user;

    if (self->first.code == HF__FOUND_NONE)
        self->first = *found;
}

static bool is_in_time(hf__fsck *fsck, uint64_t done, uint64_t total)
{
    const verification *self = fsck->user;

    (void)done;
    (void)total;
    return hf__clock_boot_ms() < self->deadline_ms;
}

hf_status hf__fsck_file(int dir_fd, int64_t deadline_ms, hf_error *err)
{
    verification self = {.deadline_ms = deadline_ms};
    hf__fsck fsck = {
        .report = keep_first, .keep_going = is_in_time, .user = &self};
    hf_status status =
        hf__files_open_data(dir_fd, &fsck.fd, &fsck.file_size, err);

    if (status != HF_OK)
        return status;
    if (!hf__pages_meta(fsck.fd, fsck.file_size, &fsck.meta, &self.first)) {
        close(fsck.fd);
        return hf__finding_fail(err, &self.first);
    }
    status = hf__fsck_run(&fsck);
    close(fsck.fd);
    if (self.first.code != HF__FOUND_NONE)
        return hf__finding_fail(err, &self.first);
    if (status == HF_SYSTEM)
        return hf__fail(err, HF_SYSTEM, "page %llu: I/O error",
                        (unsigned long long)fsck.error_page);
    if (status == HF_NO_MEMORY)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    return status;
}
