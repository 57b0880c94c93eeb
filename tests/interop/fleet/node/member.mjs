// SPDX-License-Identifier: Apache-2.0
// member.mjs - what node's members of the mixed fleet (fleet.py) share.
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

const [port, name, counter, milliseconds] = process.argv.slice(2);

// acquire(name) resolves to a function that releases, or to null if it gave up.
export async function run(Redis, makeAcquire) {
    const client = new Redis({ port: Number(port), host: "127.0.0.1" });
    const acquire = makeAcquire(client);
    let held = 0;

    await client.ping();
    console.log("ready");
    await once(process.stdin, "data");
    const end = performance.now() + Number(milliseconds);
    while (performance.now() < end) {
        const release = await acquire(name);
        if (release === null)
            continue;
        const value = Number(await client.get(counter));
        await sleep(10);
        await client.set(counter, value + 1);
        await release();
        held++;
    }
    console.log(held);
    process.exit(0);
}
