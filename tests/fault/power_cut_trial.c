/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_cut_trial.c - opening one image and judging it, in a child, because a
 * bad image may kill the process that opens it.
 */
#include "power_cut_trial.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/store.h"
#include "holdfast/value.h"
#include "power_cut_found.h"

/* Opening, reading and checking takes milliseconds; on a loaded machine some
 * seconds. */
#define LIMIT_S 60

static int out_fd; /* the child's: where its reason goes */

__attribute__((format(printf, 1, 2), noreturn)) static void
fail(const char *format, ...)
{
    char text[TRIAL_WHY_SIZE];
    va_list rest;

    va_start(rest, format);
    (void)vsnprintf(text, sizeof(text), format, rest);
    va_end(rest);
    if (write(out_fd, text, strlen(text)) < 0)
        _exit(2);
    _exit(1);
}

static void judge_thread(const promise *given, unsigned thread,
                         hf_client *client)
{
    hf_error err = HF_ERROR_INIT;
    model want = given->least[thread];
    uint64_t least = want.count;
    const char *first;
    found there;

    if (found_read(&there, client, thread, &err) != HF_OK)
        fail("thread %u cannot be read: %s", thread, err.message);
    first = found_differs(&there, &want);
    for (const char *differs = first; differs != NULL;) {
        op next = model_next(&want);

        if (want.count >= given->most[thread])
            fail("thread %u: %s is not in the state after %llu acknowledged of "
                 "%llu "
                 "begun operations",
                 thread, first, (unsigned long long)least,
                 (unsigned long long)given->most[thread]);
        model_apply(&want, &next);
        differs = found_differs(&there, &want);
    }
    if (there.token < given->tokens[thread])
        fail("thread %u: fencing token %llu, but %llu was issued", thread,
             (unsigned long long)there.token,
             (unsigned long long)given->tokens[thread]);
    found_free(&there);
}

static void judge_use(hf_client *client)
{
    hf_error err = HF_ERROR_INIT;
    hf_buffer value = HF_BUFFER_INIT;
    int64_t sum;

    if (accounts_sum(client, &sum, &err) != HF_OK)
        fail("the accounts cannot be read: %s", err.message);
    if (sum != 0)
        fail("the accounts add up to %lld", (long long)sum);
    if (hf_value_set(client, hf_str("after"), hf_str("the cut"), NULL, NULL,
                     &err) != HF_OK ||
        hf_value_get(client, hf_str("after"), &value, &err) != HF_OK)
        fail("it cannot be written to: %s", err.message);
    hf_buffer_free(&value);
}

static void tell_finding(void *user, const char *finding)
{
    char *first = user;

    if (first[0] == '\0')
        (void)snprintf(first, TRIAL_WHY_SIZE / 2, "%s", finding);
}

static void judge_whole(const char *url)
{
    char first[TRIAL_WHY_SIZE / 2] = "";
    hf_error err = HF_ERROR_INIT;

    if (hf_store_check(url, NULL, tell_finding, first, &err) != HF_OK)
        fail("the check finds: %s: %s", err.message, first);
}

static void judge(const promise *given, const char *url)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_client *client;

    opts.connect_ms = LIMIT_S * 500;
    opts.request_ms = LIMIT_S * 500;
    if (hf_client_open(url, &opts, &client, &err) != HF_OK)
        fail("it does not open: %s", err.message);
    for (unsigned i = 0; i < given->threads; i++)
        judge_thread(given, i, client);
    judge_use(client);
    hf_client_close(client);
    judge_whole(url);
}

bool trial_run(const promise *given, const char *url, char why[TRIAL_WHY_SIZE])
{
    int pipe_fds[2];
    ssize_t size = 0;
    int status;
    pid_t pid;

    if (pipe(pipe_fds) != 0 || (pid = fork()) < 0) {
        perror("power_cut");
        exit(2);
    }
    if (pid == 0) {
        (void)alarm(LIMIT_S);
        out_fd = pipe_fds[1];
        judge(given, url);
        _exit(0);
    }
    (void)close(pipe_fds[1]);
    size = read(pipe_fds[0], why, TRIAL_WHY_SIZE - 1);
    why[size > 0 ? size : 0] = '\0';
    (void)close(pipe_fds[0]);
    if (waitpid(pid, &status, 0) != pid)
        exit(2);
    if (WIFSIGNALED(status))
        (void)snprintf(why, TRIAL_WHY_SIZE, "the reader crashed: %s",
                       strsignal(WTERMSIG(status)));
    return status == 0;
}
