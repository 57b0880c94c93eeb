// SPDX-License-Identifier: Apache-2.0
// driver.mjs - what node's drivers share; driver.py has the protocol.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

export const POLL_MS = 20;
const COUNT_WAIT_MS = 1000;
const COUNT_LEASE_MS = 30000;

export const require = createRequire(import.meta.url);
const Redis = require("ioredis");

class Driver {
    constructor(client, acquire) {
        this.client = client;
        this.acquire = acquire;
    }

    async keep(duration) {
        const end = performance.now() + duration;

        while (performance.now() < end) {
            await sleep(Math.min(this.lease / 3, end - performance.now()));
            if (!await this.held.renew())
                return "lost";
        }
        return "kept";
    }

    async count(name, counter, last, holdUs, pauseUs) {
        let times = 0, value = 0;

        while (value < last) {
            const held = await this.acquire(name, COUNT_WAIT_MS,
                COUNT_LEASE_MS);
            if (held === null)
                continue;
            value = Number(await this.client.get(counter));
            if (value < last) {
                await sleep(holdUs / 1000);
                await this.client.set(counter, value + 1);
                times++;
            }
            if (await held.release() === "lost")
                return "error lost";
            await sleep(pauseUs / 1000);
        }
        return times;
    }

    async pairs(name, duration) {
        const began = performance.now();
        let pairs = 0;

        while (performance.now() < began + duration) {
            const held = await this.acquire(name, COUNT_WAIT_MS,
                COUNT_LEASE_MS);
            await held.release();
            pairs++;
        }
        return Math.round((performance.now() - began) * 1e6 / pairs);
    }

    async obey([verb, ...words]) {
        switch (verb) {
        case "acquire":
            this.lease = Number(words[2]);
            this.held = await this.acquire(words[0], Number(words[1]),
                this.lease);
            return this.held === null ? "refused" : "held";
        case "keep":
            return this.keep(Number(words[0]));
        case "release":
            return this.held.release();
        case "break":
            return await this.client.del(words[0]) === 1 ? "broken" : "free";
        case "count":
            return this.count(words[0], words[1],
                ...words.slice(2).map(Number));
        case "pairs":
            return this.pairs(words[0], Number(words[1]));
        }
        return "error no such command";
    }
}

// acquire(name, wait, lease) resolves to null if it was refused, else to an
// object: renew() resolves to false if the lock is lost, release() to what the
// driver replies.
export async function run(library, makeAcquire) {
    const port = Number(process.argv[2]);
    const client = new Redis({ port, host: "127.0.0.1" });
    const driver = new Driver(client, makeAcquire(client));

    await client.ping();
    console.log("ready", require(`./node_modules/${library}/package.json`)
        .version);
    for await (const line of createInterface({ input: process.stdin }))
        console.log(await driver.obey(line.split(" ")));
    process.exit(0);
}
