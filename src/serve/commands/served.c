/* SPDX-License-Identifier: Apache-2.0 */
/* served.c - see served.h. */
#include "serve/commands/served.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "engine/engine.h"
#include "store/known_commands.h"
#include "util/names.h"

static const hf__served_entry *const *_Atomic all;

#define SERVED_MAX 160

/* The last one has no name. */
static hf__served rows[SERVED_MAX + 1];
static hf__names names;
static pthread_once_t names_once = PTHREAD_ONCE_INIT;

void hf__served_use(const hf__served_entry *const *tables)
{
    atomic_store(&all, tables);
}

/* Without a row in the table of known commands no number of words fits. */
static void add_row(hf__served *row, const hf__served_entry *entry)
{
    const hf__known_command *known = hf__known_find_row(hf_str(entry->name));

    *row = (hf__served){.name = entry->name,
                        .arity = known != NULL ? known->arity : 0,
                        .flags = entry->flags,
                        .run = entry->run};
    if (strchr(row->name, '|') == NULL)
        hf__names_add(&names, hf_str(row->name), row);
}

static void add_all(void)
{
    const hf__served_entry *const *tables = atomic_load(&all);
    size_t count = 0;

    for (; *tables != NULL; tables++) {
        for (const hf__served_entry *entry = *tables;
             entry->name != NULL && count < SERVED_MAX; entry++)
            add_row(&rows[count++], entry);
    }
}

const hf__served *hf__served_all(void)
{
    (void)pthread_once(&names_once, add_all);
    return rows;
}

const hf__served *hf__served_find(hf_bytes name)
{
    (void)pthread_once(&names_once, add_all);
    return hf__names_find(&names, name);
}

/* ------------------------------------------------------------- subcommands */

static const hf__served *find_subcommand(const hf__served *row, hf_bytes name)
{
    size_t size = strlen(row->name);

    for (row++; row->name != NULL && strchr(row->name, '|') != NULL; row++) {
        if (hf__arg_is(name, row->name + size + 1))
            return row;
    }
    return NULL;
}

bool hf__served_arity(hf__conn *conn, const char *name, int arity, size_t count)
{
    if (hf__known_arity_fits(arity, count))
        return true;
    hf__answer_arity(&conn->answer, name);
    return false;
}

static bool has_subcommands(const hf__served *row)
{
    return row[1].name != NULL && strchr(row[1].name, '|') != NULL;
}

/* NULL, with an error: there is none that fits. */
static const hf__served *subcommand_of(hf__conn *conn, const hf__served *row,
                                       const hf_bytes *words, size_t count)
{
    const hf__served *found = find_subcommand(row, words[1]);
    char text[HF__OUT_ERROR_SIZE];

    if (found == NULL) {
        hf__unknown_subcommand_text(text, row->name, words[1]);
        hf__answer_error(&conn->answer, "%s", text);
        return NULL;
    }
    return hf__served_arity(conn, found->name, found->arity, count) ? found
                                                                    : NULL;
}

bool hf__served_fits(hf__conn *conn, const hf__served *row,
                     const hf_bytes *words, size_t count)
{
    if (!hf__served_arity(conn, row->name, row->arity, count))
        return false;
    return count < 2 || !has_subcommands(row) ||
           subcommand_of(conn, row, words, count) != NULL;
}

void hf__served_subcommand(hf__conn *conn, const hf_bytes *words, size_t count)
{
    const hf__served *found =
        subcommand_of(conn, hf__served_find(words[0]), words, count);

    if (found == NULL)
        return;
    conn->last = found->name;
    found->run(conn, words, count);
}

void hf__served_help(hf__conn *conn, const char *name, const char *const *lines)
{
    char text[HF__OUT_ERROR_SIZE];
    size_t count = 0;

    while (lines[count] != NULL)
        count++;
    hf__answer_array(&conn->answer, count + 3);
    hf__help_heading(text, name);
    hf__answer_line(&conn->answer, text);
    for (size_t i = 0; i < count; i++)
        hf__answer_line(&conn->answer, lines[i]);
    hf__answer_line(&conn->answer, "HELP");
    hf__answer_line(&conn->answer, "    Prints this help.");
}
