/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.c - see module.h.
 *
 * A module is looked for next to the library (of a program that is linked
 * statically, next to that), and in the folder in which the library is
 * installed; never in one that the environment names, as the program may have
 * more rights than who starts it. The loader itself refuses $ORIGIN to such
 * programs.
 */
#include "records/module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "util/error.h"

#define PATH_SIZE 4096

/* Next to what this code is part of. NULL: not there. Another C library may
 * take the name as it is written, from the current folder. */
static void *open_near(const char *name)
{
    void *library = NULL;

#ifdef __GLIBC__
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof(path), "$ORIGIN/libholdfast-%s.so", name);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
#else
    (void)name;
#endif
    return library;
}

static hf_status open_library(const char *name, void **library, hf_error *err)
{
    char path[PATH_SIZE];

    *library = open_near(name);
    if (*library != NULL)
        return HF_OK;
    (void)snprintf(path, sizeof(path), HF__LIBRARY_FOLDER "/libholdfast-%s.so",
                   name);
    if (access(path, F_OK) != 0)
        return hf__fail(err, HF_UNSUPPORTED,
                        "this store needs libholdfast-%s.so, of the package "
                        "libholdfast-%s, which is not installed",
                        name, name);
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return *library != NULL
               ? HF_OK
               : hf__fail(err, HF_SYSTEM, "cannot load %s", dlerror());
}

hf_status hf__module_load(const char *name, const hf__backend_module **module,
                          hf_error *err)
{
    void *library;
    hf_status status = open_library(name, &library, err);

    if (status != HF_OK)
        return status;
    *module = dlsym(library, "hf__backend_found");
    if (*module == NULL || (*module)->version != HF__BACKEND_VERSION)
        return hf__fail(err, HF_SYSTEM,
                        "libholdfast-%s.so is of another release of Holdfast",
                        name);
    return HF_OK;
}
