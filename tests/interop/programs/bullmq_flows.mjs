// SPDX-License-Identifier: Apache-2.0
// bullmq_flows.mjs - BullMQ: jobs, delays, retries, repeats, flows, stalled
// jobs. Usage: bullmq_flows.mjs PORT. Prints results, states, counts and
// orders, a line for each step.
import { fork } from "node:child_process";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

const require = createRequire(process.env.NODE_MODULES + "/");
const { FlowProducer, Queue, QueueEvents, Worker } = require("bullmq");
const port = Number(process.argv[2]);
const connection = { host: "127.0.0.1", port, maxRetriesPerRequest: null };
const opened = [];

function say(step, ...values) {
    console.log(step, ...values.map((value) => JSON.stringify(value)));
}

function keep(object) {
    object.on("error", (error) => say("error", error.message));
    opened.push(object);
    return object;
}

async function closeAll() {
    while (opened.length)
        await opened.pop().close();
}

async function until(isTrue) {
    for (let i = 0; i < 2000; i++) {
        if (await isTrue())
            return true;
        await sleep(10);
    }
    return false;
}

async function counts(queue) {
    const all = await queue.getJobCounts();
    return Object.entries(all).filter(([, count]) => count)
        .map(([state, count]) => `${state}=${count}`).sort().join(" ");
}

async function doJobs() {
    const queue = keep(new Queue("jobs", { connection }));
    const events = keep(new QueueEvents("jobs", { connection }));
    await events.waitUntilReady();
    const jobs = await queue.addBulk([0, 1, 2, 3, 4].map((n) => (
        { name: "add", data: { n } })));
    await queue.add("first", { n: 10 }, { priority: 1 });
    await queue.add("second", { n: 11 }, { priority: 2 });
    await queue.add("front", { n: 12 }, { lifo: true });
    await queue.add("same", { n: 1 }, { jobId: "same" });
    await queue.add("same", { n: 2 }, { jobId: "same" });
    say("jobs", await counts(queue));
    const seen = [];
    const worker = keep(new Worker("jobs", async (job) => {
        seen.push(job.data.n);
        await job.updateProgress(50);
        await job.log("a line");
        return job.data.n * 2;
    }, { connection }));
    const results = [];
    for (const job of jobs)
        results.push(await job.waitUntilFinished(events, 50000));
    await until(async () => !/waiting|active|prior/.test(await counts(queue)));
    say("jobs", results, seen, await counts(queue));
    const job = await queue.getJob(jobs[0].id);
    say("jobs", await job.getState(), job.progress, job.returnvalue,
        (await queue.getJobLogs(job.id)).logs);
    await queue.pause();
    await queue.add("paused", { n: 20 });
    say("pause", await queue.isPaused(), await counts(queue));
    await queue.resume();
    await until(async () => seen.includes(20));
    await job.remove();
    say("jobs", (await queue.getCompleted()).length,
        await queue.getJobState(job.id), worker.isRunning());
    await queue.drain();
    await queue.obliterate({ force: true });
    say("jobs", await counts(queue));
    await closeAll();
}

async function doDelays() {
    const queue = keep(new Queue("delays", { connection }));
    await queue.add("third", {}, { delay: 900 });
    await queue.add("first", {}, { delay: 100 });
    await queue.add("second", {}, { delay: 500 });
    const far = await queue.add("far", {}, { delay: 3600000 });
    say("delays", await counts(queue), await far.getState());
    const seen = [];
    keep(new Worker("delays", async (job) => {
        seen.push(job.name);
    }, { connection }));
    await until(async () => seen.length === 3);
    await until(async () => /completed=3/.test(await counts(queue)));
    say("delays", seen, await counts(queue));
    await far.promote();
    await until(async () => /completed=4/.test(await counts(queue)));
    say("delays", seen, await counts(queue));
    await closeAll();
}

async function doRetries() {
    const queue = keep(new Queue("retries", { connection }));
    const tries = {};
    keep(new Worker("retries", async (job) => {
        tries[job.name] = (tries[job.name] ?? 0) + 1;
        if (tries[job.name] <= job.data.fails)
            throw new Error(`${job.name} ${tries[job.name]}`);
        return tries[job.name];
    }, { connection }));
    const options = { attempts: 3, backoff: { type: "fixed", delay: 50 } };
    await queue.add("twice", { fails: 2 }, options);
    await queue.add("always", { fails: 9 }, options);
    await queue.add("once", { fails: 1 });
    await until(async () => /failed=2/.test(await counts(queue)) &&
        /completed=1/.test(await counts(queue)));
    say("retries", tries, await counts(queue));
    const failed = (await queue.getFailed()).sort((a, b) =>
        a.name.localeCompare(b.name));
    say("failed", failed.map((job) => [job.name, job.failedReason,
        job.attemptsMade]));
    await failed[1].retry();
    await until(async () => /completed=2/.test(await counts(queue)));
    say("failed", await counts(queue));
    say("clean", (await queue.clean(0, 100, "failed")).length,
        await counts(queue));
    await closeAll();
}

async function doRepeat() {
    const queue = keep(new Queue("repeat", { connection }));
    await queue.upsertJobScheduler("each", { every: 200, limit: 3 },
        { name: "tick", data: { a: 1 } });
    await queue.upsertJobScheduler("daily", { pattern: "0 3 * * *" },
        { name: "night" });
    say("repeat", (await queue.getJobSchedulers()).map((one) => one.key)
        .sort());
    const seen = [];
    keep(new Worker("repeat", async (job) => {
        seen.push(job.name);
    }, { connection }));
    await until(async () => seen.length === 3);
    await sleep(500);
    say("repeat", seen, await queue.removeJobScheduler("daily"),
        await queue.removeJobScheduler("daily"));
    await closeAll();
}

async function doFlows() {
    const flow = keep(new FlowProducer({ connection }));
    const queue = keep(new Queue("flows", { connection }));
    const tree = await flow.add({ name: "root", queueName: "flows", children: [
        { name: "left", data: { n: 1 }, queueName: "flows", children: [
            { name: "leaf", data: { n: 2 }, queueName: "flows" }] },
        { name: "right", data: { n: 3 }, queueName: "flows" }] });
    say("flows", await counts(queue), await tree.job.getState());
    const seen = [];
    keep(new Worker("flows", async (job) => {
        const values = Object.values(await job.getChildrenValues());
        seen.push(job.name);
        if (job.name === "broken")
            throw new Error("broken");
        return values.reduce((a, b) => a + b, job.data.n ?? 0);
    }, { connection }));
    await until(async () => (await tree.job.getState()) === "completed");
    say("flows", seen.indexOf("left") > seen.indexOf("leaf"), seen.at(-1),
        (await queue.getJob(tree.job.id)).returnvalue, await counts(queue));
    const bad = await flow.add({ name: "parent", queueName: "flows",
        children: [{ name: "broken", queueName: "flows",
            opts: { failParentOnFailure: true } }] });
    await until(async () => (await bad.job.getState()) === "failed");
    say("flows", await bad.job.getState(), await counts(queue));
    await closeAll();
}

// A process that has taken a job is killed; another worker ends the job.
async function doStalled() {
    const queue = keep(new Queue("stalled", { connection }));
    const job = await queue.add("slow", {});
    const child = fork(process.argv[1], [port, "hang"]);
    await until(async () => (await job.getState()) === "active");
    child.kill("SIGKILL");
    const stalled = [];
    const worker = keep(new Worker("stalled", async () => "done by another",
        { connection, stalledInterval: 300, lockDuration: 1000 }));
    worker.on("stalled", (id) => stalled.push(id === job.id));
    await until(async () => (await job.getState()) === "completed");
    say("stalled", stalled, (await queue.getJob(job.id)).returnvalue,
        await counts(queue));
    await closeAll();
}

async function doLimits() {
    const queue = keep(new Queue("limits", { connection }));
    for (let n = 0; n < 6; n++)
        await queue.add("job", { n });
    const began = Date.now();
    const seen = [];
    keep(new Worker("limits", async (job) => {
        seen.push(job.data.n);
    }, { connection, limiter: { max: 2, duration: 500 } }));
    await until(async () => seen.length === 6);
    say("limits", seen, Date.now() - began >= 900);
    const once = { deduplication: { id: "one" }, delay: 3600000 };
    const first = await queue.add("job", {}, once);
    say("limits", (await queue.add("job", {}, once)).id === first.id,
        await queue.getDeduplicationJobId("one") === first.id);
    await closeAll();
}

if (process.argv[3] === "hang") {
    new Worker("stalled", () => sleep(3600000),
        { connection, stalledInterval: 300, lockDuration: 1000 });
} else {
    for (const step of [doJobs, doDelays, doRetries, doRepeat, doFlows,
        doStalled, doLimits])
        await step();
    process.exit(0);
}
