// SPDX-License-Identifier: Apache-2.0
// redis-semaphore.mjs PORT - redis-semaphore's driver. It puts "mutex:" before
// each name, renews a lock by itself, and a release does not say whether the
// lock was still held.
import { POLL_MS, require, run } from "./driver.mjs";

const { Mutex } = require("redis-semaphore");

run("redis-semaphore", (client) => async (name, wait, lease) => {
    const mutex = new Mutex(client, name.replace(/^mutex:/, ""), {
        lockTimeout: lease,
        refreshInterval: lease / 3,
        retryInterval: POLL_MS,
        ...(wait > 0 ? { acquireTimeout: wait } : { acquireAttemptsLimit: 1 }),
        onLockLost() {},
    });

    return await mutex.tryAcquire() ? {
        renew: () => mutex.isAcquired,
        async release() {
            const held = mutex.isAcquired;
            await mutex.release();
            return held ? "unknown" : "lost";
        },
    } : null;
});
