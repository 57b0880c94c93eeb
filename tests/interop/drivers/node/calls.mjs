// SPDX-License-Identifier: Apache-2.0
// calls.mjs - what the programs of ioredis and node-redis share; see clients.py.

export const allBytes = Buffer.from([...Array(256).keys()]);
export const zeros = "0".repeat(40);
export const types =
    "return {1, 'two', {3, false}, redis.status_reply('fine')}";
export const names = Object.fromEntries(
    [...Array(300).keys()].map((i) => [`scan:${i}`, String(i)]));

function plain(value) {
    if (Buffer.isBuffer(value))
        return value.toString("latin1");
    if (value instanceof Error)
        return `error: ${value.message}`;
    if (value instanceof Set)
        return [...value].map(plain);
    if (Array.isArray(value))
        return value.map(plain);
    if (value === Infinity)
        return "inf";
    return value;
}

/** Each call is made when the one before it has ended. */
export async function show(step, ...calls) {
    const results = [];

    for (const call of calls) {
        try {
            results.push(plain(await call()));
        } catch (error) {
            results.push(plain(error));
        }
    }
    console.log(step, JSON.stringify(results));
}

export function later(call) {
    setTimeout(call, 100);
}

export async function gone(r, key) {
    const until = Date.now() + 30000;

    while (await r.exists(key) && Date.now() < until)
        await new Promise((resolve) => setTimeout(resolve, 10));
    return r.get(key);
}

/** What was received, in order; next() waits for it. */
export class Received {
    constructor() {
        this.items = [];
        this.wake = null;
    }

    push(...item) {
        this.items.push(item);
        this.wake?.();
    }

    async next() {
        const until = Date.now() + 30000;

        while (this.items.length === 0 && Date.now() < until)
            await new Promise((resolve) => {
                this.wake = resolve;
                setTimeout(resolve, 1000);
            });
        return this.items.shift();
    }
}
