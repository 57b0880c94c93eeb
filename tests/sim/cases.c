/* SPDX-License-Identifier: Apache-2.0 */
/* cases.c - what the programs of a run do. */
#include "sim.h"

#define TTL 3000
#define WAIT 30000

#define NETWORK (FAULT_LOSE | FAULT_TIME | FAULT_ORDER)
#define ALL (NETWORK | FAULT_STALL | FAULT_KILL)

/* clang-format off */
#define END {OP_END, 0, 0}
#define NO_PROGRAM {0, {END}}
#define LOCK(client) {client, KIND_LOCK, TTL, {0}}
#define HOLD(client, handle, ms) \
    {client, {{OP_ACQUIRE, handle, WAIT}, {OP_SLEEP, handle, ms}, \
              {OP_RELEASE, handle, 0}, END}}
#define START(client, handle, ms) \
    {client, {{OP_START, handle, WAIT}, {OP_AWAIT, handle, 0}, \
              {OP_SLEEP, handle, ms}, {OP_RELEASE_START, handle, 0}, \
              {OP_AWAIT, handle, 0}, END}}

const sim_case sim_cases[] = {
    /* One waits for the other: hand-over, renewal, loss. */
    {.name = "pair", .faults = ALL,
     .handles = {LOCK(0), LOCK(1)},
     .actors = {HOLD(0, 0, 100), HOLD(1, 1, 0)}},
    {.name = "renewed", .faults = ALL,
     .handles = {LOCK(0), LOCK(1)},
     .actors = {HOLD(0, 0, 1500), HOLD(1, 1, 1500)}},
    {.name = "started", .faults = ALL,
     .handles = {LOCK(0), LOCK(1)},
     .actors = {START(0, 0, 1500), START(1, 1, 0)}},
    {.name = "three", .faults = ALL,
     .handles = {LOCK(0), LOCK(1), LOCK(2)},
     .actors = {HOLD(0, 0, 100), HOLD(1, 1, 0), START(2, 2, 0)}},
    /* The store's clock is wrong by almost as much as validity allows for. */
    {.name = "quick", .drift_ppm = 9000, .faults = ALL,
     .handles = {LOCK(0), LOCK(1)},
     .actors = {HOLD(0, 0, 2900), HOLD(1, 1, 100)}},
    {.name = "slow", .drift_ppm = -9900, .faults = ALL,
     .handles = {LOCK(0), LOCK(1)},
     .actors = {HOLD(0, 0, 1500), HOLD(1, 1, 100)}},
    /* Waits that time out, also while the lock is handed over. */
    {.name = "short", .faults = ALL,
     .handles = {LOCK(0), LOCK(1)},
     .actors = {HOLD(0, 0, 100),
                {1, {{OP_ACQUIRE, 1, 100}, {OP_RELEASE, 1, 0},
                     {OP_ACQUIRE, 1, 0}, {OP_RELEASE, 1, 0}, END}},
                }},
    {.name = "short-start", .faults = ALL,
     .handles = {LOCK(0), LOCK(1)},
     .actors = {HOLD(0, 0, 100),
                {1, {{OP_START, 1, 100}, {OP_AWAIT, 1, 0}, {OP_RELEASE, 1, 0},
                     {OP_START, 1, 0}, {OP_AWAIT, 1, 0}, {OP_RELEASE, 1, 0},
                     END}},
                }},
    /* Waits that are ended by another thread. */
    {.name = "interrupt", .faults = ALL,
     .handles = {LOCK(0), LOCK(1)},
     .actors = {HOLD(0, 0, 100), HOLD(1, 1, 0),
                {1, {{OP_WAIT, 1, 100}, {OP_INTERRUPT, 1, 0}, END}},
                }},
    {.name = "cancel", .faults = ALL,
     .handles = {LOCK(0), LOCK(1)},
     .actors = {HOLD(0, 0, 100),
                {1, {{OP_START, 1, WAIT}, {OP_WAIT, 1, 100},
                     {OP_CANCEL, 1, 0}, {OP_AWAIT, 1, 0},
                     {OP_RELEASE, 1, 0}, END}},
                }},
    /* Threads of one client: a local queue, and passing on. */
    {.name = "threads", .faults = ALL,
     .handles = {LOCK(0), LOCK(0), LOCK(1)},
     .actors = {HOLD(0, 0, 50), HOLD(0, 1, 50), HOLD(1, 2, 50)}},
    {.name = "threads-start", .faults = ALL,
     .handles = {LOCK(0), LOCK(0), LOCK(1)},
     .actors = {START(0, 0, 50), START(0, 1, 50), HOLD(1, 2, 50)}},
    {.name = "passes", .faults = ALL,
     .handles = {LOCK(0), LOCK(0), LOCK(0), LOCK(1)},
     .actors = {HOLD(0, 0, 50), HOLD(0, 1, 50), HOLD(0, 2, 50),
                HOLD(1, 3, 50)}},
    {.name = "one-handle", .faults = ALL,
     .handles = {LOCK(0), LOCK(1)},
     .actors = {HOLD(0, 0, 100), HOLD(0, 0, 50), HOLD(1, 1, 0)}},
    {.name = "priority", .faults = ALL,
     .handles = {LOCK(0), {0, KIND_LOCK, TTL, {.priority = 2}}, LOCK(1)},
     .actors = {HOLD(0, 0, 50), HOLD(0, 1, 50), HOLD(1, 2, 50)}},
    /* Leases that end by themselves, and renewals by the program. */
    {.name = "lease", .faults = ALL,
     .handles = {LOCK(0), {1, KIND_LOCK, 500, {.flags = HF_LOCK_NO_RENEW}}},
     .actors = {{0, {{OP_LOST_FD, 0, 0}, {OP_ACQUIRE_FOR, 0, 700},
                     {OP_SLEEP, 0, 300}, {OP_RENEW, 0, 0},
                     {OP_RENEW_START, 0, 0}, {OP_AWAIT, 0, 0},
                     {OP_SLEEP, 0, 500}, {OP_RELEASE, 0, 0}, END}},
                {1, {{OP_ACQUIRE, 1, WAIT}, {OP_LOST_FD, 1, 0},
                     {OP_SLEEP, 1, 600}, {OP_RELEASE, 1, 0}, END}},
                }},
    {.name = "limits", .faults = ALL,
     .handles = {{0, KIND_LOCK, TTL, {.max_hold_ms = 1200}},
                 {1, KIND_LOCK, TTL, {.lost_margin_ms = 500, .delay_ms = 300}}},
     .actors = {{0, {{OP_ACQUIRE, 0, WAIT}, {OP_RENEW_MANY, 0, 0},
                     {OP_SLEEP, 0, 1500}, {OP_RENEW, 0, 0},
                     {OP_RELEASE, 0, 0}, END}},
                HOLD(1, 1, 1500)}},
    {.name = "minimum", .faults = ALL,
     .handles = {{0, KIND_LOCK, TTL, {.min_hold_ms = 1000}}, LOCK(1)},
     .actors = {HOLD(0, 0, 100), HOLD(1, 1, 0)}},
    /* A client of another library has it first. */
    {.name = "foreign", .faults = NETWORK | FAULT_STALL,
     .handles = {LOCK(0), LOCK(1)},
     .actors = {{0, {{OP_FOREIGN, 0, TTL}, {OP_WAIT, 0, 200},
                     {OP_FOREIGN_RELEASE, 0, 0}, END}},
                HOLD(0, 0, 100), START(1, 1, 0)}},
    {.name = "foreign-dead", .faults = NETWORK | FAULT_STALL,
     .handles = {LOCK(0), LOCK(1)},
     .actors = {{0, {{OP_FOREIGN, 0, 1000}, END}},
                HOLD(0, 0, 100), HOLD(1, 1, 0)}},
    /* The store loses its data, or a part. */
    {.name = "restart", .faults = NETWORK | FAULT_STALL | FAULT_RESTART,
     .handles = {LOCK(0), LOCK(1)},
     .actors = {HOLD(0, 0, 1500), HOLD(1, 1, 100)}},
    {.name = "failover", .faults = NETWORK | FAULT_STALL | FAULT_FAILOVER,
     .handles = {LOCK(0), LOCK(1)},
     .actors = {HOLD(0, 0, 1500), START(1, 1, 100)}},
    /* Stores whose messages are empty, and those without a queue. */
    {.name = "local", .capabilities = HF__CAP_LOCAL,
     .faults = FAULT_LOSE | FAULT_TIME | FAULT_STALL | FAULT_KILL,
     .handles = {LOCK(0), LOCK(1), LOCK(1)},
     .actors = {HOLD(0, 0, 1500), HOLD(1, 1, 50), START(1, 2, 50),
                }},
    {.name = "undoes", .capabilities = HF__CAP_UNDOES, .faults = ALL,
     .handles = {LOCK(0), LOCK(1)},
     .actors = {HOLD(0, 0, 100), START(1, 1, 0)}},
    /* The other kinds. */
    {.name = "readers", .faults = ALL,
     .handles = {{0, KIND_READ, TTL, {0}}, {1, KIND_READ, TTL, {0}},
                 {2, KIND_WRITE, TTL, {0}}},
     .actors = {HOLD(0, 0, 100), HOLD(1, 1, 200), HOLD(2, 2, 50),
                }},
    {.name = "writers", .faults = ALL,
     .handles = {{0, KIND_WRITE, TTL, {0}}, {1, KIND_READ, TTL, {0}},
                 {2, KIND_WRITE, TTL, {0}}},
     .actors = {HOLD(0, 0, 100), START(1, 1, 50), HOLD(2, 2, 50),
                }},
    {.name = "downgrade", .faults = ALL,
     .handles = {{0, KIND_WRITE, TTL, {0}}, {0, KIND_READ, TTL, {0}},
                 {1, KIND_READ, TTL, {0}}},
     .actors = {{0, {{OP_ACQUIRE, 0, WAIT}, {OP_SLEEP, 0, 100},
                     {OP_DOWNGRADE, 0, 0}, {OP_SLEEP, 1, 100},
                     {OP_RELEASE, 1, 0}, END}},
                HOLD(1, 2, 50)}},
    {.name = "semaphore", .faults = ALL,
     .handles = {{0, KIND_SEMAPHORE, TTL, {0}}, {1, KIND_SEMAPHORE, TTL, {0}},
                 {2, KIND_SEMAPHORE, TTL, {0}}},
     .actors = {HOLD(0, 0, 100), HOLD(1, 1, 50), HOLD(2, 2, 0)}},
    {.name = "memory", .faults = FAULT_MEMORY,
     .handles = {LOCK(0), LOCK(1), LOCK(1)},
     .actors = {HOLD(0, 0, 1500), HOLD(1, 1, 50), START(1, 2, 50),
                }},
};
/* clang-format on */

const size_t sim_case_count = sizeof(sim_cases) / sizeof(sim_cases[0]);
