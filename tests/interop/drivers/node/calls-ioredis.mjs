// SPDX-License-Identifier: Apache-2.0
// calls-ioredis.mjs PORT - ioredis's program for clients.py.

import Redis from "ioredis";
import {allBytes, gone, later, names, Received, show, types, zeros}
    from "./calls.mjs";

const port = Number(process.argv[2]);
const r = new Redis(port);
const other = new Redis(port);
const large = Buffer.alloc(256 * 8192, allBytes);

async function strings() {
    await show("connect", () => r.ping(), () => r.echo("hello"),
        async () => await r.client("ID") > 0,
        () => r.client("SETNAME", "calls"), () => r.client("GETNAME"));
    await show("string", () => r.set("s", "a"), () => r.get("s"),
        () => r.get("none"), () => r.set("s", "b", "NX"),
        () => r.set("s", "c", "GET"), () => r.append("s", "de"),
        () => r.getrange("s", 1, -1), () => r.setrange("s", 1, "XY"),
        () => r.strlen("s"), () => r.getdel("s"), () => r.get("s"));
    await show("binary", () => r.set(allBytes, allBytes),
        async () => allBytes.equals(await r.getBuffer(allBytes)),
        () => r.del(allBytes));
    await show("large", () => r.set("large", large),
        async () => large.equals(await r.getBuffer("large")));
    await show("number", () => r.incr("n"), () => r.incrby("n", 41),
        () => r.decr("n"), () => r.incrbyfloat("f", 0.5),
        () => r.mset({m1: "1", m2: "2"}), () => r.mget("m1", "none", "m2"));
    await show("bits", () => r.setbit("bits", 7, 1),
        () => r.getbit("bits", 7), () => r.bitcount("bits"));
    await show("expiry", () => r.set("e", "1", "EX", 100),
        async () => await r.ttl("e") > 90, () => r.persist("e"),
        () => r.ttl("e"), () => r.pexpire("e", 50), () => gone(r, "e"));
    await show("keys", () => r.type("n"), () => r.exists("n", "none", "f"),
        () => r.rename("n", "n2"), () => r.copy("n2", "n3"),
        async () => (await r.keys("n*")).sort(), () => r.del("n2", "none"),
        () => r.rename("none", "x"));
}

async function collections() {
    await show("hash", () => r.hset("h", {a: "1", b: "2"}),
        () => r.hget("h", "a"), () => r.hgetall("h"),
        () => r.hmget("h", "a", "none"), () => r.hincrby("h", "a", 9),
        () => r.hdel("h", "b"), () => r.hlen("h"), () => r.hgetall("none"));
    await show("list", () => r.rpush("l", "a", "b", "c", "b"),
        () => r.lrange("l", 0, -1), () => r.lpop("l", 2),
        () => r.linsert("l", "BEFORE", "b", "x"), () => r.lrem("l", 1, "b"),
        () => r.llen("l"), () => r.lpop("none"),
        () => r.lmove("l", "l2", "LEFT", "RIGHT"));
    await show("set", () => r.sadd("t", "a", "b", "c"),
        async () => (await r.smembers("t")).sort(),
        () => r.sismember("t", "a"), () => r.smismember("t", "a", "z"),
        () => r.sadd("t2", "b", "c", "d"),
        async () => (await r.sinter("t", "t2")).sort(),
        () => r.srem("t", "a"), () => r.scard("t"));
    await show("zset", () => r.zadd("z", 1, "a", 2.5, "b", "inf", "c"),
        () => r.zrange("z", 0, -1), () => r.zscore("z", "b"),
        () => r.zscore("z", "none"), () => r.zincrby("z", 2, "a"),
        () => r.zrangebyscore("z", "(2", 3, "WITHSCORES"),
        () => r.zrank("z", "a"), () => r.zrank("z", "none"),
        () => r.zpopmin("z", 1), () => r.zcard("z"));
    await show("sort", () => r.rpush("ids", 3, 1, 2),
        () => r.mset({w3: "three", w1: "one", w2: "two"}),
        () => r.sort("ids"), () => r.sort("ids", "GET", "w*", "DESC"));
}

/** How many different names a stream finds. */
async function count(stream, step) {
    const found = new Set();

    for await (const list of stream)
        list.forEach((name, i) => i % step === 0 && found.add(name));
    return found.size;
}

async function scans() {
    const scores = Object.keys(names).flatMap((name) => [1, name]);

    await show("scan", () => r.mset(names),
        () => count(r.scanStream({match: "scan:*", count: 50}), 1),
        () => r.hset("sh", names), () => count(r.hscanStream("sh"), 2),
        () => r.sadd("ss", ...Object.keys(names)),
        () => count(r.sscanStream("ss"), 1),
        () => r.zadd("sz", ...scores), () => count(r.zscanStream("sz"), 2));
}

async function pipeline() {
    const pipe = r.pipeline();

    for (let i = 0; i < 500; i++)
        pipe.incr("p");
    const results = await pipe.lpush("p", "x").get("p").exec();
    await show("pipeline",
        () => results.slice(0, 500).reduce((sum, [, n]) => sum + n, 0),
        () => results.slice(500));
}

async function multi() {
    await show("multi",
        () => r.multi().set("x", "1").incr("x").lpush("x", "y").get("x").exec(),
        () => r.watch("w"), () => other.set("w", "changed"),
        () => r.multi().set("w", "mine").exec(), () => r.get("w"),
        () => r.multi({pipeline: false}), () => r.set("w", "queued"),
        () => r.exec());
}

async function scripts() {
    r.defineCommand("add", {
        numberOfKeys: 1,
        lua: "return redis.call('INCRBY', KEYS[1], ARGV[1])",
    });
    await show("script", () => r.eval(types, 0), () => r.add("i", 5),
        () => r.add("i", 5), () => r.script("EXISTS", zeros),
        () => r.evalsha(zeros, 0),
        () => r.eval("return redis.error_reply('MINE it failed')", 0),
        () => r.eval("return redis.call('LPUSH', KEYS[1], 1)", 1, "i"),
        () => r.eval("nonsense(", 0));
}

async function messages() {
    const p = new Redis(port);
    const got = new Received();

    p.on("messageBuffer", (...message) => got.push(...message));
    p.on("pmessageBuffer", (...message) => got.push(...message));
    await show("pubsub", () => p.subscribe("c1"), () => p.psubscribe("c?"),
        () => r.publish("c1", Buffer.from("\0\r\n\xff", "latin1")),
        () => got.next(), () => got.next(), () => r.publish("none", "x"),
        () => r.pubsub("NUMSUB", "c1"), () => p.unsubscribe("c1"),
        () => p.ping());
    p.disconnect();
}

async function blocking() {
    later(() => other.rpush("b1", "late"));
    await show("block", () => r.blpop("b0", "b1", 30),
        () => r.brpop("b1", 0.05), () => other.rpush("b1", "1", "2"),
        () => r.brpop("b1", 1),
        () => r.blmove("b1", "b2", "LEFT", "RIGHT", 1));
    later(() => other.zadd("bz", 3, "m"));
    await show("block_zset", () => r.bzpopmin("bz", 30),
        () => r.bzpopmax("bz", 0.05));
}

async function errors() {
    await show("error", () => r.lpush("s2", "x"), () => r.get("s2"),
        () => r.call("NONSENSE", "a"), () => r.call("GET"),
        () => r.set("s", "1", "EX", -1), () => r.set("s3", "x"),
        () => r.incr("s3"));
}

async function parallel() {
    const clients = [...Array(20)].map(() => new Redis(port));

    await Promise.all(clients.map(async (client) => {
        for (let i = 0; i < 50; i++)
            await client.incr("par");
        client.disconnect();
    }));
    await show("parallel", () => r.get("par"));
}

await r.flushall();
for (const part of [strings, collections, scans, pipeline, multi, scripts,
    messages, blocking, errors, parallel])
    await part();
r.disconnect();
other.disconnect();
