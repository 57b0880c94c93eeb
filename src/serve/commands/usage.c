/* SPDX-License-Identifier: Apache-2.0 */
/* usage.c - see usage.h. */
#include "serve/commands/usage.h"

#include <string.h>

#include "serve/state.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"

/* The slot of a name, or the free one where it belongs. */
static hf_server_command **find_slot(hf__usage *usage, const char *name)
{
    /* Fibonacci hashing; the table has room for more than all commands. */
    size_t at =
        (size_t)((uint64_t)(uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15) >>
                 32);

    for (;; at++) {
        hf_server_command **slot = &usage->slots[at % HF__USAGE_SLOTS];

        if (*slot == NULL || (*slot)->name == name)
            return slot;
    }
}

static hf_server_command *new_command(const char *name)
{
    hf_server_command *made = hf__calloc(1, sizeof(*made));

    if (made == NULL)
        return NULL;
    made->struct_size = sizeof(*made);
    made->name = name;
    return made;
}

static size_t time_of(int64_t ns)
{
    uint64_t us = ns > 0 ? (uint64_t)ns / 1000 : 0;
    size_t time = us == 0 ? 0 : 64 - (size_t)__builtin_clzll(us);

    return time < HF_SERVER_TIMES ? time : HF_SERVER_TIMES - 1;
}

/* Without memory it is not counted. */
int64_t hf__usage_end(hf__usage *usage, const char *name, bool failed,
                      int64_t began_ns)
{
    hf_server_command **slot = find_slot(usage, name);
    hf_server_command *command = *slot;
    int64_t took_ns;

    usage->tick_ns =
        began_ns < 0 ? hf__clock_tick_ns() : hf__clock_monotonic_ns();
    took_ns = usage->tick_ns - (began_ns < 0 ? -began_ns : began_ns);
    if (began_ns < 0 && took_ns < HF__USAGE_TICK_NS)
        took_ns = 0;
    if (command == NULL)
        command = *slot = new_command(name);
    if (command == NULL)
        return took_ns;
    command->calls++;
    command->failed += failed;
    if (began_ns < 0)
        return took_ns;
    command->timed++;
    command->timed_ns += (uint64_t)took_ns;
    command->times[time_of(took_ns)]++;
    return took_ns;
}

/* After hf__usage_clear() there may be no count. */
void hf__usage_again(hf__usage *usage, const char *name)
{
    hf_server_command *command = *find_slot(usage, name);

    if (command != NULL && command->calls > 1)
        command->calls--;
}

void hf__usage_fail_call(hf__usage *usage, const char *name)
{
    hf_server_command *command = *find_slot(usage, name);

    if (command != NULL)
        command->failed++;
}

void hf__usage_failed(hf__usage *usage, const char *error)
{
    size_t size = strcspn(error, " ");

    if (size >= sizeof(usage->codes[0].text))
        size = sizeof(usage->codes[0].text) - 1;
    for (size_t i = 0; i < HF__USAGE_CODES; i++) {
        hf__usage_code *code = &usage->codes[i];

        if (code->count == 0)
            memcpy(code->text, error, size);
        if (strncmp(code->text, error, size) != 0 || code->text[size] != '\0')
            continue;
        code->count++;
        return;
    }
}

void hf__usage_clear(hf__usage *usage)
{
    memset(usage->codes, 0, sizeof(usage->codes));
    for (size_t i = 0; i < HF__USAGE_SLOTS; i++) {
        hf__free(usage->slots[i]);
        usage->slots[i] = NULL;
    }
}

/* ------------------------------------------------------------------ reading */

typedef struct copying {
    hf__task task;
    const hf__usage *usage;
    hf_server_command *copies;
    size_t count;
} copying;

static void run_copy(hf__task *task)
{
    copying *what = hf__container_of(task, copying, task);

    for (size_t i = 0; i < HF__USAGE_SLOTS; i++) {
        if (what->usage->slots[i] != NULL)
            what->copies[what->count++] = *what->usage->slots[i];
    }
}

hf_status hf_server_read_commands(hf_server *server,
                                  hf_server_command_fn report, void *user,
                                  hf_error *err)
{
    copying what = {{.run = run_copy}, &server->usage, NULL, 0};

    what.copies = hf__alloc(HF__USAGE_SLOTS * sizeof(*what.copies));
    if (what.copies == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    hf__loop_call(server->loop, &what.task);
    for (size_t i = 0; i < what.count; i++)
        report(user, &what.copies[i]);
    hf__free(what.copies);
    return HF_OK;
}
