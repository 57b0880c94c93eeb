/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - from a URL to the directory of an embedded store.
 *
 * Paths are made absolute here.
 */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/files/files.h"
#include "engine/files/format.h"
#include "engine/files/sidecar.h"
#include "holdfast/client.h"
#include "util/error.h"
#include "util/mem.h"

/* Larger than any group entry in use. */
#define GROUP_SIZE 65536

static bool is_name(const char *text)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789._-";

    return text[0] != '\0' && text[strspn(text, allowed)] == '\0' &&
           strcmp(text, ".") != 0 && strcmp(text, "..") != 0 &&
           strlen(text) <= 100;
}

static hf_status set_path(hf__settings *settings, const char *first,
                          const char *second, hf_error *err)
{
    int size = snprintf(settings->path, sizeof(settings->path), "%s/%s", first,
                        second);

    if (size < 0 || (size_t)size >= sizeof(settings->path))
        return hf__fail(err, HF_INVALID, "the store's path is too long");
    /* A trailing slash would make open() follow a link. */
    while (size > 1 && settings->path[size - 1] == '/')
        settings->path[--size] = '\0';
    return HF_OK;
}

static hf_status place_volatile(const char *path, hf__settings *settings,
                                hf_error *err)
{
    char folder[PATH_MAX];
    char text[HF__QUOTED_SIZE];
    hf_status status;

    settings->mode = HF__MODE_VOLATILE;
    if (path[0] == '/')
        return set_path(settings, "", path + 1, err);
    if (path[0] == '\0')
        path = "default";
    if (!is_name(path))
        return hf__fail(err, HF_INVALID,
                        "bad name of a volatile store: %s (letters, digits, "
                        "'.', '_' and '-')",
                        hf__quoted(text, hf_view(path, strlen(path))));
    status = settings->shared
                 ? hf__volatile_dir_of_group(settings->group, folder,
                                             sizeof(folder), err)
                 : hf__volatile_dir_of_user(folder, sizeof(folder), err);
    if (status != HF_OK)
        return status;
    settings->ours = true;
    return set_path(settings, folder, path, err);
}

static hf_status place_file(const hf__url *url, hf__settings *settings,
                            hf_error *err)
{
    const char *durability = hf__url_param_get(url, "durability");
    char cwd[PATH_MAX];
    char text[HF__QUOTED_SIZE];

    settings->mode = HF__MODE_DURABLE;
    if (durability != NULL && strcmp(durability, "flush") == 0)
        settings->mode = HF__MODE_FLUSH;
    else if (durability != NULL && strcmp(durability, "log") == 0)
        settings->mode = HF__MODE_LOG;
    else if (durability != NULL && strcmp(durability, "commit") != 0)
        return hf__fail(
            err, HF_INVALID, "bad durability: %s",
            hf__quoted(text, hf_view(durability, strlen(durability))));
    if (url->path[0] == '\0')
        return hf__fail(err, HF_INVALID, "the URL has no directory");
    if (url->path[0] == '/')
        return set_path(settings, "", url->path + 1, err);
    if (getcwd(cwd, sizeof(cwd)) == NULL)
        return hf__files_fail(err, errno, "cannot stat the directory");
    return set_path(settings, cwd, url->path, err);
}

static hf_status check_parts(const hf__url *url, bool file, hf_error *err)
{
    static const char *const known_file[] = {
        "max_size", "script_budget_ms", "durability", "mode", "group", "db",
        NULL};
    static const char *const known_volatile[] = {
        "max_size", "script_budget_ms", "mode", "group", "db", NULL};

    if (url->host != NULL && url->host[0] != '\0')
        return hf__fail(err, HF_INVALID, "the URL has a host: \"%s\"",
                        url->host);
    if (url->port != 0)
        return hf__fail(err, HF_INVALID, "the URL has a port");
    if (url->username != NULL || url->password != NULL)
        return hf__fail(err, HF_INVALID, "the URL has a user name");
    return hf__url_check_params(url, file ? known_file : known_volatile, err);
}

/* A name, or a number that is no group's name. */
static bool find_group(const char *name, gid_t *group)
{
    struct group entry, *found = NULL;
    char *memory = hf__alloc(GROUP_SIZE);
    unsigned long number;
    char *end;

    if (memory != NULL &&
        getgrnam_r(name, &entry, memory, GROUP_SIZE, &found) == 0 &&
        found != NULL)
        *group = found->gr_gid;
    hf__free(memory);
    if (found != NULL)
        return true;
    errno = 0;
    number = strtoul(name, &end, 10);
    *group = (gid_t)number;
    return name[0] >= '0' && name[0] <= '9' && *end == '\0' && errno == 0 &&
           number < (gid_t)-1;
}

static hf_status read_rights(const hf__url *url, hf__settings *settings,
                             hf_error *err)
{
    const char *mode = hf__url_param_get(url, "mode");
    const char *group = hf__url_param_get(url, "group");
    char text[HF__QUOTED_SIZE];

    if (mode != NULL && strcmp(mode, "0660") != 0 && strcmp(mode, "0600") != 0)
        return hf__fail(err, HF_INVALID, "bad mode: %s (0600 or 0660)",
                        hf__quoted(text, hf_view(mode, strlen(mode))));
    settings->shared = mode != NULL && strcmp(mode, "0660") == 0;
    if (settings->shared != (group != NULL))
        return hf__fail(err, HF_INVALID,
                        "a store for a group needs mode=0660 and group=NAME");
    if (settings->shared && !find_group(group, &settings->group))
        return hf__fail(err, HF_INVALID, "no such group: %s",
                        hf__quoted(text, hf_view(group, strlen(group))));
    return HF_OK;
}

static hf_status read_database(const hf__url *url, hf__settings *settings,
                               hf_error *err)
{
    const char *number = hf__url_param_get(url, "db");
    int64_t database = 0;
    hf_status status = HF_OK;

    if (number != NULL)
        status =
            hf__parse_int(number, 0, HF__DATABASES - 1, "db", &database, err);
    settings->database = (uint8_t)database;
    return status;
}

hf_status hf__settings_read(const hf__url *url, hf__settings *settings,
                            hf_error *err)
{
    const char *max_size = hf__url_param_get(url, "max_size");
    const char *budget = hf__url_param_get(url, "script_budget_ms");
    bool file = strcmp(url->scheme, "file") == 0;
    int64_t size = 0;
    hf_status status = check_parts(url, file, err);

    memset(settings, 0, sizeof(*settings));
    if (status == HF_OK && max_size != NULL)
        status = hf__parse_size(max_size, HF__SIZE_MIN, HF__SIZE_MAX,
                                "max_size", &size, err);
    if (status == HF_OK && budget != NULL)
        status = hf__parse_int(budget, 1, HF_SCRIPT_BUDGET_MAX_MS,
                               "script_budget_ms", &settings->budget_ms, err);
    if (status != HF_OK)
        return status;
    settings->max_size = (uint64_t)size & ~UINT64_C(0xffff);
    status = read_rights(url, settings, err);
    if (status == HF_OK)
        status = read_database(url, settings, err);
    if (status != HF_OK)
        return status;
    if (file)
        return place_file(url, settings, err);
    return place_volatile(url->path, settings, err);
}
