/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - from a URL to the directory of an embedded store.
 *
 * A named volatile store has one place, whatever the session: a cron job and a
 * login shell of one user must exclude one another, so the choice must not
 * depend on the environment. $XDG_RUNTIME_DIR is used only where there is no
 * /dev/shm at all.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/embedded/files/files.h"
#include "store/embedded/files/sidecar.h"
#include "util/error.h"

#define SHM "/dev/shm"

static bool is_name(const char *text)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789._-";

    return text[0] != '\0' && text[strspn(text, allowed)] == '\0' &&
           strcmp(text, ".") != 0 && strcmp(text, "..") != 0 &&
           strlen(text) <= 100;
}

static hf_status set_path(hf__place *place, const char *first,
                          const char *second, hf_error *err)
{
    int size =
        snprintf(place->path, sizeof(place->path), "%s/%s", first, second);

    if (size < 0 || (size_t)size >= sizeof(place->path))
        return hf__fail(err, HF_INVALID, "the store's path is too long");
    /* One at the end would have a link followed. */
    while (size > 1 && place->path[size - 1] == '/')
        place->path[--size] = '\0';
    return HF_OK;
}

/* The folder of this user's volatile stores. */
static hf_status make_home(char *home, size_t size, hf_error *err)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    struct stat info;

    if (stat(SHM, &info) == 0 && S_ISDIR(info.st_mode) &&
        access(SHM, W_OK | X_OK) == 0)
        (void)snprintf(home, size, SHM "/holdfast-%lu",
                       (unsigned long)geteuid());
    else if (runtime == NULL || runtime[0] != '/' || strlen(runtime) > 3000)
        return hf__fail(err, HF_SYSTEM,
                        "no " SHM " and no XDG_RUNTIME_DIR to keep it in");
    else
        (void)snprintf(home, size, "%s/holdfast", runtime);
    if (mkdir(home, 0700) != 0 && errno != EEXIST) {
        int number = errno;

        (void)hf__files_fail(err, number, "cannot create the folder");
        hf__fail_prefix(err, "\"%s\"", home);
        return hf__files_fail(NULL, number, "");
    }
    if (lstat(home, &info) != 0 || !S_ISDIR(info.st_mode) ||
        info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return hf__fail(err, HF_DENIED,
                        "\"%s\" is not a directory of this user alone", home);
    return HF_OK;
}

static hf_status place_volatile(const char *path, hf__place *place,
                                hf_error *err)
{
    char home[PATH_MAX];
    char text[HF__QUOTED_SIZE];
    hf_status status;

    place->mode = HF__MODE_VOLATILE;
    if (path[0] == '/')
        return set_path(place, "", path + 1, err);
    if (path[0] == '\0')
        path = "default";
    if (!is_name(path))
        return hf__fail(err, HF_INVALID,
                        "bad name of a volatile store: %s (letters, digits, "
                        "'.', '_' and '-')",
                        hf__quoted(text, hf_view(path, strlen(path))));
    status = make_home(home, sizeof(home), err);
    if (status != HF_OK)
        return status;
    place->ours = true;
    return set_path(place, home, path, err);
}

static hf_status place_file(const hf__url *url, hf__place *place, hf_error *err)
{
    const char *durability = hf__url_param_get(url, "durability");
    char cwd[PATH_MAX];
    char text[HF__QUOTED_SIZE];

    place->mode = HF__MODE_DURABLE;
    if (durability != NULL && strcmp(durability, "flush") == 0)
        place->mode = HF__MODE_FLUSH;
    else if (durability != NULL && strcmp(durability, "commit") != 0)
        return hf__fail(
            err, HF_INVALID, "bad durability: %s",
            hf__quoted(text, hf_view(durability, strlen(durability))));
    if (url->path[0] == '\0')
        return hf__fail(err, HF_INVALID, "the URL names no directory");
    if (url->path[0] == '/')
        return set_path(place, "", url->path + 1, err);
    if (getcwd(cwd, sizeof(cwd)) == NULL)
        return hf__files_fail(err, errno, "cannot ask for the directory");
    return set_path(place, cwd, url->path, err);
}

static hf_status check_parts(const hf__url *url, bool file, hf_error *err)
{
    static const char *const known_file[] = {"max_size", "script_budget_ms",
                                             "durability", NULL};
    static const char *const known_volatile[] = {"max_size", "script_budget_ms",
                                                 NULL};

    if (url->host != NULL && url->host[0] != '\0')
        return hf__fail(err, HF_INVALID, "the URL has a host: \"%s\"",
                        url->host);
    if (url->port != 0)
        return hf__fail(err, HF_INVALID, "the URL has a port");
    if (url->username != NULL || url->password != NULL)
        return hf__fail(err, HF_INVALID, "the URL has a user name");
    return hf__url_check_params(url, file ? known_file : known_volatile, err);
}

hf_status hf__files_place(const hf__url *url, hf__place *place, hf_error *err)
{
    const char *max_size = hf__url_param_get(url, "max_size");
    const char *budget = hf__url_param_get(url, "script_budget_ms");
    bool file = strcmp(url->scheme, "file") == 0;
    int64_t size = 0;
    hf_status status = check_parts(url, file, err);

    memset(place, 0, sizeof(*place));
    if (status == HF_OK && max_size != NULL)
        status = hf__parse_size(max_size, HF__SIZE_MIN, HF__SIZE_MAX,
                                "max_size", &size, err);
    if (status == HF_OK && budget != NULL)
        status = hf__parse_int(budget, 1, HF_SCRIPT_BUDGET_MAX_MS,
                               "script_budget_ms", &place->budget_ms, err);
    if (status != HF_OK)
        return status;
    place->max_size = (uint64_t)size & ~UINT64_C(0xffff);
    if (file)
        return place_file(url, place, err);
    return place_volatile(url->path, place, err);
}
