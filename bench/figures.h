/* SPDX-License-Identifier: Apache-2.0 */
/* figures.h - the figures of bench_embedded; each prints its own lines. */
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include "bench.h"

/* false: it could not be measured, see stderr. */
bool figure_lock_pairs(const bench_run *run);
bool figure_lock_redis(const bench_run *run);
bool figure_two_processes(const bench_run *run);
bool figure_value_get(const bench_run *run);
bool figure_zrange(const bench_run *run);
bool figure_command(const bench_run *run);
bool figure_command_redis(const bench_run *run);
bool figure_durable(const bench_run *run);
bool figure_many_keys(const bench_run *run);
bool figure_overwrites(const bench_run *run);

#endif
