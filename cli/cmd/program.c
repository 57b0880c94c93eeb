/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - find the program of a command, and execute it in our place; see
 * programs.h.
 *
 * The process stays the same, and with it the descriptors, the environment and
 * the process id, by which systemd addresses the sockets that it passes on.
 *
 * It is looked for where it was installed, as seen from our own file, as a tree
 * may have been moved; next to us, where a build puts it; and in the folder
 * that was configured, as our file may be a copy.
 */
#include "programs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "complain.h"
#include "exit.h"

/* The folder of our own file, without a slash at its end; "": unknown. */
static void find_own_folder(char folder[PATH_MAX])
{
    ssize_t size = readlink("/proc/self/exe", folder, PATH_MAX - 1);

    folder[size > 0 ? size : 0] = '\0';
    if (size > 0)
        *strrchr(folder, '/') = '\0';
}

/* Returns if it failed; false: there is no such file. */
static bool execute_in(const char *folder, const char *below, const char *name,
                       const struct call *call)
{
    char path[2 * PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s%s/%s", folder, below, name);
    (void)execv(path, call->words);
    if (errno == ENOENT || errno == ENOTDIR)
        return false;
    complain(call->command->grammar.name, "cannot execute %s: %s", path,
             strerror(errno));
    return true;
}

/* Returns if it failed, its exit code. */
static int execute_program(const struct call *call, const char *name,
                           const char *option)
{
    char own[PATH_MAX];

    find_own_folder(own);
    if ((own[0] != '\0' &&
         (execute_in(own, "/" HF_PROGRAMS_FROM_COMMAND, name, call) ||
          execute_in(own, "", name, call))) ||
        execute_in(HF_PROGRAMS_FOLDER, "", name, call))
        return EXIT_SYSTEM;
    complain_about(name);
    complain(call->command->grammar.name,
             "the program %s is missing in " HF_PROGRAMS_FOLDER
             " and %s/" HF_PROGRAMS_FROM_COMMAND
             ": install the package that has it, or build with %s=ON",
             name, own, option);
    return EXIT_CONFIG;
}

static int execute_serve(struct call *call)
{
    return execute_program(call, "holdfast-serve", "HF_SERVE");
}

static int execute_top(struct call *call)
{
    return execute_program(call, "holdfast-top", "HF_TOP");
}

/* They open the store. */
const struct command serve_commands[] = {
    {.grammar = SERVE_GRAMMAR, .opens_store = true, .run = execute_serve},
    COMMAND_END,
};

const struct command top_commands[] = {
    {.grammar = TOP_GRAMMAR, .opens_store = true, .run = execute_top},
    COMMAND_END,
};
