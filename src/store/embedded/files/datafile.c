/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datafile.c - is a data file safe to hand to LMDB?
 *
 * LMDB trusts its file: a short one is SIGBUS, a damaged one SIGSEGV, SIGABRT
 * or wrong answers. So its heads are always judged first, and all of it where
 * it may have changed since it was last known to be whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/embedded/files/files.h"
#include "store/embedded/files/rights.h"
#include "store/embedded/fsck/fsck.h"
#include "util/clock.h"
#include "util/error.h"

static hf_status open_file(int dir_fd, int *fd, uint64_t *size, hf_error *err)
{
    struct stat info;

    *fd = hf__rights_open(dir_fd, HF__FILE_DATA, O_RDONLY);
    if (*fd < 0)
        return hf__files_fail(err, errno, "cannot open the data file");
    if (fstat(*fd, &info) == 0) {
        *size = (uint64_t)info.st_size;
        return HF_OK;
    }
    hf__files_fail(err, errno, "cannot ask for the data file");
    close(*fd);
    return HF_SYSTEM;
}

static hf_status say(const hf__finding *found, hf_error *err)
{
    char text[HF__FINDING_TEXT_SIZE];

    return hf__fail(err, hf__finding_status(found), "%s",
                    hf__finding_text(text, found));
}

hf_status hf__files_check_data(int dir_fd, uint64_t *size, hf_error *err)
{
    hf__finding found;
    hf__meta meta;
    uint64_t file_size = 0;
    int fd;
    hf_status status = open_file(dir_fd, &fd, &file_size, err);

    if (status != HF_OK)
        return status;
    if (hf__pages_meta(fd, file_size, &meta, &found))
        *size = file_size;
    else
        status = say(&found, err);
    close(fd);
    return status;
}

/* ------------------------------------------------------------------ whole */

typedef struct verification {
    hf__finding first; /* the others are not told */
    int64_t deadline_ms;
} verification;

static void keep_first(hf__survey *survey, const hf__finding *found)
{
    verification *self = survey->user;

    if (self->first.code == HF__FOUND_NONE)
        self->first = *found;
}

static bool is_in_time(hf__survey *survey, uint64_t done, uint64_t total)
{
    const verification *self = survey->user;

    (void)done;
    (void)total;
    return hf__clock_boot_ms() < self->deadline_ms;
}

hf_status hf__files_verify(int dir_fd, int64_t deadline_ms, hf_error *err)
{
    verification self = {.deadline_ms = deadline_ms};
    hf__survey survey = {
        .tell = keep_first, .go_on = is_in_time, .user = &self};
    hf_status status = open_file(dir_fd, &survey.fd, &survey.file_size, err);

    if (status != HF_OK)
        return status;
    if (!hf__pages_meta(survey.fd, survey.file_size, &survey.meta,
                        &self.first)) {
        close(survey.fd);
        return say(&self.first, err);
    }
    status = hf__survey_run(&survey);
    close(survey.fd);
    if (self.first.code != HF__FOUND_NONE)
        return say(&self.first, err);
    if (status == HF_SYSTEM)
        return hf__fail(err, HF_SYSTEM, "page %llu: the disk cannot read it",
                        (unsigned long long)survey.error_page);
    if (status == HF_NO_MEMORY)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    return status;
}
