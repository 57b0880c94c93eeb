// SPDX-License-Identifier: Apache-2.0
// node-redlock.mjs PORT - node-redlock's driver.
import { POLL_MS, require, run } from "./driver.mjs";

const { default: Redlock, ExecutionError } = require("redlock");

// What it resolves to, or null if the lock is another's.
async function ifHeld(promise) {
    try {
        return await promise;
    } catch (error) {
        if (error instanceof ExecutionError)
            return null;
        throw error;
    }
}

run("redlock", (client) => {
    const redlock = new Redlock([client],
        { retryCount: 0, retryDelay: POLL_MS, retryJitter: 0 });

    return async (name, wait, lease) => {
        let lock = await ifHeld(redlock.acquire([name], lease,
            { retryCount: Math.ceil(wait / POLL_MS) }));

        return lock && {
            async renew() {
                const renewed = await ifHeld(lock.extend(lease));
                lock = renewed ?? lock;
                return renewed !== null;
            },
            async release() {
                return await ifHeld(lock.release()) ? "released" : "lost";
            },
        };
    };
});
