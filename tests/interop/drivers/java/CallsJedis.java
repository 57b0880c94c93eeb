// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import redis.clients.jedis.BinaryJedisPubSub;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.args.ListDirection;
import redis.clients.jedis.args.ListPosition;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.params.SortingParams;
import redis.clients.jedis.resps.ScanResult;

/** CallsJedis PORT PROTOCOL: Jedis's program for clients.py. */
public final class CallsJedis {
    private static int port;
    private static RedisProtocol protocol;
    private static Jedis r;
    private static Jedis other;

    private static Jedis connect() {
        return new Jedis(new HostAndPort("127.0.0.1", port),
                DefaultJedisClientConfig.builder().protocol(protocol)
                        .socketTimeoutMillis(60000).build());
    }

    private static void strings() {
        byte[] all = Calls.ALL_BYTES;

        Calls.show("connect", () -> r.ping(), () -> r.echo("hello"),
                () -> r.clientId() > 0, () -> r.clientSetname("calls"),
                () -> r.clientGetname());
        Calls.show("string", () -> r.set("s", "a"), () -> r.get("s"),
                () -> r.get("none"),
                () -> r.set("s", "b", new SetParams().nx()),
                () -> r.setGet("s", "c"), () -> r.append("s", "de"),
                () -> r.getrange("s", 1, -1), () -> r.setrange("s", 1, "XY"),
                () -> r.strlen("s"), () -> r.getDel("s"), () -> r.get("s"));
        Calls.show("binary", () -> r.set(all, all),
                () -> Arrays.equals(r.get(all), all), () -> r.del(all));
        Calls.show("large", () -> r.set("large".getBytes(), Calls.large()),
                () -> Arrays.equals(r.get("large".getBytes()), Calls.large()));
        Calls.show("number", () -> r.incr("n"), () -> r.incrBy("n", 41),
                () -> r.decr("n"), () -> r.incrByFloat("f", 0.5),
                () -> r.mset("m1", "1", "m2", "2"),
                () -> r.mget("m1", "none", "m2"));
        Calls.show("bits", () -> r.setbit("bits", 7, true),
                () -> r.getbit("bits", 7), () -> r.bitcount("bits"));
        Calls.show("expiry", () -> r.setex("e", 100, "1"),
                () -> r.ttl("e") > 90, () -> r.persist("e"), () -> r.ttl("e"),
                () -> r.pexpire("e", 50), () -> Calls.gone(r::exists, "e"));
        Calls.show("keys", () -> r.type("n"), () -> r.exists("n", "none", "f"),
                () -> r.rename("n", "n2"), () -> r.copy("n2", "n3", false),
                () -> r.keys("n*"), () -> r.del("n2", "none"),
                () -> r.rename("none", "x"));
    }

    private static void collections() {
        Calls.show("hash", () -> r.hset("h", Map.of("a", "1", "b", "2")),
                () -> r.hget("h", "a"), () -> r.hgetAll("h"),
                () -> r.hmget("h", "a", "none"), () -> r.hincrBy("h", "a", 9),
                () -> r.hdel("h", "b"), () -> r.hlen("h"),
                () -> r.hgetAll("none"));
        Calls.show("list", () -> r.rpush("l", "a", "b", "c", "b"),
                () -> r.lrange("l", 0, -1), () -> r.lpop("l", 2),
                () -> r.linsert("l", ListPosition.BEFORE, "b", "x"),
                () -> r.lrem("l", 1, "b"), () -> r.llen("l"),
                () -> r.lpop("none"), () -> r.lmove("l", "l2",
                        ListDirection.LEFT, ListDirection.RIGHT));
        Calls.show("set", () -> r.sadd("t", "a", "b", "c"),
                () -> r.smembers("t"), () -> r.sismember("t", "a"),
                () -> r.smismember("t", "a", "z"),
                () -> r.sadd("t2", "b", "c", "d"), () -> r.sinter("t", "t2"),
                () -> r.srem("t", "a"), () -> r.scard("t"));
        Calls.show("zset", () -> r.zadd("z", Map.of("a", 1.0, "b", 2.5, "c",
                Double.POSITIVE_INFINITY)), () -> r.zrange("z", 0, -1),
                () -> r.zscore("z", "b"), () -> r.zscore("z", "c"),
                () -> r.zscore("z", "none"), () -> r.zincrby("z", 2, "a"),
                () -> r.zrangeByScoreWithScores("z", "(2", "3"),
                () -> r.zrank("z", "a"), () -> r.zrank("z", "none"),
                () -> r.zpopmin("z"), () -> r.zcard("z"));
        Calls.show("sort", () -> r.rpush("ids", "3", "1", "2"),
                () -> r.mset("w3", "three", "w1", "one", "w2", "two"),
                () -> r.sort("ids"),
                () -> r.sort("ids", new SortingParams().get("w*").desc()));
    }

    /** All that the pages of an iterator have. */
    private static <T> Collection<T> all(Function<String, ScanResult<T>> scan) {
        List<T> found = new ArrayList<>();
        ScanResult<T> page = scan.apply(ScanParams.SCAN_POINTER_START);

        found.addAll(page.getResult());
        while (!page.isCompleteIteration()) {
            page = scan.apply(page.getCursor());
            found.addAll(page.getResult());
        }
        return found;
    }

    private static void scans() {
        Map<String, String> names = Calls.names();
        String[] list = names.keySet().toArray(new String[0]);
        String[] pairs = names.entrySet().stream().flatMap(entry ->
                List.of(entry.getKey(), entry.getValue()).stream())
                .toArray(String[]::new);
        ScanParams match = new ScanParams().match("scan:*").count(50);

        Calls.show("scan", () -> r.mset(pairs),
                () -> new HashSet<>(all(at -> r.scan(at, match))).size(),
                () -> r.hset("sh", names),
                () -> all(at -> r.hscan("sh", at)).size(),
                () -> r.sadd("ss", list),
                () -> all(at -> r.sscan("ss", at)).size());
    }

    private static void pipeline() {
        List<Response<Long>> counts = new ArrayList<>();
        Pipeline pipe = r.pipelined();

        for (int i = 0; i < 500; i++)
            counts.add(pipe.incr("p"));
        Response<Long> wrong = pipe.lpush("p", "x");
        Response<String> last = pipe.get("p");
        pipe.sync();
        Calls.show("pipeline",
                () -> counts.stream().mapToLong(Response::get).sum(),
                wrong::get, last::get);
    }

    private static void multi() {
        Transaction first = r.multi();

        first.set("x", "1");
        first.incr("x");
        first.lpush("x", "y");
        first.get("x");
        Calls.show("multi", first::exec, () -> r.watch("w"),
                () -> other.set("w", "changed"), () -> {
                    Transaction second = r.multi();
                    second.set("w", "mine");
                    return second.exec();
                }, () -> r.get("w"));
    }

    private static void scripts() {
        Calls.show("script", () -> r.eval(Calls.TYPES),
                () -> r.eval(Calls.ADD, 1, "i", "5"),
                () -> r.evalsha(r.scriptLoad(Calls.ADD), 1, "i", "5"),
                () -> r.scriptExists(Calls.ZEROS),
                () -> r.evalsha(Calls.ZEROS), () -> r.eval(Calls.FAIL),
                () -> r.eval(Calls.WRONG, 1, "i"), () -> r.eval("nonsense("));
    }

    /** Everything that it receives. */
    private static final class Listener extends BinaryJedisPubSub {
        final LinkedBlockingQueue<Object> got = new LinkedBlockingQueue<>();

        @Override
        public void onMessage(byte[] channel, byte[] message) {
            got.add(List.of(channel, message));
        }

        @Override
        public void onSubscribe(byte[] channel, int count) {
            got.add(List.of("subscribed", channel, count));
        }

        @Override
        public void onUnsubscribe(byte[] channel, int count) {
            got.add(List.of("unsubscribed", channel, count));
        }

        Object next() throws InterruptedException {
            return got.poll(30, TimeUnit.SECONDS);
        }
    }

    private static void messages() throws InterruptedException {
        Listener listener = new Listener();
        Thread thread = new Thread(() -> {
            try (Jedis jedis = connect()) {
                jedis.subscribe(listener, "c1".getBytes());
            }
        });

        thread.start();
        Calls.show("pubsub", listener::next,
                () -> r.publish("c1".getBytes(), new byte[] {0, '\r', '\n'}),
                listener::next, () -> r.publish("none", "x"),
                () -> r.pubsubNumSub("c1"),
                Calls.call(listener::unsubscribe), listener::next);
        thread.join();
    }

    private static void blocking() {
        Calls.later(() -> other.rpush("b1", "late"));
        Calls.show("block", () -> r.blpop(30, "b0", "b1"),
                () -> r.brpop(0.05, "b1"), () -> other.rpush("b1", "1", "2"),
                () -> r.brpop(1, "b1"), () -> r.blmove("b1", "b2",
                        ListDirection.LEFT, ListDirection.RIGHT, 1));
        Calls.later(() -> other.zadd("bz", 3, "m"));
        Calls.show("block_zset", () -> r.bzpopmin(30, "bz"),
                () -> r.bzpopmax(0.05, "bz"));
    }

    private static void errors() {
        Calls.show("error", () -> r.lpush("s2", "x"), () -> r.get("s2"),
                () -> r.sendCommand(() -> "NONSENSE".getBytes(), "a"),
                () -> r.sendCommand(Protocol.Command.GET),
                () -> r.sendCommand(Protocol.Command.SET, "s", "1", "EX", "-1"),
                () -> r.set("s3", "x"), () -> r.incr("s3"));
    }

    public static void main(String[] words) throws Exception {
        port = Integer.parseInt(words[0]);
        protocol = words[1].equals("3") ? RedisProtocol.RESP3
                : RedisProtocol.RESP2;
        r = connect();
        other = connect();
        r.flushAll();
        strings();
        collections();
        scans();
        pipeline();
        multi();
        scripts();
        messages();
        blocking();
        errors();
        Calls.parallel(() -> {
            try (Jedis jedis = connect()) {
                for (int i = 0; i < 50; i++)
                    jedis.incr("par");
            }
        });
        Calls.show("parallel", () -> r.get("par"));
    }
}
