/* SPDX-License-Identifier: Apache-2.0 */
/* pause.c - see pause.h. */
#include "serve/commands/pause.h"

#include <string.h>

#include "serve/commands/multi.h"
#include "serve/commands/unit.h"
#include "serve/messages/sweep.h"
#include "serve/state.h"

void hf__pause_end(hf_server *server)
{
    if (server->pause.until_ms != 0) {
        hf__sweep_soon(server);
        hf__blocking_retry(server);
    }
    server->pause.until_ms = 0;
    server->pause.all = false;
    hf__tick_stop(&server->pause.tick);
    for (hf__conn *conn = server->conns; conn != NULL; conn = conn->next) {
        if (!conn->held)
            continue;
        conn->held = false;
        hf__conn_wake(conn);
    }
}

static void end_pause(hf__tick *tick)
{
    hf__pause_end(tick->user);
}

/* Of two pauses the longer and the stricter one count. */
void hf__pause_begin(hf_server *server, int64_t until_ms, bool all)
{
    hf__pause *pause = &server->pause;

    if (until_ms > pause->until_ms)
        pause->until_ms = until_ms;
    pause->all |= all;
    pause->tick.ring = end_pause;
    pause->tick.user = server;
    hf__tick_set(hf__loop_poller(server->loop), &pause->tick, pause->until_ms);
}

/* What EVALSHA and FCALL call has flags, which the store knows. If it loads
 * libraries for that, others wait: the request is not in a unit yet. */
static bool calls_a_reader(hf_server *server, const hf__command *command,
                           const hf_bytes *words, size_t count)
{
    if ((command->flags & HF__COMMAND_EVAL) == 0 || count < 2 ||
        strcmp(command->name, "eval") == 0 || !hf__unit_enter(server, true))
        return false;
    server->round.tx->attend = NULL;
    return hf__command_round_only_reads(&server->round, command, words);
}

static bool may_write(const hf__conn *conn, const hf__served *served,
                      const hf__command *command, const hf_bytes *words,
                      size_t count)
{
    if (command != NULL)
        return hf__unit_changes(command, words, count) &&
               !calls_a_reader(conn->server, command, words, count);
    return served != NULL && strcmp(served->name, "exec") == 0 &&
           hf__multi_is_open(conn) && conn->multi->now.changes;
}

bool hf__pause_holds(hf__conn *conn, const hf__served *served,
                     const hf__command *command, const hf_bytes *words,
                     size_t count)
{
    const hf__pause *pause = &conn->server->pause;

    if (pause->until_ms == 0 ||
        (!pause->all && !may_write(conn, served, command, words, count)))
        return false;
    conn->held = true;
    conn->closing |= conn->ended; /* no one waits for it */
    return true;
}
