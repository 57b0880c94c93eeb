/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - run the library's scripts on the embedded store as C and as Lua, and
 * compare.
 *
 *     differential_scripts --seed N --steps N [--mutate FAULT] [--only START]
 *
 * Each step runs one script with random words twice, in two transactions that
 * begin in the same state at the same instant: its C function, then its text,
 * as a user's script. The first is undone. Reply, error, all keys with their
 * deadlines, and what was published must be the same. With --mutate one of them
 * is spoilt: the exit status is 0 if that is found. With --only it runs those
 * whose names begin so, which then meet what each other has made more often.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded.h"
#include "engine/native/native.h"
#include "engine/run/command_table.h"
#include "engine/run/write.h"
#include "state.h"
#include "util/clock.h"
#include "words.h"

typedef struct trial {
    embedded store;
    world world;
    word_list words;
    const char *fault;
    const char *only; /* how the names begin */
    int64_t now_ms;
    unsigned long ran[HF__SCRIPT_COUNT], failed[HF__SCRIPT_COUNT];
} trial;

static void spoil(const trial *self, hf__tx *tx, hf__request *request)
{
    hf_bytes write[] = {hf_str("set"), hf_str("spoilt"), hf_str("1")};
    hf_bytes deadline[] = {hf_str("pexpire"), self->words.words[0],
                           hf_str("7777")};
    hf_bytes message[] = {hf_str("publish"), hf_str(self->world.inbox),
                          hf_str("x\0y")};
    hf__request other;
    hf__job job = {&other, NULL, 1000, 0, NULL};

    if (self->fault == NULL)
        return;
    if (strcmp(self->fault, "reply") == 0) {
        if (request->reply.kind == HF_REPLY_INTEGER)
            request->reply.integer++;
        return;
    }
    hf__request_init(&other);
    other.words = strcmp(self->fault, "write") == 0      ? write
                  : strcmp(self->fault, "deadline") == 0 ? deadline
                                                         : message;
    other.word_count = 3;
    job.command = hf__command_find(other.words[0]);
    hf__execute(tx, &job);
    hf__request_done(&other);
}

/* Run the script in a transaction of its own, and undo it or not. */
static void run_once(trial *self, const hf__script *script, bool as_lua,
                     hf__buf *to)
{
    hf__script text = *script;
    hf__request request;
    hf__job job = {&request, NULL, 60000, 0, NULL};
    hf__tx *tx;

    text.index = text.native = HF__SCRIPT_USER;
    hf__request_init(&request);
    request.script = as_lua ? &text : script;
    request.words = self->words.words;
    request.word_count = self->words.count;
    request.key_count = self->words.key_count;
    request.deadline_ms = INT64_MAX;
    tx = embedded_begin(&self->store, &job, self->now_ms);
    tx->unix_us = self->world.clock_us;
    hf__execute(tx, &job);
    if (!as_lua)
        spoil(self, tx, &request);
    self->failed[script->index] += request.status != HF_OK;
    result_print(to, &request);
    bytes_print(to, tx->error.message, strlen(tx->error.message));
    (void)hf__buf_append(to, "\n", 1);
    if (tx->fatal == HF_OK)
        state_print(to, tx);
    embedded_end(&self->store, tx, !as_lua);
    hf__request_done(&request);
}

static void print_call(const trial *self, const hf__script *script)
{
    hf__buf line;

    hf__buf_init(&line, SIZE_MAX);
    for (size_t i = 0; i < self->words.count; i++) {
        (void)hf__buf_append(&line, i == self->words.key_count ? " | " : " ",
                             i == self->words.key_count ? 3 : 1);
        bytes_print(&line, self->words.words[i].data,
                    self->words.words[i].size);
    }
    printf("%s%.*s\n", script->name, (int)line.end, (const char *)line.data);
    hf__buf_done(&line);
}

static const hf__script *pick_script(trial *self)
{
    const hf__script *script;

    do
        script =
            &hf__scripts[prng_below(&self->world.chance, HF__SCRIPT_COUNT)];
    while (strncmp(script->name, self->only, strlen(self->only)) != 0);
    return script;
}

/* false: they differ. */
static bool step(trial *self)
{
    const hf__script *script = pick_script(self);
    hf__buf one, other;
    bool same;

    self->now_ms += (int64_t)prng_below(&self->world.chance, 4) *
                    (int64_t)prng_below(&self->world.chance, 2000);
    self->world.clock_us =
        (self->now_ms + hf__sidecar_unix_ahead_ms(&self->store.env->sidecar)) *
            1000 +
        (int64_t)prng_below(&self->world.chance, 1000);
    words_pick(&self->words, &self->world, script);
    hf__buf_init(&one, SIZE_MAX);
    hf__buf_init(&other, SIZE_MAX);
    run_once(self, script, false, &one);
    run_once(self, script, true, &other);
    self->ran[script->index]++;
    same = one.end == other.end && memcmp(one.data, other.data, one.end) == 0;
    if (!same) {
        print_call(self, script);
        printf("C:\n%.*s\nLua:\n%.*s\n", (int)one.end, (const char *)one.data,
               (int)other.end, (const char *)other.data);
    }
    hf__buf_done(&one);
    hf__buf_done(&other);
    return same;
}

/* So that no state grows without end. */
static void forget(trial *self)
{
    hf_bytes all = hf_str("flushall");
    hf__request request;
    hf__job job = {&request, hf__command_find(all), 1000, 0, NULL};

    hf__request_init(&request);
    request.words = &all;
    request.word_count = 1;
    request.deadline_ms = INT64_MAX;
    hf__write_run(self->store.env, &job);
    hf__request_done(&request);
}

static void print_counts(const trial *self)
{
    unsigned long ran = 0, failed = 0, never = 0;

    for (size_t i = 0; i < HF__SCRIPT_COUNT; i++) {
        ran += self->ran[i];
        failed += self->failed[i];
        never += self->ran[i] == 0 || self->failed[i] == 2 * self->ran[i];
    }
    printf("%d scripts, %lu runs each way, %lu of them errors, %lu scripts "
           "never without one: all the same\n",
           (int)HF__SCRIPT_COUNT, ran, failed / 2, never);
}

int main(int argc, char **argv)
{
    static trial self;
    unsigned long steps = 1000;
    int result = 0;

    self.only = "";
    for (int i = 1; i + 1 < argc; i += 2) {
        if (option_read(argv[i], argv[i + 1], &self.world.chance.state, &steps,
                        &self.fault))
            continue;
        if (strcmp(argv[i], "--only") == 0)
            self.only = argv[i + 1];
        else
            require(false, argv[i]);
    }
    embedded_open(&self.store);
    self.world.inbox = embedded_inbox(&self.store);
    self.now_ms = hf__clock_boot_ms();
    for (unsigned long i = 0; i < steps && result == 0; i++) {
        if (i % 400 == 399)
            forget(&self);
        if (!step(&self)) {
            printf("step %lu differs\n", i);
            result = 1;
        }
    }
    if (result == 0)
        print_counts(&self);
    embedded_close(&self.store);
    if (self.fault == NULL)
        return result;
    printf("the fault %s was%s found\n", self.fault, result ? "" : " not");
    return !result;
}
