// SPDX-License-Identifier: Apache-2.0
// semaphore.mjs PORT LOCK COUNTER MILLISECONDS - redis-semaphore's member. It
// puts "mutex:" before each name.
import { createRequire } from "node:module";
import { run } from "./member.mjs";

const require = createRequire(import.meta.url);
const Redis = require("ioredis");
const { Mutex, TimeoutError } = require("redis-semaphore");

run(Redis, (client) => async (name) => {
    const mutex = new Mutex(client, name.replace(/^mutex:/, ""), {
        lockTimeout: 30000,
        acquireTimeout: 1000,
    });
    try {
        await mutex.acquire();
    } catch (error) {
        if (error instanceof TimeoutError)
            return null;
        throw error;
    }
    return () => mutex.release();
});
