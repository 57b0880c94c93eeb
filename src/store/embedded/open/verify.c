/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.c - when a data file is to be read whole before it is used.
 *
 * It is known to be whole while a process that has read it works with it. It
 * may be taken to be whole afterwards if that process left a seal (seal.c): a
 * file of some size is then not read, though a disk that fails breaks no seal.
 * Otherwise it is read, for VERIFY_MS at most: a larger file is then trusted,
 * and `store check` reads all of any.
 */
#include "store/embedded/open/verify.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/embedded/files/pages.h"
#include "store/embedded/files/rights.h"
#include "store/embedded/fsck/fsck.h"
#include "util/clock.h"

/* How much longer an open may take: a gigabyte or so, and well within the time
 * that openings wait for each other. */
#define VERIFY_MS 1000

/* What is read in a few milliseconds is always read. */
#define SEALED_LEAST (UINT64_C(16) << 20)

static bool is_large(int fd)
{
    hf__finding found;
    struct stat info;
    hf__meta meta;

    return fstat(fd, &info) == 0 &&
           hf__pages_meta(fd, (uint64_t)info.st_size, &meta, &found) &&
           meta.last_page >= SEALED_LEAST / meta.page_size;
}

static bool is_sealed(const hf__env *env, int dir_fd)
{
    int fd = hf__rights_open(dir_fd, HF__FILE_DATA, O_RDONLY);
    bool fits;

    if (fd < 0)
        return false;
    fits = is_large(fd) && hf__seal_fits(fd, &env->sidecar.map->seal);
    close(fd);
    return fits;
}

hf_status hf__verify(hf__env *env, const hf__settings *settings, int dir_fd,
                     bool adopt, hf_error *err)
{
    hf_status status;

    if (settings->unverified)
        return HF_OK;
    if (adopt ||
        (!hf__sidecar_in_use(&env->sidecar) && !is_sealed(env, dir_fd))) {
        status = hf__fsck_file(dir_fd, hf__clock_boot_ms() + VERIFY_MS, err);
        if (status != HF_OK && status != HF_TIMEOUT)
            return status;
    }
    env->verified = true;
    return HF_OK;
}

void hf__verify_seal(hf__env *env, int data_fd)
{
    hf__seal made;

    /* Who opens it just now is not harmed: its writes break the seal. */
    if (data_fd >= 0 && !env->read_only && env->verified &&
        !hf__sidecar_in_use(&env->sidecar) && hf__seal_make(data_fd, &made))
        env->sidecar.map->seal = made;
}
