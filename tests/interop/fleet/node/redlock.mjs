// SPDX-License-Identifier: Apache-2.0
// redlock.mjs PORT LOCK COUNTER MILLISECONDS - node-redlock's member.
import { createRequire } from "node:module";
import { run } from "./member.mjs";

const require = createRequire(import.meta.url);
const Redis = require("ioredis");
const { default: Redlock, ExecutionError } = require("redlock");

run(Redis, (client) => {
    const redlock = new Redlock([client]);
    return async (name) => {
        try {
            const lock = await redlock.acquire([name], 30000);
            return () => lock.release();
        } catch (error) {
            if (error instanceof ExecutionError)
                return null;
            throw error;
        }
    };
});
