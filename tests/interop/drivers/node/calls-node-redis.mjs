// SPDX-License-Identifier: Apache-2.0
// calls-node-redis.mjs PORT PROTOCOL - node-redis's program for clients.py.

import {createClient, defineScript, RESP_TYPES} from "redis";
import {allBytes, gone, later, names, Received, show, types, zeros}
    from "./calls.mjs";

const options = {
    socket: {port: Number(process.argv[2])},
    RESP: Number(process.argv[3]),
    scripts: {
        add: defineScript({
            SCRIPT: "return redis.call('INCRBY', KEYS[1], ARGV[1])",
            NUMBER_OF_KEYS: 1,
            parseCommand(parser, key, by) {
                parser.pushKey(key);
                parser.push(String(by));
            },
            transformReply: (reply) => reply,
        }),
    },
};
const r = await createClient(options).connect();
const other = await createClient(options).connect();
const raw = r.withTypeMapping({[RESP_TYPES.BLOB_STRING]: Buffer});
const large = Buffer.alloc(256 * 8192, allBytes);

async function strings() {
    await show("connect", () => r.ping(), () => r.echo("hello"),
        async () => await r.clientId() > 0,
        () => r.clientSetName("calls"), () => r.clientGetName());
    await show("string", () => r.set("s", "a"), () => r.get("s"),
        () => r.get("none"), () => r.set("s", "b", {condition: "NX"}),
        () => r.set("s", "c", {GET: true}), () => r.append("s", "de"),
        () => r.getRange("s", 1, -1), () => r.setRange("s", 1, "XY"),
        () => r.strLen("s"), () => r.getDel("s"), () => r.get("s"));
    await show("binary", () => r.set(allBytes, allBytes),
        async () => allBytes.equals(await raw.get(allBytes)),
        () => r.del(allBytes));
    await show("large", () => r.set("large", large),
        async () => large.equals(await raw.get("large")));
    await show("number", () => r.incr("n"), () => r.incrBy("n", 41),
        () => r.decr("n"), () => r.incrByFloat("f", 0.5),
        () => r.mSet({m1: "1", m2: "2"}), () => r.mGet(["m1", "none", "m2"]));
    await show("bits", () => r.setBit("bits", 7, 1),
        () => r.getBit("bits", 7), () => r.bitCount("bits"));
    await show("expiry",
        () => r.set("e", "1", {expiration: {type: "EX", value: 100}}),
        async () => await r.ttl("e") > 90, () => r.persist("e"),
        () => r.ttl("e"), () => r.pExpire("e", 50), () => gone(r, "e"));
    await show("keys", () => r.type("n"), () => r.exists(["n", "none", "f"]),
        () => r.rename("n", "n2"), () => r.copy("n2", "n3"),
        async () => (await r.keys("n*")).sort(), () => r.del(["n2", "none"]),
        () => r.rename("none", "x"));
}

async function collections() {
    await show("hash", () => r.hSet("h", {a: "1", b: "2"}),
        () => r.hGet("h", "a"), () => r.hGetAll("h"),
        () => r.hmGet("h", ["a", "none"]), () => r.hIncrBy("h", "a", 9),
        () => r.hDel("h", "b"), () => r.hLen("h"), () => r.hGetAll("none"));
    await show("list", () => r.rPush("l", ["a", "b", "c", "b"]),
        () => r.lRange("l", 0, -1), () => r.lPopCount("l", 2),
        () => r.lInsert("l", "BEFORE", "b", "x"), () => r.lRem("l", 1, "b"),
        () => r.lLen("l"), () => r.lPop("none"),
        () => r.lMove("l", "l2", "LEFT", "RIGHT"));
    await show("set", () => r.sAdd("t", ["a", "b", "c"]),
        async () => (await r.sMembers("t")).sort(),
        () => r.sIsMember("t", "a"), () => r.smIsMember("t", ["a", "z"]),
        () => r.sAdd("t2", ["b", "c", "d"]),
        async () => (await r.sInter(["t", "t2"])).sort(),
        () => r.sRem("t", "a"), () => r.sCard("t"));
    await show("zset", () => r.zAdd("z", [{score: 1, value: "a"},
        {score: 2.5, value: "b"}, {score: Infinity, value: "c"}]),
        () => r.zRange("z", 0, -1), () => r.zScore("z", "b"),
        () => r.zScore("z", "c"), () => r.zScore("z", "none"),
        () => r.zIncrBy("z", 2, "a"),
        () => r.zRangeByScoreWithScores("z", "(2", 3),
        () => r.zRank("z", "a"), () => r.zRank("z", "none"),
        () => r.zPopMin("z"), () => r.zCard("z"));
    await show("sort", () => r.rPush("ids", ["3", "1", "2"]),
        () => r.mSet({w3: "three", w1: "one", w2: "two"}),
        () => r.sort("ids"),
        () => r.sort("ids", {GET: "w*", DIRECTION: "DESC"}));
}

/** How many different names an iterator finds. */
async function count(iterator, name) {
    const found = new Set();

    for await (const list of iterator)
        list.forEach((item) => found.add(name(item)));
    return found.size;
}

async function scans() {
    const members = Object.keys(names).map((value) => ({score: 1, value}));

    await show("scan", () => r.mSet(names),
        () => count(r.scanIterator({MATCH: "scan:*", COUNT: 50}), (x) => x),
        () => r.hSet("sh", names),
        () => count(r.hScanIterator("sh"), (x) => x.field),
        () => r.sAdd("ss", Object.keys(names)),
        () => count(r.sScanIterator("ss"), (x) => x),
        () => r.zAdd("sz", members),
        () => count(r.zScanIterator("sz"), (x) => x.value));
}

async function pipeline() {
    const calls = [...Array(500)].map(() => r.incr("p"));
    const sum = (await Promise.all(calls)).reduce((a, b) => a + b, 0);

    await show("pipeline", () => sum, () => r.lPush("p", "x"),
        () => r.get("p"));
}

async function multi() {
    const pinned = await createClient(options).connect();

    await show("multi",
        () => r.multi().set("x", "1").incr("x").get("x").exec(),
        () => r.multi().lPush("x", "y").get("x").exec(),
        () => pinned.watch("w"), () => other.set("w", "changed"),
        () => pinned.multi().set("w", "mine").exec(), () => r.get("w"));
    pinned.destroy();
}

async function scripts() {
    await show("script", () => r.eval(types), () => r.add("i", 5),
        () => r.add("i", 5), () => r.scriptExists(zeros),
        () => r.evalSha(zeros),
        () => r.eval("return redis.error_reply('MINE it failed')"),
        () => r.eval("return redis.call('LPUSH', KEYS[1], 1)", {keys: ["i"]}),
        () => r.eval("nonsense("));
}

async function messages() {
    const p = await createClient(options).connect();
    const got = new Received();
    const receive = (message, channel) => got.push(message, channel);

    await show("pubsub", () => p.subscribe("c1", receive, true),
        () => p.pSubscribe("c?", receive, true),
        () => r.publish("c1", Buffer.from("\0\r\n\xff", "latin1")),
        () => got.next(), () => got.next(), () => r.publish("none", "x"),
        () => r.pubSubNumSub("c1"), () => p.unsubscribe("c1"),
        () => p.ping());
    p.destroy();
}

async function blocking() {
    later(() => other.rPush("b1", "late"));
    await show("block", () => r.blPop(["b0", "b1"], 30),
        () => r.brPop("b1", 0.05), () => other.rPush("b1", ["1", "2"]),
        () => r.brPop("b1", 1),
        () => r.blMove("b1", "b2", "LEFT", "RIGHT", 1));
    later(() => other.zAdd("bz", {score: 3, value: "m"}));
    await show("block_zset", () => r.bzPopMin("bz", 30),
        () => r.bzPopMax("bz", 0.05));
}

async function errors() {
    await show("error", () => r.lPush("s2", "x"), () => r.get("s2"),
        () => r.sendCommand(["NONSENSE", "a"]), () => r.sendCommand(["GET"]),
        () => r.sendCommand(["SET", "s", "1", "EX", "-1"]),
        () => r.set("s3", "x"), () => r.incr("s3"));
}

async function parallel() {
    await Promise.all([...Array(20)].map(async () => {
        const client = await createClient(options).connect();

        for (let i = 0; i < 50; i++)
            await client.incr("par");
        client.destroy();
    }));
    await show("parallel", () => r.get("par"));
}

await r.flushAll();
for (const part of [strings, collections, scans, pipeline, multi, scripts,
    messages, blocking, errors, parallel])
    await part();
r.destroy();
other.destroy();
