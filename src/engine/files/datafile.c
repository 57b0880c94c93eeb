/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datafile.c - is a data file safe to hand to LMDB?
 *
 * LMDB trusts its file: a short one is SIGBUS, a damaged one SIGSEGV, SIGABRT
 * or wrong answers. So its meta pages are always checked first, and the whole
 * file when it may have changed since the last check.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/files/files.h"
#include "engine/files/pages.h"
#include "engine/files/rights.h"
#include "util/error.h"

hf_status hf__files_open_data(int dir_fd, int *fd, uint64_t *size,
                              hf_error *err)
{
    struct stat info;

    *fd = hf__rights_open(dir_fd, HF__FILE_DATA, O_RDONLY);
    if (*fd < 0)
        return hf__files_fail(err, errno, "cannot open the data file");
    if (fstat(*fd, &info) == 0) {
        *size = (uint64_t)info.st_size;
        return HF_OK;
    }
    hf__files_fail(err, errno, "cannot stat the data file");
    close(*fd);
    return HF_SYSTEM;
}

hf_status hf__files_check_data(int dir_fd, uint64_t *size, hf_error *err)
{
    hf__finding found;
    hf__meta meta;
    uint64_t file_size = 0;
    int fd;
    hf_status status = hf__files_open_data(dir_fd, &fd, &file_size, err);

    if (status != HF_OK)
        return status;
    if (hf__pages_meta(fd, file_size, &meta, &found))
        *size = file_size;
    else
        status = hf__finding_fail(err, &found);
    close(fd);
    return status;
}
