/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_damage_try.c - a process that uses a damaged store, and its outcome.
 * It reports its progress in shared memory, which outlives it however it ends.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "embedded_damage.h"
#include "embedded_damage_content.h"
#include "holdfast/store.h"

/* Every call has its own limit of a few seconds; beyond this it hangs. */
#define LIMIT_S 60
#define CALL_MS 3000

static outcome *shared(void)
{
    static outcome *memory;

    if (memory == NULL) {
        memory = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            abort();
    }
    memset(memory, 0, sizeof(*memory));
    return memory;
}

static void tell(outcome *to, ending how, hf_status status, const hf_error *err)
{
    to->how = how;
    to->status = status;
    memcpy(to->message, err->message, sizeof(to->message));
}

static void run(const stage *self, void (*act)(const stage *, outcome *),
                outcome *result)
{
    outcome *told = shared();
    int status;
    pid_t pid;

    (void)fflush(stdout);
    pid = fork();
    if (pid == 0) {
        (void)alarm(LIMIT_S);
        /* LMDB prints a failed assertion on stderr and aborts. */
        if (freopen("/dev/null", "w", stderr) == NULL)
            abort();
        act(self, told);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        abort();
    *result = *told;
    if (WIFSIGNALED(status)) {
        result->signal = WTERMSIG(status);
        result->how = result->signal == SIGALRM ? END_HUNG : END_CRASHED;
    } else if (WEXITSTATUS(status) != 0) {
        result->how = END_CRASHED; /* a sanitizer's report */
    }
}

static void check(const stage *self, outcome *to)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_store_check(self->url, NULL, NULL, NULL, &err);

    tell(to, status == HF_OK ? END_OK : END_STATUS, status, &err);
}

void try_check(const stage *self, outcome *result)
{
    run(self, check, result);
}

static void use(const stage *self, outcome *to)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    hf_status status;

    opts.connect_ms = CALL_MS;
    opts.request_ms = CALL_MS;
    opts.script_budget_ms = 60000;
    status = hf_client_open(self->url, &opts, &client, &err);
    if (status != HF_OK) {
        tell(to, END_STATUS, status, &err);
        return;
    }
    to->opened = true;
    switch (content_read(client, self->seed, &err)) {
    case READ_WRONG:
        tell(to, END_WRONG, HF_OK, &err);
        break;
    case READ_ERROR:
        tell(to, END_STATUS, err.status, &err);
        break;
    default:
        break;
    }
    status = content_overwrite(client, self->seed, &err);
    if (to->how == END_OK && status != HF_OK)
        tell(to, END_STATUS, status, &err);
    hf_client_close(client);
}

void try_use(const stage *self, outcome *result)
{
    run(self, use, result);
}
