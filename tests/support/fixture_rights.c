/* SPDX-License-Identifier: Apache-2.0 */
/* fixture_rights.c - see fixture_rights.h. */
#include "support/fixture_rights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the page's commands begin, users and passwords included. */
#define CLUSTER "ACL SETUSER holdfast +cluster"
#define QUORUM "ACL SETUSER holdfast +info"
#define DUMP "ACL SETUSER holdfast ~*"
#define DUMP_NEWER "ACL SETUSER holdfast +hpexpiretime"
#define WATCHER "ACL SETUSER watcher on >WATCHWORD"

/* Commands in the page are indented by this much, continuation lines by
 * more. */
#define INDENT 0

static bool add_text(char line[FIXTURE_RIGHTS_SIZE], const char *text)
{
    size_t used = strlen(line);
    int size = (int)strcspn(text, "\n");

    return (size_t)snprintf(line + used, FIXTURE_RIGHTS_SIZE - used, "%s%.*s",
                            used > 0 ? " " : "", size,
                            text) < FIXTURE_RIGHTS_SIZE - used;
}

/* How many commands begin with it; the last of them in `line`. */
static int find_rights(FILE *page, const char *first,
                       char line[FIXTURE_RIGHTS_SIZE])
{
    char text[256];
    bool inside = false;
    int found = 0;

    while (fgets(text, sizeof(text), page) != NULL) {
        size_t indent = strspn(text, " ");
        const char *words = text + indent;

        if (indent == INDENT && strncmp(words, first, strlen(first)) == 0) {
            line[0] = '\0';
            inside = true;
            found++;
        } else {
            inside = inside && indent > INDENT;
        }
        if (inside && !add_text(line, words))
            return -1;
    }
    return found;
}

bool fixture_rights_read(const char *first, char line[FIXTURE_RIGHTS_SIZE])
{
    FILE *page = fopen(HF_SECURITY_GUIDE, "r");
    char *place;
    int found = 0;

    if (page != NULL) {
        found = find_rights(page, first, line);
        (void)fclose(page);
    }
    if (found != 1) {
        fprintf(stderr, "%d commands '%s' in %s\n", found, first,
                HF_SECURITY_GUIDE);
        return false;
    }
    while ((place = strstr(line, "app:*")) != NULL)
        memcpy(place, "t*   ", 5);
    return true;
}

/* Running servers, by number; NULL: there are no more. */
static const redis_server *server_at(const fixture *f, int number)
{
    if (f->cluster != NULL) {
        return number < redis_cluster_size(f->cluster)
                   ? redis_cluster_server(f->cluster, number)
                   : NULL;
    }
    if (f->sentinel != NULL) {
        return number < REDIS_SENTINEL_SERVERS
                   ? redis_sentinel_server(f->sentinel, number)
                   : NULL;
    }
    if (f->store == FIXTURE_QUORUM) { /* those with even numbers were killed
                                       * first */
        static const int alive[] = {1, 3, 4};

        return number < FIXTURE_QUORUM_SIZE - FIXTURE_QUORUM_DEAD
                   ? f->quorum[alive[number]]
                   : NULL;
    }
    return number == 0 ? f->server : NULL;
}

bool fixture_server_run(const fixture *f, int number, const char *command)
{
    const redis_server *server = server_at(f, number);
    char answer[128];

    if (server == NULL ||
        !redis_server_command(server, command, answer, sizeof(answer))) {
        return false;
    }
    if (answer[0] == '-') {
        print_error("%s: %s\n", command, answer);
    }
    return answer[0] != '-';
}

/* Each server has its own access lists. */
static bool give_rights(const fixture *f, const char *first)
{
    char line[FIXTURE_RIGHTS_SIZE];
    int number = 0;

    if (!fixture_rights_read(first, line)) {
        return false;
    }
    while (server_at(f, number) != NULL) {
        if (!fixture_server_run(f, number++, line)) {
            return false;
        }
    }
    return true;
}

/* Rights to commands that an older server does not know. */
static bool give_newer(const fixture *f, const char *first)
{
    char line[FIXTURE_RIGHTS_SIZE], answer[128];
    const redis_server *server;

    if (!fixture_rights_read(first, line))
        return false;
    for (int number = 0; (server = server_at(f, number)) != NULL; number++) {
        if (!redis_server_command(server, line, answer, sizeof(answer)) ||
            (answer[0] == '-' && strstr(answer, "Unknown command") == NULL))
            return false;
    }
    return true;
}

static bool give_watchers(const fixture *f)
{
    char line[FIXTURE_RIGHTS_SIZE], answer[128];

    if (!fixture_rights_read(WATCHER, line)) {
        return false;
    }
    for (int i = 0; i < REDIS_SENTINEL_COUNT; i++) {
        if (!redis_sentinel_command(f->sentinel, i, line, answer,
                                    sizeof(answer)) ||
            answer[0] != '+') {
            return false;
        }
    }
    return true;
}

/* "//" becomes "//holdfast:PASSWORD@", everywhere. */
static bool log_in_by_url(fixture *f)
{
    static const char user[] = "//holdfast:PASSWORD@";
    static const char watcher[] =
        "?sentinel_username=watcher&sentinel_password=WATCHWORD";
    char url[2 * FIXTURE_PATH_SIZE] = "";
    const char *rest = f->url;
    const char *next;
    size_t used = 0;

    while ((next = strstr(rest, "//")) != NULL && used < FIXTURE_PATH_SIZE) {
        used += (size_t)snprintf(url + used, sizeof(url) - used, "%.*s%s",
                                 (int)(next - rest), rest, user);
        rest = next + 2;
    }
    (void)snprintf(url + used, sizeof(url) - used, "%s%s", rest,
                   f->sentinel != NULL ? watcher : "");
    return (size_t)snprintf(f->url, sizeof(f->url), "%s", url) < sizeof(f->url);
}

bool fixture_rights_give(fixture *f)
{
    bool given = give_rights(f, FIXTURE_RIGHTS_USER);

    if (f->rights == FIXTURE_RIGHTS_DUMP) {
        given = given && give_rights(f, DUMP) && give_newer(f, DUMP_NEWER);
    } else {
        given = given && setenv("HOLDFAST_PREFIX", "t", 1) == 0;
    }
    if (f->cluster != NULL) {
        given = given && give_rights(f, CLUSTER);
    }
    if (f->store == FIXTURE_QUORUM) {
        given = given && give_rights(f, QUORUM);
    }
    if (f->sentinel != NULL) {
        given = given && give_watchers(f);
    }
    return given && log_in_by_url(f);
}
