/* SPDX-License-Identifier: Apache-2.0 */
/* boot_id.c - see boot_id.h. */
#include "util/boot_id.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "util/error.h"

hf_status hf__boot_id_read(char boot_id[HF__BOOT_ID_SIZE], hf_error *err)
{
    static const char path[] = "/proc/sys/kernel/random/boot_id";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size;

    if (fd < 0)
        return hf__fail_errno(err, HF_SYSTEM, errno, "cannot open %s", path);
    memset(boot_id, 0, HF__BOOT_ID_SIZE);
    size = read(fd, boot_id, HF__BOOT_ID_SIZE - 1);
    close(fd);
    if (size <= 0)
        return hf__fail(err, HF_SYSTEM, "cannot read %s", path);
    return HF_OK;
}
