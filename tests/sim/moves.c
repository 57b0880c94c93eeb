/* SPDX-License-Identifier: Apache-2.0 */
/* moves.c - what may happen next, first what happens when all goes well. */
#include <stdio.h>

#include "sim.h"
#include "util/clock.h"
#include "util/order.h"

/* So many packets, the oldest, may be delivered next or be lost. */
#define CHOICE 3

/* Longer than two leases and the time limit of a request. */
#define LONG_MS 7000

/* More than a lease. */
#define STEP_US INT64_C(20000000)

/* Of MOVE_PASS: something could happen before. */
#define EARLY 1

/* Of MOVE_STEP: it is set back. */
#define BACK 1

static bool allows(uint32_t fault)
{
    return (sim_world.of->faults & fault) != 0;
}

static void add(moves *list, move_kind kind, size_t index, int64_t at_ms)
{
    if (list->count < MOVES)
        list->at[list->count++] = (move){kind, (int)index, at_ms};
}

/* -------------------------------------------------------------------- time */

/* When something happens by itself. */
static int64_t next_event(void)
{
    int64_t next_ms = INT64_MAX;

    for (size_t i = 0; i < sim_world.client_count; i++) {
        const client *of = &sim_world.clients[i];

        if (world_runs(of))
            next_ms = hf__at_most(next_ms, sim_loop_next(of->client->loop));
        else if (!of->dead)
            next_ms = hf__at_most(next_ms, of->stalled_until_ms);
    }
    for (size_t i = 0; i < sim_world.program_count; i++) {
        const program *one = &sim_world.programs[i];

        if (world_runs(one->of))
            next_ms = hf__at_most(next_ms, sim_actor_until(one->thread));
    }
    for (size_t i = 0; i < PACKETS; i++) {
        const packet *one = &net_packets[i];

        if (one->used && one->request != NULL && world_runs(one->client))
            next_ms = hf__at_most(next_ms, one->request->deadline_ms +
                                               one->client->slept_us / 1000);
    }
    return next_ms;
}

static bool has_expired(const packet *one)
{
    return !sim_cheats("hang") && one->used && one->request != NULL &&
           world_runs(one->client) &&
           one->request->deadline_ms + one->client->slept_us / 1000 <=
               sim_now_ms();
}

/* false: nothing was due. */
static bool run_due(void)
{
    bool any = false;

    for (size_t i = 0; i < PACKETS; i++) {
        if (has_expired(&net_packets[i])) {
            net_expire(&net_packets[i]);
            any = true;
        }
    }
    for (size_t i = 0; i < sim_world.program_count; i++) {
        const program *one = &sim_world.programs[i];

        if (world_runs(one->of) && sim_actor_due(one->thread)) {
            sim_actor_run(one->thread);
            any = true;
        }
    }
    return any;
}

static void resume(void)
{
    for (size_t i = 0; i < sim_world.client_count; i++) {
        client *of = &sim_world.clients[i];

        if (of->stalled_until_ms != 0 && of->stalled_until_ms <= sim_now_ms()) {
            of->stalled_until_ms = 0;
            sim_world.busy_ms = sim_now_ms();
        }
    }
}

static void pass_until(int64_t until_ms)
{
    while (sim_now_ms() < until_ms && sim_world.violation[0] == '\0') {
        int64_t now_ms = sim_now_ms();
        int64_t to_ms =
            hf__at_least(hf__at_most(next_event(), until_ms), now_ms + 1);

        for (size_t i = 0; i < sim_world.client_count; i++) {
            if (sim_cheats("sleepy") && !world_runs(&sim_world.clients[i]))
                sim_world.clients[i].slept_us += (to_ms - now_ms) * 1000;
        }
        sim_now_us += (to_ms - now_ms) * 1000;
        resume();
        check_now(); /* before anyone has reacted */
        world_run_due();
        check_now();
        while (to_ms < until_ms && run_due()) {
            world_run_due();
            check_now();
        }
    }
}

/* ---------------------------------------------------------------- the list */

static bool can_arrive(const packet *one)
{
    if (!one->used)
        return false;
    if (one->message || one->answered)
        return world_runs(one->client);
    return true;
}

/* The next packet after `number`; PACKETS: none. */
static size_t next_packet(uint64_t number, bool first)
{
    size_t found = PACKETS;

    for (size_t i = 0; i < PACKETS; i++) {
        if (can_arrive(&net_packets[i]) &&
            (first || net_packets[i].number > number) &&
            (found == PACKETS ||
             net_packets[i].number < net_packets[found].number))
            found = i;
    }
    return found;
}

static size_t list_packets(size_t packets[CHOICE])
{
    size_t count = 0;
    size_t at = next_packet(0, true);

    while (at < PACKETS && count < CHOICE) {
        packets[count++] = at;
        at = next_packet(net_packets[at].number, false);
    }
    return count;
}

static void list_regular(moves *list, const size_t *packets, size_t count)
{
    for (size_t i = 0; i < sim_world.program_count; i++) {
        const program *one = &sim_world.programs[i];

        if (world_runs(one->of) && sim_actor_due(one->thread))
            add(list, MOVE_RUN, i, 0);
    }
    for (size_t i = 0; i < count && (i == 0 || allows(FAULT_ORDER)); i++)
        add(list, MOVE_DELIVER, packets[i], 0);
    for (size_t i = 0; i < PACKETS; i++) {
        if (has_expired(&net_packets[i]))
            add(list, MOVE_EXPIRE, i, 0);
    }
}

static void add_around(moves *list, move_kind kind, size_t index, int64_t at_ms)
{
    for (int64_t i = -1; i <= 1; i++) {
        if (at_ms + i > sim_now_ms())
            add(list, kind, index, at_ms + i);
    }
}

/* Is it known when the lease ends? Not once the store's clock was set. */
static bool knows_end(void)
{
    return sim_world.truth[0] != '\0' && !sim_world.truth_stepped;
}

/* Time passes although something could happen now. */
static void list_delays(moves *list)
{
    for (size_t i = 0; i < sim_world.handle_count; i++) {
        const handle *one = &sim_world.handles[i];

        if (one->believed)
            add_around(list, MOVE_PASS, EARLY, one->deadline_ms);
    }
    if (knows_end())
        add_around(list, MOVE_PASS, EARLY, sim_world.truth_until_ms);
}

static void list_losses(moves *list, const size_t *packets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const packet *one = &net_packets[packets[i]];

        add(list, MOVE_LOSE, packets[i], 0);
        if (one->message) {
            add(list, MOVE_REPEAT, packets[i], 0);
            add(list, MOVE_RECONNECT, packets[i], 0);
        } else if (!one->answered && one->request != NULL) {
            add(list, MOVE_REFUSE, packets[i], 0);
            if (one->fake != NULL)
                add(list, MOVE_FLOAT, packets[i], 0);
        } else if (one->request != NULL && one->request->replicas != NULL) {
            add(list, MOVE_MISS, packets[i], 0);
        }
    }
}

static bool has_ended(const client *of)
{
    for (size_t i = 0; i < sim_world.program_count; i++) {
        if (sim_world.programs[i].of == of &&
            !sim_actor_ended(sim_world.programs[i].thread))
            return false;
    }
    return true;
}

static void list_stalls(moves *list, const client *of)
{
    size_t index = (size_t)of->index;

    for (size_t i = 0; i < sim_world.handle_count; i++) {
        const handle *one = &sim_world.handles[i];

        if (one->of == of && one->believed)
            add_around(list, MOVE_STALL, index, one->deadline_ms);
    }
    if (knows_end())
        add_around(list, MOVE_STALL, index, sim_world.truth_until_ms);
    add(list, MOVE_STALL, index, sim_now_ms() + LONG_MS);
}

static void list_clients(moves *list)
{
    for (size_t i = 0; i < sim_world.client_count; i++) {
        const client *of = &sim_world.clients[i];

        if (!world_runs(of) || has_ended(of))
            continue;
        if (allows(FAULT_STALL))
            list_stalls(list, of);
        if (allows(FAULT_KILL))
            add(list, MOVE_KILL, i, 0);
    }
}

void moves_list(moves *list)
{
    size_t packets[CHOICE];
    size_t count = list_packets(packets);
    int64_t next_ms = next_event();

    list->count = 0;
    list_regular(list, packets, count);
    if (next_ms != INT64_MAX && next_ms > sim_now_ms() &&
        (list->count == 0 || allows(FAULT_TIME)))
        add(list, MOVE_PASS, list->count > 0 ? EARLY : 0, next_ms);
    if (list->count == 0)
        return;
    if (list->at[0].kind != MOVE_PASS && allows(FAULT_TIME))
        list_delays(list);
    if (allows(FAULT_LOSE))
        list_losses(list, packets, count);
    list_clients(list);
    if (allows(FAULT_RESTART))
        add(list, MOVE_RESTART, 0, 0);
    if (sim_records && allows(FAULT_STEP))
        add(list, MOVE_STEP, 0, 0);
    if (sim_records && allows(FAULT_STEP))
        add(list, MOVE_STEP, BACK, 0);
    if (allows(FAULT_FAILOVER))
        add(list, MOVE_FAILOVER, 0, 0);
    if (allows(FAULT_MEMORY))
        add(list, MOVE_NO_MEMORY, 0, 0);
}

/* ------------------------------------------------------------- making one */

static void lose_data(bool all)
{
    if (all)
        server_clear();
    else
        server_restore();
    pass_until(sim_now_ms() + 1); /* no server restarts within a tick */
    sim_world.lost_data_ms = sim_now_ms();
    world_refresh();
}

void moves_set_clock(int64_t by_us)
{
    sim_step_us += by_us;
    /* A commit that was held up may be in time again. */
    sim_world.lossy = sim_world.lossy || by_us < 0;
    world_refresh();
}

static void repeat(packet *one)
{
    (void)net_publish(hf_str(one->client->inbox), hf_str(one->text),
                      hf_str(one->topic));
    net_deliver(one);
}

static void disturb(const move *one)
{
    sim_world.busy_ms = sim_now_ms();
    switch (one->kind) {
    case MOVE_LOSE:
        net_lose(&net_packets[one->index]);
        break;
    case MOVE_REFUSE:
        sim_world.lossy = true;
        net_refuse(&net_packets[one->index]);
        break;
    case MOVE_FLOAT:
        net_float(&net_packets[one->index]);
        break;
    case MOVE_STEP:
        moves_set_clock(one->index == BACK ? -STEP_US : STEP_US);
        break;
    case MOVE_MISS:
        net_miss(&net_packets[one->index]);
        break;
    case MOVE_REPEAT:
        repeat(&net_packets[one->index]);
        break;
    case MOVE_RECONNECT: {
        client *of = net_packets[one->index].client;

        net_lose(&net_packets[one->index]);
        net_reconnect(of);
        break;
    }
    case MOVE_STALL:
        /* A request of several calls may not be sent on in time. */
        sim_world.lossy = sim_world.lossy || sim_records;
        sim_world.clients[one->index].stalled_until_ms = one->at_ms;
        break;
    case MOVE_KILL:
        sim_world.clients[one->index].dead = sim_world.killed = true;
        break;
    case MOVE_NO_MEMORY:
        sim_world.out_of_memory = true;
        (void)hf__alloc_fail_after(0);
        break;
    default:
        lose_data(one->kind == MOVE_RESTART);
    }
}

static bool has_expired_of(const client *of)
{
    for (size_t i = 0; i < PACKETS; i++) {
        if (net_packets[i].client == of && has_expired(&net_packets[i]))
            return true;
    }
    return false;
}

/* Threads that could run, and packets, wait until then. */
static void hold_back(int64_t until_ms)
{
    sim_world.busy_ms = until_ms;
    for (size_t i = 0; i < sim_world.program_count; i++) {
        program *one = &sim_world.programs[i];

        if (sim_actor_due(one->thread) || has_expired_of(one->of))
            one->latest_ms = INT64_MAX;
    }
}

static void extend_stalled(void)
{
    for (size_t i = 0; i < sim_world.program_count; i++) {
        if (!world_runs(sim_world.programs[i].of))
            sim_world.programs[i].latest_ms = INT64_MAX;
    }
}

void moves_make(const move *one)
{
    switch (one->kind) {
    case MOVE_RUN:
        sim_actor_run(sim_world.programs[one->index].thread);
        break;
    case MOVE_DELIVER:
        net_deliver(&net_packets[one->index]);
        break;
    case MOVE_EXPIRE:
        net_expire(&net_packets[one->index]);
        break;
    case MOVE_PASS:
        if (one->index == EARLY)
            hold_back(one->at_ms);
        pass_until(one->at_ms);
        break;
    default:
        disturb(one);
    }
    extend_stalled();
    world_run_due();
    check_now();
}

/* --------------------------------------------------------------- for people */

static const char *const names[] = {
    [MOVE_RUN] = "runs",
    [MOVE_DELIVER] = "delivered",
    [MOVE_EXPIRE] = "times out",
    [MOVE_PASS] = "time passes",
    [MOVE_LOSE] = "lost",
    [MOVE_REFUSE] = "refused",
    [MOVE_FLOAT] = "its connection breaks, and it arrives later",
    [MOVE_STEP] = "the store's clock is set",
    [MOVE_MISS] = "delivered, acknowledged by no replica",
    [MOVE_REPEAT] = "delivered twice",
    [MOVE_STALL] = "is stalled",
    [MOVE_KILL] = "is killed",
    [MOVE_RESTART] = "the store restarts without its data",
    [MOVE_FAILOVER] = "a replica takes over that has missed the last write",
    [MOVE_RECONNECT] = "lost, and the connection made again",
    [MOVE_NO_MEMORY] = "an allocation will fail"};

static void show_packet(const packet *one)
{
    const char *what = one->message    ? "message"
                       : one->answered ? "reply to"
                                       : "request";

    printf("%s %s%s%s of client %d: ", what, one->message ? "\"" : "",
           one->message          ? one->text
           : one->script != NULL ? one->script->name
                                 : "command",
           one->message ? "\"" : "", one->client->index);
}

static int64_t since_began(int64_t at_ms)
{
    return at_ms - sim_began_us / 1000;
}

void moves_show(const move *one)
{
    printf("  %8lld ms  ", (long long)since_began(sim_now_ms()));
    if (one->kind == MOVE_RUN)
        printf("program %d of client %d: ", one->index,
               sim_world.programs[one->index].of->index);
    else if (one->kind == MOVE_STALL || one->kind == MOVE_KILL)
        printf("client %d: ", one->index);
    else if (one->kind != MOVE_PASS && one->kind != MOVE_RESTART &&
             one->kind != MOVE_FAILOVER && one->kind != MOVE_STEP &&
             one->kind != MOVE_NO_MEMORY)
        show_packet(&net_packets[one->index]);
    printf("%s", names[one->kind]);
    if (one->kind == MOVE_STEP)
        printf("%s", one->index == BACK ? " back" : " forward");
    if (one->at_ms != 0)
        printf(" until %lld ms", (long long)since_began(one->at_ms));
    printf("\n");
}
