/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork_test.c - a child of fork() cannot use what its parent opened, is told
 * so, and does not harm the parent. A child tells by its exit status.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/store_calls.h"
#include "support/store_fixture.h"

/* The thread sanitizer does not allow a child of a program with threads to
 * start threads of its own. */
#if defined(__SANITIZE_THREAD__)
#define CHILD_MAY_HAVE_THREADS false
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CHILD_MAY_HAVE_THREADS false
#endif
#endif
#ifndef CHILD_MAY_HAVE_THREADS
#define CHILD_MAY_HAVE_THREADS true
#endif

/* Run `work` in a child; its exit status, 128 + signal if it died. */
static int in_child(int (*work)(void *), void *user)
{
    pid_t pid;
    int how = 0;

    (void)fflush(NULL);
    pid = fork();
    if (pid == 0) {
        _exit(work(user));
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &how, 0), pid);
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

typedef struct prepared_call {
    const store_call *call;
    store_subject subject;
} prepared_call;

/* 0: refused as it should be; 1: another status; 2: an error left unfilled. */
static int call_is_refused(void *user)
{
    prepared_call *prepared = user;
    hf_error err = HF_ERROR_INIT;
    hf_status status = prepared->call->run(&prepared->subject, &err);

    if (status != HF_INVALID) {
        return 1;
    }
    return err.status == HF_INVALID && err.message[0] != '\0' ? 0 : 2;
}

static void every_call_in_a_child_is_invalid(void **state)
{
    fixture *f = *state;

    for (size_t i = 0; i < store_call_count; i++) {
        prepared_call prepared = {&store_calls[i],
                                  {f->client, fixture_key(f, "k"), NULL, NULL}};

        expect_status(
            HF_OK, store_call_prepare(prepared.call, &prepared.subject, ERR));
        if (in_child(call_is_refused, &prepared) != 0) {
            fail_msg("%s was not refused", prepared.call->name);
        }
        store_call_done(&prepared.subject);
        assert_no_key(f->client, prepared.subject.key);
    }
}

static int getters_deny_the_lock(void *user)
{
    hf_lock *lock = user;
    int fd = -1;

    if (hf_lock_is_held(lock) || hf_lock_remaining_ms(lock) != 0) {
        return 1;
    }
    return hf_lock_lost_fd(lock, &fd, NULL) == HF_INVALID ? 0 : 2;
}

static void held_lock_does_not_count_in_a_child(void **state)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);

    expect_status(HF_OK, hf_lock_try(lock, ERR));
    assert_int_equal(in_child(getters_deny_the_lock, lock), 0);
    assert_true(hf_lock_is_held(lock));
}

typedef struct belongings {
    hf_client *client;
    hf_lock *lock;
    hf_script *script;
} belongings;

static int free_everything(void *user)
{
    belongings *b = user;

    hf_lock_free(b->lock);
    hf_script_free(b->script);
    hf_client_close(b->client);
    return 0;
}

static void freeing_in_a_child_leaves_the_parents_lock(void **state)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_client *client = fixture_client(f, NULL);
    belongings b = {client, NULL, fixture_script(f, client, "return 1")};
    hf_reply *reply = NULL;

    opts.ttl_ms = 300;
    b.lock = fixture_lock(f, client, name, &opts);
    expect_status(HF_OK, hf_lock_try(b.lock, ERR));
    assert_int_equal(in_child(free_everything, &b), 0);
    expect_throughout(hf_lock_is_held(b.lock), 600);
    assert_false(key_is_gone(f->other, name));
    expect_status(HF_OK,
                  hf_script_run(b.script, NULL, 0, NULL, 0, &reply, ERR));
    hf_reply_free(reply);
    expect_status(HF_OK, hf_lock_release(b.lock, ERR));
}

/* The child opens a client of its own, after dropping its parent's or not. */
static int own_client_works(void *user)
{
    fixture *f = user;
    hf_client *client = NULL;
    hf_buffer value = HF_BUFFER_INIT;
    hf_lock *lock = NULL;
    int fault = 0;

    if (hf_client_open(f->url, NULL, &client, NULL) != HF_OK) {
        return 1;
    }
    if (hf_value_get(client, bytes("from-parent"), &value, NULL) != HF_OK) {
        fault = 2;
    }
    hf_buffer_free(&value);
    if (hf_lock_new(client, bytes("child-lock"), NULL, &lock, NULL) != HF_OK ||
        hf_lock_acquire(lock, 2000, NULL) != HF_OK ||
        hf_lock_release(lock, NULL) != HF_OK) {
        fault = 3;
    }
    hf_lock_free(lock);
    hf_client_close(client);
    return fault;
}

static int own_client_works_after_closing_the_parents(void *user)
{
    fixture *f = user;

    hf_client_close(f->client);
    hf_client_close(f->other);
    return own_client_works(user);
}

static void child_may_open_its_own_client(void **state)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);

    if (!CHILD_MAY_HAVE_THREADS) {
        skip();
    }
    put_value(f->client, bytes("from-parent"), bytes("v"), 0);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    assert_int_equal(in_child(own_client_works, f), 0);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    fixture_free_lock(f, lock);
    assert_int_equal(in_child(own_client_works_after_closing_the_parents, f),
                     0);
    assert_value(f->client, bytes("from-parent"), bytes("v"));
    assert_value(f->other, bytes("from-parent"), bytes("v"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(every_call_in_a_child_is_invalid),
        fixture_test(held_lock_does_not_count_in_a_child),
        fixture_test(freeing_in_a_child_leaves_the_parents_lock),
        fixture_test(child_may_open_its_own_client),
    };

    return fixture_run(tests);
}
