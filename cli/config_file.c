/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_file.c - see config.h.
 *
 * The user's file is read first, and the first line with a name counts. A file
 * is read to its end even so: a bad line behind it would be found only later,
 * by another command. A file that does not exist is empty.
 */
#include "config_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "exit.h"

#define SYSTEM_FILE "/etc/holdfast.conf"

#define BLANKS " \t\r\n"

#define NAME_CHARACTERS                                                        \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

/* What is done with each line; an exit code. */
typedef int (*line_fn)(void *user, const char *name, const char *url);

/* The user's file; "": there is none. */
static void user_file(char path[PATH_MAX])
{
    const char *folder = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    int size = 0;

    path[0] = '\0';
    if (folder != NULL && folder[0] == '/')
        size = snprintf(path, PATH_MAX, "%s/holdfast/config", folder);
    else if (home != NULL && home[0] == '/')
        size = snprintf(path, PATH_MAX, "%s/.config/holdfast/config", home);
    if (size >= PATH_MAX)
        path[0] = '\0';
}

/* What is wrong with a line, which has something; NULL: nothing. */
static const char *read_line(char *line, const char **name, const char **url)
{
    char *end = line + strspn(line, NAME_CHARACTERS);
    char *value = end + strspn(end, BLANKS);

    if (end == line || *value != '=')
        return "expected NAME = URL";
    value++;
    value += strspn(value, BLANKS);
    *end = '\0';
    for (end = value + strlen(value);
         end > value && strchr(BLANKS, end[-1]) != NULL;)
        *--end = '\0';
    if (strchr(value, ':') == NULL)
        return "the URL has no scheme, such as file: or redis:";
    *name = line;
    *url = value;
    return NULL;
}

static int bad_line(const char *path, int number, const char *why)
{
    complain(NULL, "%s:%d: %s", path, number, why);
    return EXIT_USAGE;
}

static int read_file(const char *path, FILE *file, line_fn report, void *user)
{
    char *line = NULL;
    size_t room = 0;
    int code = EXIT_YES;

    for (int number = 1; code == EXIT_YES && getline(&line, &room, file) >= 0;
         number++) {
        const char *name = NULL;
        const char *url = NULL;
        const char *why;
        char *from = line + strspn(line, BLANKS);

        if (*from == '\0' || *from == '#')
            continue;
        why = read_line(from, &name, &url);
        code =
            why != NULL ? bad_line(path, number, why) : report(user, name, url);
    }
    free(line);
    return code;
}

static int read_path(const char *path, line_fn report, void *user)
{
    FILE *file = path[0] == '\0' ? NULL : fopen(path, "re");
    int code;

    if (file == NULL) {
        if (path[0] == '\0' || errno == ENOENT || errno == ENOTDIR)
            return EXIT_YES;
        complain(NULL, "%s: %s", path, strerror(errno));
        return EXIT_USAGE;
    }
    code = read_file(path, file, report, user);
    fclose(file);
    return code;
}

static int read_all(line_fn report, void *user)
{
    char path[PATH_MAX];
    int code;

    user_file(path);
    code = read_path(path, report, user);
    return code == EXIT_YES ? read_path(SYSTEM_FILE, report, user) : code;
}

/* ------------------------------------------------------------------- stores */

struct config_search {
    const char *name;
    char *url; /* NULL: not found */
};

static int keep_url(void *user, const char *name, const char *url)
{
    struct config_search *search = user;

    if (search->url != NULL || strcmp(name, search->name) != 0)
        return EXIT_YES;
    search->url = strdup(url);
    if (search->url != NULL)
        return EXIT_YES;
    complain(NULL, "out of memory");
    return EXIT_SYSTEM;
}

static int no_such_store(const char *what, const char *name)
{
    char path[PATH_MAX];

    user_file(path);
    complain_about(name);
    complain(what,
             "no store \"%s\" in %s%s" SYSTEM_FILE
             "; a URL has a scheme, such as file:%s",
             name, path, path[0] == '\0' ? "" : " or ", name);
    return EXIT_USAGE;
}

/* What the library says of a path is better. */
static bool is_name(const char *text)
{
    return text[strspn(text, NAME_CHARACTERS)] == '\0';
}

int config_find_store(struct options *options, const char *what)
{
    const char *given = options->text[OPT_STORE];
    const char *variable = getenv("HOLDFAST_STORE");
    struct config_search search = {"default", NULL};
    bool named = given != NULL && given[0] != '\0';
    int code;

    if (named ? !is_name(given) : variable != NULL && variable[0] != '\0')
        return EXIT_YES;
    if (named)
        search.name = given;
    code = read_all(keep_url, &search);
    if (code == EXIT_YES && search.url == NULL && named)
        code = no_such_store(what, given);
    if (code != EXIT_YES || search.url == NULL) {
        free(search.url);
        return code;
    }
    free(options->store);
    options->store = search.url;
    options->text[OPT_STORE] = search.url;
    return EXIT_YES;
}

struct config_names {
    void (*report)(void *user, const char *name);
    void *user;
};

static int pass_name(void *user, const char *name, const char *url)
{
    const struct config_names *names = user;

    (void)url;
    names->report(names->user, name);
    return EXIT_YES;
}

void config_names(void (*report)(void *user, const char *name), void *user)
{
    struct config_names names = {report, user};

    (void)read_all(pass_name, &names);
}
