// SPDX-License-Identifier: Apache-2.0
// queue-bullmq.mjs - BullMQ, as bench/peers/queues.py describes it. Jobs that
// are done are removed.
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { require } from "./driver.mjs";

const { Queue, Worker } = require("bullmq");
const [port, role, name, ...numbers] = process.argv.slice(2);
const connection = { host: "127.0.0.1", port: Number(port) };
const queues = new Map();
let next = 0;

async function queueOf(queue) {
    if (!queues.has(queue)) {
        queues.set(queue, new Queue(queue, {
            connection, defaultJobOptions: { removeOnComplete: true } }));
        await queues.get(queue).waitUntilReady();
    }
    return queues.get(queue);
}

async function obey([verb, queue, count]) {
    const jobs = await queueOf(queue);
    if (verb === "left")
        return jobs.getJobCountByTypes("waiting", "paused", "active",
            "delayed", "prioritized", "completed", "failed");
    const began = process.hrtime.bigint();
    for (let i = 0; i < Number(count); i++)
        await jobs.add("job",
            `${process.hrtime.bigint()} ${next++}`.padEnd(100));
    return (process.hrtime.bigint() - began) / BigInt(count);
}

async function work([slots, every, hold, lease]) {
    const seen = new Set();
    let number = 0;
    const worker = new Worker(name, async (job) => {
        const now = process.hrtime.bigint();
        const [put, which] = job.data.trim().split(" ");
        seen.add(which);
        if (++number % every === 0)
            console.log(`${number} ${seen.size} ${now - BigInt(put)}`);
        if (hold > 0)
            await sleep(hold);
    }, { connection, concurrency: slots, lockDuration: lease,
        stalledInterval: lease });
    worker.on("error", (error) => console.log("error", error.message));
    await worker.waitUntilReady();
}

if (role === "work")
    await work(numbers.map(Number));
console.log("ready", require("./node_modules/bullmq/package.json").version);
for await (const line of createInterface({ input: process.stdin }))
    console.log(String(await obey(line.split(" "))));
process.exit(0);
