/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late_look.c - an LD_PRELOAD library: a program sees that its child stopped
 * only after a while, as on a busy machine.
 */
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#define LATE_US 300000

__attribute__((visibility("default"))) int waitid(idtype_t type, id_t id,
                                                  siginfo_t *info, int options)
{
    int (*real)(idtype_t, id_t, siginfo_t *, int);
    int result;

    *(void **)&real = dlsym(RTLD_NEXT, "waitid");
    result = real(type, id, info, options);
    if (result == 0 && options & WSTOPPED && info->si_pid != 0)
        (void)usleep(LATE_US);
    return result;
}
