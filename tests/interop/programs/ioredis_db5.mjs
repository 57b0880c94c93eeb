// SPDX-License-Identifier: Apache-2.0
// ioredis_db5.mjs - ioredis with { db: 5 }. Usage: ioredis_db5.mjs PORT. Prints
// values and counts, a line for each step. Nothing may come into database 0.
import { createRequire } from "node:module";

const require = createRequire(process.env.NODE_MODULES + "/");
const Redis = require("ioredis");
const options = { host: "127.0.0.1", port: Number(process.argv[2]) };
const five = new Redis({ ...options, db: 5 });
const zero = new Redis(options);

function say(step, ...values) {
    console.log(step, ...values.map((value) => JSON.stringify(value)));
}

function keyOf(line) {
    return line.match(/ db=\d+/)[0].trim();
}

await five.set("key", "in 5");
say("set", await five.get("key"), await zero.get("key"),
    await zero.dbsize(), await five.dbsize());
say("client", keyOf(await five.client("INFO")), keyOf(
    await zero.client("INFO")));
const by = new Redis(`redis://127.0.0.1:${options.port}/5`);
say("url", await by.get("key"));
by.disconnect();

// A connection that was lost selects the database again.
const lost = new Promise((resolve) => five.once("ready", resolve));
await zero.client("KILL", "ID", await five.client("ID"));
await lost;
await five.set("again", "in 5");
say("again", await five.get("again"), await zero.exists("again"));

say("multi", await five.multi().incr("n").select(6).set("n", "six").select(5)
    .get("n").exec());
say("pipeline", await five.pipeline().set("a", 1).get("a").lpush("l", 1, 2)
    .lrange("l", 0, -1).exec());
five.defineCommand("put", { numberOfKeys: 1,
    lua: "redis.call('set', KEYS[1], ARGV[1]); return redis.call('dbsize')" });
say("script", await five.put("s", "v"), await zero.exists("s"));

const waiting = new Redis({ ...options, db: 5 });
const popped = waiting.blpop("queue", 30);
await zero.rpush("queue", "wrong");
await five.rpush("queue", "right");
say("block", await popped, await zero.lrange("queue", 0, -1));
waiting.disconnect();

const heard = new Redis(options);
await heard.subscribe("channel");
const message = new Promise((resolve) => heard.once("message",
    (channel, text) => resolve([channel, text])));
await five.publish("channel", "of every database");
say("publish", await message);
heard.disconnect();

for (let i = 0; i < 100; i++)
    await five.set(`scan:${i}`, i);
const found = new Set();
for await (const keys of five.scanStream({ match: "scan:*", count: 7 }))
    keys.forEach((key) => found.add(key));
say("scan", found.size);
say("stream", await five.xadd("x", "1-1", "a", "b"),
    await five.xread("COUNT", 1, "STREAMS", "x", 0));
say("move", await five.move("key", 7), await five.get("key"));
await five.select(7);
say("move", await five.get("key"), await five.swapdb(5, 7));
await five.select(5);
say("swap", await five.get("key"), await five.dbsize());
say("info", (await zero.info("keyspace")).split("\r\n").slice(1)
    .map((line) => line.split(",")[0]).filter(Boolean));
await five.flushdb();
say("flush", await five.dbsize(), await zero.dbsize());
await zero.flushall();
say("flush", await zero.dbsize());
five.disconnect();
zero.disconnect();
