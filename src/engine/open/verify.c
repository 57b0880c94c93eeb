/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.c - whether a data file is checked before it is used.
 *
 * It is known to be intact while a process that has checked it has it open.
 * Afterwards a large file is trusted if that process left a matching seal
 * (seal.c), although this does not detect a failing disk. Otherwise it is
 * checked for VERIFY_MS at most; the rest of a larger file is trusted. `store
 * check` always checks all of it.
 */
#include "engine/open/verify.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/files/pages.h"
#include "engine/files/rights.h"
#include "engine/fsck/fsck.h"
#include "util/clock.h"

/* Enough for a gigabyte or so, and well within the time that opens wait for
 * each other. */
#define VERIFY_MS 1000

/* Smaller files take a few milliseconds and are always checked. */
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

    /* Harmless if it is being opened now: writes break the seal. */
    if (data_fd >= 0 && !env->read_only && env->verified &&
        !hf__sidecar_in_use(&env->sidecar) && hf__seal_make(data_fd, &made))
        env->sidecar.map->seal = made;
}
