/* SPDX-License-Identifier: Apache-2.0 */
/* contended_verdict.c - which targets ours meets; see contended.h. */
#include <stdio.h>
#include <string.h>

#include "contended.h"

/* Most that a hand-over of two processes may take, embedded. */
#define EMBEDDED_US 35
#define WORST 1e6

static int find_way(const contended_way *ways, const char *name)
{
    int way = 0;

    while (strcmp(ways[way].name, name) != 0)
        way++;
    return way;
}

/* The targets come in the same order in each run. */
static void note_target(contended_verdict *self, int *next, const char *way,
                        const contended_cell *cell, const char *what,
                        double value, double limit)
{
    int i = (*next)++;

    if (value > WORST)
        value = WORST; /* a worker had none */
    if (i >= CONTENDED_TARGETS_MAX)
        return;
    if (i == self->count) {
        self->count++;
        self->targets[i].way = way;
        self->targets[i].cell = *cell;
        self->targets[i].what = what;
        self->targets[i].limit = limit;
        self->targets[i].worst = self->targets[i].best = value;
    }
    if (value > self->targets[i].worst)
        self->targets[i].worst = value;
    if (value < self->targets[i].best)
        self->targets[i].best = value;
}

/* Pairs per s of the fastest other library; 0: none took part. */
static double best_other(const contended_way *ways,
                         const contended_results *results, int cell)
{
    double best = 0;

    for (int way = 0; way < CONTENDED_WAYS; way++) {
        const contended_figures *one = &results->of[way][cell];

        if (ways[way].library != &peer_holdfast &&
            ways[way].store == CONTENDED_TCP && one->measured &&
            one->pairs_per_s > best)
            best = one->pairs_per_s;
    }
    return best;
}

static void judge_cell(contended_verdict *self, int *next,
                       const contended_way *ways, int way,
                       const contended_cell *cells, int cell,
                       const contended_results *results)
{
    const contended_figures *ours = &results->of[way][cell];
    const contended_figures *lock =
        &results->of[find_way(ways, "rueidislock")][cell];
    const char *name = ways[way].name;
    double other = best_other(ways, results, cell);

    note_target(self, next, name, &cells[cell], "most / least acquisitions",
                (double)ours->most / (double)ours->least, 1.1);
    if (ways[way].store != CONTENDED_TCP)
        return;
    note_target(self, next, name, &cells[cell], "requests a pair",
                ours->requests, 2.05);
    if (other > 0)
        note_target(self, next, name, &cells[cell],
                    "pairs/s, best other / ours", other / ours->pairs_per_s, 1);
    if (lock->measured)
        note_target(self, next, name, &cells[cell],
                    "server CPU, ours / rueidislock",
                    ours->server_us / lock->server_us, 1);
}

static void judge_way(contended_verdict *self, int *next,
                      const contended_way *ways, int way,
                      const contended_cell *cells,
                      const contended_results *results)
{
    const contended_figures *ours = results->of[way];

    for (int cell = 1; cell < CONTENDED_CELLS; cell++)
        if (ours[cell].measured)
            judge_cell(self, next, ways, way, cells, cell, results);
    if (!ours[0].measured || !ours[3].measured)
        return;
    note_target(self, next, ways[way].name, &cells[3],
                "hand-over p50, 50 workers / 2",
                ours[3].p50_us / ours[0].p50_us, 2);
    if (ways[way].store == CONTENDED_EMBEDDED && ways[way].apart)
        note_target(self, next, ways[way].name, &cells[0], "hand-over p50, us",
                    ours[0].p50_us, EMBEDDED_US);
}

void contended_judge(contended_verdict *verdict, const contended_way *ways,
                     const contended_cell *cells,
                     const contended_results *results)
{
    int next = 0;

    for (int way = 0; way < CONTENDED_WAYS; way++)
        if (ways[way].library == &peer_holdfast)
            judge_way(verdict, &next, ways, way, cells, results);
}

void contended_print_verdict(const contended_verdict *verdict,
                             const bench_run *run, int runs)
{
    for (int i = 0; i < verdict->count; i++) {
        const contended_cell *cell = &verdict->targets[i].cell;
        double worst = verdict->targets[i].worst;
        double limit = verdict->targets[i].limit;

        printf(run->json
                   ? "{\"bench\":\"contended_target\",\"way\":\"%s\","
                     "\"workers\":%d,\"pause_ms\":%d,\"what\":\"%s\","
                     "\"best\":%.3f,\"worst\":%.3f,\"runs\":%d,"
                     "\"asked\":%.2f,\"met\":%s}\n"
                   : "%-16s %2d workers, pause %d ms, %-30s best %7.3f worst "
                     "%7.3f of %d (asked %.2f): %s\n",
               verdict->targets[i].way, cell->workers, cell->pause_us / 1000,
               verdict->targets[i].what, verdict->targets[i].best, worst, runs,
               limit,
               worst <= limit ? (run->json ? "true" : "met")
                              : (run->json ? "false" : "NOT MET"));
    }
}
