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

/* Where modules may be, and who may own them besides root and this user: the
 * owner of the library, which is loaded already. */
typedef struct module_place {
    char folder[PATH_SIZE]; /* "": that of the library cannot be used */
    uid_t owner;
} module_place;

/* The folder of the shared library. false: it is the program itself, or its
 * path depends on the current folder. */
static bool find_library(module_place *where)
{
    bool found = false;

#ifdef __GLIBC__
    struct link_map *map = NULL;
    Dl_info info;
    const char *slash;
    struct stat file;

    if (getauxval(AT_SECURE) != 0 ||
        dladdr1(&place, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 ||
        map == NULL || map->l_name[0] != '/')
        return false;
    slash = strrchr(map->l_name, '/');
    found = stat(map->l_name, &file) == 0 &&
            snprintf(where->folder, PATH_SIZE, "%.*s",
                     (int)(slash - map->l_name), map->l_name) < PATH_SIZE;
    where->owner = found ? file.st_uid : 0;
#else
    (void)where;
#endif
    return found;
}

/* Only root, this user, the owner of the library and their groups can change
 * it? */
static hf_status check_owner(const char *path, uid_t owner, hf_error *err)
{
    struct stat found;
    const char *why = NULL;

    if (stat(path, &found) != 0)
        return hf__fail_errno(err, HF_SYSTEM, errno, "stat %s", path);
    if (found.st_uid != 0 && found.st_uid != geteuid() && found.st_uid != owner)
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
static hf_status open_in(const char *folder, uid_t owner, const char *name,
                         void **library, hf_error *err)
{
    char path[PATH_SIZE];
    hf_status status;

    if (snprintf(path, sizeof(path), "%s/libholdfast-%s.so", folder, name) >=
            PATH_SIZE ||
        access(path, F_OK) != 0)
        return HF_NOT_FOUND;
    status = check_owner(folder, owner, err);
    if (status == HF_OK)
        status = check_owner(path, owner, err);
    if (status != HF_OK)
        return status;
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return *library != NULL
               ? HF_OK
               : hf__fail(err, HF_SYSTEM, "cannot load %s", dlerror());
}

static hf_status open_library(const char *name, void **library, hf_error *err)
{
    module_place where = {.owner = 0};
    bool found = find_library(&where);
    hf_status status = HF_NOT_FOUND;

    if (found)
        status = open_in(where.folder, where.owner, name, library, err);
    if (status == HF_NOT_FOUND)
        status = open_in(HF__LIBRARY_FOLDER, 0, name, library, err);
    if (status == HF_NOT_FOUND)
        status = hf__fail(err, HF_UNSUPPORTED,
                          "this store needs libholdfast-%s.so, of the package "
                          "libholdfast-%s, which is not in %s%s%s",
                          name, name, found ? where.folder : "",
                          found ? " or " : "", HF__LIBRARY_FOLDER);
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
