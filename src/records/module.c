/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.c - see module.h.
 *
 * A module is looked for next to the shared library that this code is part of,
 * so that the build tree, and an installed tree that was moved, have their own;
 * then in the folder in which the library is installed. A program that is
 * linked statically, or has more rights than who starts it, has the latter
 * only. Never in a folder that the environment names. What others can change is
 * refused, as they would run in this process.
 */
#include "records/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"

#define PATH_SIZE 4096

/* Of the library, to find it by. */
static const char place;

/* The folder of the shared library. false: it is the program itself, or its
 * path depends on the current folder. */
static bool find_library(char folder[PATH_SIZE])
{
    bool found = false;

#ifdef __GLIBC__
    struct link_map *map = NULL;
    Dl_info info;
    const char *slash;

    if (getauxval(AT_SECURE) != 0 ||
        dladdr1(&place, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 ||
        map == NULL || map->l_name[0] != '/')
        return false;
    slash = strrchr(map->l_name, '/');
    found = snprintf(folder, PATH_SIZE, "%.*s", (int)(slash - map->l_name),
                     map->l_name) < PATH_SIZE;
#else
    (void)folder;
#endif
    return found;
}

/* Only root, this user and their groups can change it? */
static hf_status check_owner(const char *path, hf_error *err)
{
    struct stat found;
    const char *why = NULL;

    if (stat(path, &found) != 0)
        return hf__fail_errno(err, HF_SYSTEM, errno, "stat %s", path);
    if (found.st_uid != 0 && found.st_uid != geteuid())
        why = "is owned by another user";
    else if ((found.st_mode & S_IWOTH) != 0)
        why = "can be written to by everyone";
    else if ((found.st_mode & S_IWGRP) != 0 && found.st_gid != 0 &&
             found.st_gid != getegid())
        why = "can be written to by another group";
    return why == NULL ? HF_OK
                       : hf__fail(err, HF_SYSTEM,
                                  "the module for this store is not loaded: "
                                  "%s %s",
                                  path, why);
}

/* HF_NOT_FOUND: it is not there. */
static hf_status open_in(const char *folder, const char *name, void **library,
                         hf_error *err)
{
    char path[PATH_SIZE];
    hf_status status;

    if (snprintf(path, sizeof(path), "%s/libholdfast-%s.so", folder, name) >=
            PATH_SIZE ||
        access(path, F_OK) != 0)
        return HF_NOT_FOUND;
    status = check_owner(folder, err);
    if (status == HF_OK)
        status = check_owner(path, err);
    if (status != HF_OK)
        return status;
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return *library != NULL
               ? HF_OK
               : hf__fail(err, HF_SYSTEM, "cannot load %s", dlerror());
}

static hf_status open_library(const char *name, void **library, hf_error *err)
{
    char folder[PATH_SIZE];
    hf_status status = HF_NOT_FOUND;

    if (find_library(folder))
        status = open_in(folder, name, library, err);
    if (status == HF_NOT_FOUND)
        status = open_in(HF__LIBRARY_FOLDER, name, library, err);
    if (status == HF_NOT_FOUND)
        status = hf__fail(err, HF_UNSUPPORTED,
                          "this store needs libholdfast-%s.so, of the package "
                          "libholdfast-%s, which is not installed",
                          name, name);
    return status;
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
