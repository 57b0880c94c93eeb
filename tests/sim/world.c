/* SPDX-License-Identifier: Apache-2.0 */
/* world.c - the clients of a run, their programs, and how a run ends. */
#include "util/clock.h"

#include <stdio.h>
#include <stdlib.h>

#include "holdfast/queue.h"
#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"
#include "sim.h"

/* The default of hf_client_open(). */
#define REQUEST_MS 5000

/* So many turns of a background thread at one instant: it never sleeps. */
#define TURNS_MAX 1000

world sim_world;
const char *sim_cheat = "";
static client *opening;

bool sim_cheats(const char *name)
{
    return strcmp(sim_cheat, name) == 0;
}

client *sim_opening(void)
{
    static client outside; /* of the server's own loop */

    return opening != NULL ? opening : &outside;
}

bool world_runs(const client *of)
{
    return !of->dead && of->stalled_until_ms == 0;
}

static void must(hf_status status, const hf_error *err)
{
    if (status == HF_OK)
        return;
    fprintf(stderr, "the simulation cannot begin: %s\n", err->message);
    exit(2);
}

/* ---------------------------------------------------------------- programs */

static void on_lost(hf_lock *lock, hf_status reason, void *user)
{
    handle *of = user;

    (void)reason;
    of->noticed = true;
    /* It may be lost in the instant in which it was granted. */
    if (of->acquisition == lock->acquisition && !of->stalled && !of->of->dead &&
        sim_now_ms() > of->deadline_ms)
        check_fail("a loss is reported %lld ms after the deadline",
                   (long long)(sim_now_ms() - of->deadline_ms));
    if (of->frees) {
        of->lock = NULL;
        of->believed = false;
        hf_lock_free(lock);
    }
}

static void on_done(void *user, hf_status status, const hf_error *err)
{
    program *of = user;

    (void)err;
    of->called = false;
    of->call = NULL;
    of->status = status;
}

static void begin_waiting(program *of, int64_t wait_ms)
{
    of->waiting_since_ms = sim_now_ms();
    of->latest_ms = sim_now_ms() + wait_ms + REQUEST_MS;
}

static void end_waiting(program *of, handle *on, hf_status status)
{
    jobs_ended(on, status);
    of->waiting_since_ms = 0;
    of->failed = status != HF_OK;
    if (!of->failed && on->lock != NULL)
        check_acquired(on);
}

static void start(program *of, const op *step)
{
    handle *on = &sim_world.handles[step->handle];
    hf_async async = HF_ASYNC_INIT;
    hf_status status;

    async.done = on_done;
    async.user = of;
    async.call = &of->call;
    of->called = true;
    if (step->what == OP_START || step->what == OP_NEXT_START)
        begin_waiting(of, step->arg);
    if (step->what == OP_NEXT_START)
        jobs_finish(on);
    if (step->what == OP_NEXT_START)
        status = hf_queue_next_start(on->lock, HF_QUEUE_DONE, 0, step->arg,
                                     &async, NULL);
    else if (step->what == OP_START)
        status = hf_lock_acquire_start(on->lock, step->arg, &async, NULL);
    else if (step->what == OP_RENEW_START)
        status = hf_lock_renew_start(on->lock, &async, NULL);
    else
        status = hf_lock_release_start(on->lock, &async, NULL);
    if (status != HF_OK)
        on_done(of, status, NULL);
}

static void await(program *of, const op *step)
{
    while (of->called && of->of->client != NULL) {
        (void)!hf_client_dispatch(of->of->client, NULL, NULL);
        of->awaits = of->called;
        if (of->called)
            sim_wait(INT64_MAX);
        of->awaits = false;
    }
    if (of->waiting_since_ms != 0)
        end_waiting(of, &sim_world.handles[step->handle], of->status);
}

/* As another library does it, with one connection of its own. */
static void foreign(bool takes, int64_t ttl_ms)
{
    char text[HF__NUMBER_SIZE];
    hf_bytes set[] = {hf_str("set"), hf_str(NAME), hf_str("redis-py"),
                      hf_str("nx"),  hf_str("px"), hf__number(text, ttl_ms)};
    hf_bytes del[] = {hf_str("del"), hf_str(NAME)};
    hf__request request;

    if (!takes && strcmp(sim_world.truth, "redis-py") != 0)
        return;
    hf__request_command(&request, takes ? set : del, takes ? 6 : 2, false);
    server_run(&request);
    hf__request_done(&request);
    world_refresh();
}

static bool is_of_holder(int what)
{
    return what == OP_RELEASE || what == OP_RELEASE_START || what == OP_RENEW ||
           what == OP_RENEW_START || what == OP_SLEEP || what == OP_DOWNGRADE ||
           what == OP_RENEW_MANY || what == OP_DONE;
}

static void acquire(program *of, const op *step, handle *on)
{
    hf_status status;

    if (step->what == OP_ACQUIRE_FOR) {
        begin_waiting(of, 20000);
        status = hf_lock_acquire_for(on->lock, 20000, step->arg, NULL);
    } else if (step->what == OP_NEXT) {
        begin_waiting(of, step->arg);
        jobs_finish(on);
        status = hf_queue_next(on->lock, HF_QUEUE_DONE, 0, step->arg, NULL);
    } else if (step->what == OP_TRY) {
        begin_waiting(of, 0);
        status = hf_lock_try(on->lock, NULL);
    } else {
        begin_waiting(of, step->arg);
        status = hf_lock_acquire(on->lock, step->arg, NULL);
    }
    end_waiting(of, on, status);
}

static void release(program *of, const op *step, handle *on)
{
    on->released = hf_lock_holds(on->lock) <= 1;
    if (step->what == OP_RELEASE)
        (void)!hf_lock_release(on->lock, NULL);
    else
        start(of, step);
}

/* All handles of the client. */
static void do_many(const client *of, bool releases)
{
    hf_lock *locks[HANDLES];
    hf_status statuses[HANDLES];
    size_t count = 0;

    for (size_t i = 0; i < sim_world.handle_count; i++) {
        if (sim_world.handles[i].of != of || sim_world.handles[i].lock == NULL)
            continue;
        locks[count++] = sim_world.handles[i].lock;
        sim_world.handles[i].released |= releases;
    }
    if (releases)
        (void)!hf_lock_release_many(locks, count, statuses, NULL);
    else
        (void)!hf_lock_renew_many(locks, count, statuses, NULL);
}

static void do_step(program *of, const op *step)
{
    handle *on = &sim_world.handles[step->handle];
    int fd;

    if (gather_step(of, step) || jobs_step(of, step))
        return;
    if (on->lock == NULL && step->what != OP_AWAIT)
        return; /* on_lost has freed it */
    switch (step->what) {
    case OP_ACQUIRE:
    case OP_ACQUIRE_FOR:
    case OP_TRY:
    case OP_NEXT:
        acquire(of, step, on);
        break;
    case OP_START:
    case OP_NEXT_START:
    case OP_RENEW_START:
        start(of, step);
        break;
    case OP_CANCEL:
        hf_call_cancel(of->call);
        break;
    case OP_AWAIT:
        await(of, step);
        break;
    case OP_RELEASE:
    case OP_RELEASE_START:
        release(of, step, on);
        break;
    case OP_RENEW:
        (void)!hf_lock_renew(on->lock, NULL);
        break;
    case OP_SLEEP:
    case OP_WAIT:
        hf__clock_sleep_until(hf__clock_boot_ms() + step->arg);
        break;
    case OP_INTERRUPT:
        (void)!hf_lock_interrupt(on->lock, NULL);
        break;
    case OP_LOST_FD:
        (void)!hf_lock_lost_fd(on->lock, &fd, NULL);
        break;
    case OP_RENEW_MANY:
    case OP_RELEASE_MANY:
        do_many(of->of, step->what == OP_RELEASE_MANY);
        break;
    case OP_FORGET:
        records_forget(of->of);
        break;
    case OP_SET_CLOCK:
        if (sim_records)
            moves_set_clock(step->arg * 1000);
        break;
    case OP_DOWNGRADE:
        on->released = true;
        (void)!hf_rwlock_downgrade(on->lock, NULL);
        break;
    default:
        foreign(step->what == OP_FOREIGN, step->arg);
    }
}

static void run_program(void *user)
{
    program *of = user;

    for (const op *step = of->ops; step->what != OP_END; step++) {
        if (!of->failed || !is_of_holder(step->what))
            do_step(of, step);
    }
}

/* ------------------------------------------------------------------- begin */

static void open_client(client *of)
{
    hf_error err = HF_ERROR_INIT;

    opening = of;
    must(hf_client_open("sim:", NULL, &of->client, &err), &err);
    opening = NULL;
    /* It would double the packets, and is no part of what is simulated. */
    atomic_store(&of->client->leases->registry.wanted, true);
}

static void make_pair(const handle_case *from, handle *to, bool both,
                      const hf_lock_options *options)
{
    hf_client *owner = to->of->client;
    hf_error err = HF_ERROR_INIT;
    hf_lock *read, *write;

    must(hf_rwlock_new(owner, hf_str(NAME), 0, options, &read, &write, &err),
         &err);
    to->lock = from->kind == KIND_READ ? read : write;
    if (both) {
        to[1].lock = read;
        to[1].lock->options.user = to + 1;
    } else {
        hf_lock_free(from->kind == KIND_READ ? write : read);
    }
}

static void make_handle(const handle_case *from, handle *to)
{
    hf_lock_options options = from->options;
    hf_error err = HF_ERROR_INIT;
    hf_client *owner;

    to->of = &sim_world.clients[from->client];
    to->kind = from->kind;
    to->weight = from->weight == 0 ? 1 : from->weight;
    to->frees = from->frees;
    owner = to->of->client;
    options.struct_size = sizeof(options);
    options.ttl_ms = from->ttl_ms;
    options.on_lost = from->quiet ? NULL : on_lost;
    options.user = to;
    if (to->lock != NULL)
        return; /* the reader of the pair before it */
    if (from->kind == KIND_LOCK)
        must(hf_lock_new(owner, hf_str(NAME), &options, &to->lock, &err), &err);
    else if (from->kind == KIND_QUEUE)
        must(hf_queue_new(owner, hf_str(NAME), &options, &to->lock, &err),
             &err);
    else if (from->kind == KIND_SEMAPHORE)
        must(hf_semaphore_new_weighted(owner, hf_str(NAME), PERMITS, to->weight,
                                       &options, &to->lock, &err),
             &err);
    else
        make_pair(from, to,
                  from->kind == KIND_WRITE && from[1].ttl_ms != 0 &&
                      from[1].kind == KIND_READ &&
                      from[1].client == from->client,
                  &options);
}

static void count_clients(const sim_case *of)
{
    size_t count = 0;

    for (size_t i = 0; i < ACTORS && of->actors[i].ops[0].what != OP_END; i++) {
        if ((size_t)of->actors[i].client >= count)
            count = (size_t)of->actors[i].client + 1;
    }
    sim_world.client_count = count;
}

void world_begin(const sim_case *of)
{
    sim_world = (world){.of = of};
    sim_drift_ppm = sim_cheats("fast") ? 30000 : of->drift_ppm;
    sim_clock_begin();
    records_clear();
    server_clear();
    net_begin();
    count_clients(of);
    for (size_t i = 0; i < sim_world.client_count; i++) {
        sim_world.clients[i].index = (int)i;
        open_client(&sim_world.clients[i]);
    }
    for (size_t i = 0; i < HANDLES && of->handles[i].ttl_ms != 0; i++) {
        make_handle(&of->handles[i], &sim_world.handles[i]);
        sim_world.handle_count++;
    }
    for (size_t i = 0; i < ACTORS && of->actors[i].ops[0].what != OP_END; i++) {
        program *to = &sim_world.programs[sim_world.program_count++];

        to->ops = of->actors[i].ops;
        to->of = &sim_world.clients[of->actors[i].client];
        to->thread = sim_actor_new(to->of, run_program, to);
    }
    sim_world.busy_ms = sim_now_ms();
    sim_world.lost_data_ms = -1;
    world_refresh();
}

/* --------------------------------------------------------------------- run */

void world_refresh(void)
{
    int64_t pttl_ms;

    server_holder(sim_world.truth, &pttl_ms);
    sim_at_store = true;
    pttl_ms += hf__clock_boot_ms();
    sim_at_store = false;
    sim_world.truth_stepped = sim_world.truth_stepped || sim_step_us != 0;
    sim_world.truth_until_ms = sim_from_store(pttl_ms);
}

static void wake_callers(const client *of)
{
    for (size_t i = 0; i < sim_world.program_count; i++) {
        program *one = &sim_world.programs[i];

        if (one->of == of && one->awaits && of->client != NULL &&
            of->client->completions.waiting > 0)
            sim_actor_wake(one->thread);
    }
}

void world_run_due(void)
{
    for (size_t i = 0; i < sim_world.client_count; i++) {
        client *of = &sim_world.clients[i];

        for (int turn = 0; of->client != NULL && world_runs(of) &&
                           sim_loop_due(of->client->loop);
             turn++) {
            sim_loop_run(of->client->loop);
            if (turn > TURNS_MAX) {
                check_fail("a background thread never sleeps");
                return;
            }
        }
        wake_callers(of);
    }
}

bool world_over(void)
{
    for (size_t i = 0; i < sim_world.program_count; i++) {
        const program *one = &sim_world.programs[i];

        if (!one->of->dead && !sim_actor_ended(one->thread))
            return false;
    }
    for (size_t i = 0; i < PACKETS; i++) {
        if (net_packets[i].used &&
            !(net_packets[i].client->dead &&
              (net_packets[i].message || net_packets[i].answered)))
            return false;
    }
    return true;
}

/* --------------------------------------------------------------------- end */

static void end_packets(void)
{
    for (size_t i = 0; i < PACKETS; i++) {
        if (net_packets[i].used && net_packets[i].request != NULL)
            net_refuse(&net_packets[i]);
    }
    net_end();
}

static bool programs_ended(void)
{
    for (size_t i = 0; i < sim_world.program_count; i++) {
        if (!sim_actor_ended(sim_world.programs[i].thread))
            return false;
    }
    return true;
}

static void end_waits(void)
{
    for (size_t i = 0; i < sim_world.handle_count; i++)
        if (sim_world.handles[i].lock != NULL)
            (void)!hf_lock_interrupt(sim_world.handles[i].lock, NULL);
    for (size_t i = 0; i < sim_world.program_count; i++)
        hf_call_cancel(sim_world.programs[i].call);
}

/* Those that are dead or stalled too: their memory is to be freed. */
static void end_programs(void)
{
    for (int turn = 0; !programs_ended(); turn++) {
        end_waits();
        world_run_due();
        for (size_t i = 0; i < sim_world.program_count; i++) {
            actor *thread = sim_world.programs[i].thread;

            sim_actor_wake(thread);
            if (sim_actor_due(thread))
                sim_actor_run(thread);
        }
        end_packets();
        sim_now_us += 100000;
        if (turn > 10000) {
            fprintf(stderr, "a call does not end\n");
            abort();
        }
    }
    world_run_due();
}

/* All that its programs do is wait for calls that were started. */
static bool only_awaits(const client *of)
{
    bool any = false;

    for (size_t i = 0; i < sim_world.program_count; i++) {
        const program *one = &sim_world.programs[i];

        if (one->of != of || sim_actor_ended(one->thread))
            continue;
        if (!one->awaits || !one->called)
            return false;
        any = true;
    }
    return any;
}

/* Closing completes the calls. */
static void close_early(client *of)
{
    if (!only_awaits(of))
        return;
    hf_client_close(of->client);
    of->client = NULL;
}

void world_end(void)
{
    net_draining = true;
    (void)hf__alloc_fail_after(-1);
    for (size_t i = 0; i < sim_world.client_count; i++) {
        sim_world.clients[i].dead = false;
        sim_world.clients[i].stalled_until_ms = 0;
    }
    end_packets();
    for (size_t i = 0; i < sim_world.client_count; i++)
        close_early(&sim_world.clients[i]);
    end_programs();
    for (size_t i = 0; i < sim_world.handle_count; i++)
        hf_lock_free(sim_world.handles[i].lock);
    for (size_t i = 0; i < sim_world.client_count; i++)
        hf_client_close(sim_world.clients[i].client);
    for (size_t i = 0; i < sim_world.program_count; i++)
        sim_actor_free(sim_world.programs[i].thread);
    end_packets();
}
