/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_context.c - what is the same whatever the topology. Owns no server:
 * those count themselves in `leaving` while they are on their way out.
 */
#include "store/redis/server/store_context.h"

#include <string.h>

#include "store/redis/wire/resp.h"
#include "util/clock.h"
#include "util/fork.h"
#include "util/futex.h"
#include "util/rand.h"

void hf__fleet_init(hf__fleet *fleet, const hf__store_config *config,
                    struct hf__router *router)
{
    char drawn[HF__STORE_ID_SIZE];
    const char *id = config->client_id;

    memset(fleet, 0, sizeof(*fleet));
    if (id == NULL) {
        hf__rand_hex(drawn, sizeof(drawn) / 2);
        id = drawn;
    }
    hf__store_channel(fleet->channel, config->prefix, id);
    fleet->loop = config->loop;
    fleet->connect_ms = config->connect_ms;
    fleet->fork_generation = hf__fork_generation();
    fleet->router = router;
    hf__parking_init(&fleet->parking);
}

bool hf__fleet_is_forked(const hf__fleet *fleet)
{
    return fleet->fork_generation != hf__fork_generation();
}

bool hf__fleet_refuse(const hf__fleet *fleet, hf__request *request)
{
    request->sends = 0;
    if (hf__fleet_is_forked(fleet))
        hf__request_fail(request, HF_INVALID,
                         "the client was opened before fork()");
    else if (hf__resp_request_bound(request) == SIZE_MAX)
        hf__request_fail(request, HF_INVALID,
                         "the request is longer than %zu bytes",
                         HF__RESP_REQUEST_MAX);
    else if (request->deadline_ms <= hf__clock_boot_ms())
        hf__request_fail(request, HF_UNAVAILABLE, "no time is left");
    else
        return false;
    return true;
}

void hf__fleet_change(hf__fleet *fleet)
{
    __atomic_add_fetch(&fleet->changes, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&fleet->changes, false);
}

void hf__fleet_settle(hf__fleet *fleet)
{
    uint32_t leaving;

    while ((leaving = __atomic_load_n(&fleet->leaving, __ATOMIC_ACQUIRE)) != 0)
        hf__futex_wait(&fleet->leaving, leaving, INT64_MAX, false);
}
