// SPDX-License-Identifier: Apache-2.0

import io.lettuce.core.ClientOptions;
import io.lettuce.core.LMoveArgs;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.ScoredValue;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.SortArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** CallsLettuce PORT PROTOCOL: Lettuce's program for clients.py. */
public final class CallsLettuce {
    private static RedisClient client;
    private static RedisCommands<String, String> r;
    private static RedisCommands<String, String> other;
    private static RedisCommands<byte[], byte[]> raw;

    private static void strings() {
        byte[] all = Calls.ALL_BYTES;
        byte[] key = "large".getBytes();

        Calls.show("connect", () -> r.ping(), () -> r.echo("hello"),
                () -> r.clientId() > 0, () -> r.clientSetname("calls"),
                () -> r.clientGetname());
        Calls.show("string", () -> r.set("s", "a"), () -> r.get("s"),
                () -> r.get("none"), () -> r.set("s", "b", new SetArgs().nx()),
                () -> r.setGet("s", "c"), () -> r.append("s", "de"),
                () -> r.getrange("s", 1, -1), () -> r.setrange("s", 1, "XY"),
                () -> r.strlen("s"), () -> r.getdel("s"), () -> r.get("s"));
        Calls.show("binary", () -> raw.set(all, all),
                () -> Arrays.equals(raw.get(all), all), () -> raw.del(all));
        Calls.show("large", () -> raw.set(key, Calls.large()),
                () -> Arrays.equals(raw.get(key), Calls.large()));
        Calls.show("number", () -> r.incr("n"), () -> r.incrby("n", 41),
                () -> r.decr("n"), () -> r.incrbyfloat("f", 0.5),
                () -> r.mset(Map.of("m1", "1", "m2", "2")),
                () -> r.mget("m1", "none", "m2"));
        Calls.show("bits", () -> r.setbit("bits", 7, 1),
                () -> r.getbit("bits", 7), () -> r.bitcount("bits"));
        Calls.show("expiry", () -> r.setex("e", 100, "1"),
                () -> r.ttl("e") > 90, () -> r.persist("e"), () -> r.ttl("e"),
                () -> r.pexpire("e", 50),
                () -> Calls.gone(name -> r.exists(name) == 1, "e"));
        Calls.show("keys", () -> r.type("n"), () -> r.exists("n", "none", "f"),
                () -> r.rename("n", "n2"), () -> r.copy("n2", "n3"),
                () -> r.keys("n*").stream().sorted().toList(),
                () -> r.del("n2", "none"), () -> r.rename("none", "x"));
    }

    private static void collections() {
        Calls.show("hash", () -> r.hset("h", Map.of("a", "1", "b", "2")),
                () -> r.hget("h", "a"), () -> r.hgetall("h"),
                () -> r.hmget("h", "a", "none"), () -> r.hincrby("h", "a", 9),
                () -> r.hdel("h", "b"), () -> r.hlen("h"),
                () -> r.hgetall("none"));
        Calls.show("list", () -> r.rpush("l", "a", "b", "c", "b"),
                () -> r.lrange("l", 0, -1), () -> r.lpop("l", 2),
                () -> r.linsert("l", true, "b", "x"), () -> r.lrem("l", 1, "b"),
                () -> r.llen("l"), () -> r.lpop("none"),
                () -> r.lmove("l", "l2", LMoveArgs.Builder.leftRight()));
        Calls.show("set", () -> r.sadd("t", "a", "b", "c"),
                () -> r.smembers("t"), () -> r.sismember("t", "a"),
                () -> r.smismember("t", "a", "z"),
                () -> r.sadd("t2", "b", "c", "d"), () -> r.sinter("t", "t2"),
                () -> r.srem("t", "a"), () -> r.scard("t"));
        Calls.show("zset", () -> r.zadd("z", 1.0, "a", 2.5, "b"),
                () -> r.zadd("z", Double.POSITIVE_INFINITY, "c"),
                () -> r.zrange("z", 0, -1), () -> r.zscore("z", "b"),
                () -> r.zscore("z", "c"), () -> r.zscore("z", "none"),
                () -> r.zincrby("z", 2, "a"),
                () -> r.zrangebyscoreWithScores("z", Range.from(
                        Range.Boundary.excluding(2), Range.Boundary.including(3)),
                        Limit.unlimited()),
                () -> r.zrank("z", "a"), () -> r.zrank("z", "none"),
                () -> r.zpopmin("z"), () -> r.zcard("z"));
        Calls.show("sort", () -> r.rpush("ids", "3", "1", "2"),
                () -> r.mset(Map.of("w3", "three", "w1", "one", "w2", "two")),
                () -> r.sort("ids"),
                () -> r.sort("ids", SortArgs.Builder.get("w*").desc()));
    }

    private static void scans() {
        Map<String, String> names = Calls.names();
        Object[] scores = names.keySet().stream()
                .map(name -> ScoredValue.just(1, name)).toArray();

        Calls.show("scan", () -> r.mset(names),
                () -> ScanIterator.scan(r, ScanArgs.Builder.matches("scan:*")
                        .limit(50)).stream().distinct().count(),
                () -> r.hset("sh", names),
                () -> ScanIterator.hscan(r, "sh").stream().count(),
                () -> r.sadd("ss", names.keySet().toArray(new String[0])),
                () -> ScanIterator.sscan(r, "ss").stream().count(),
                () -> r.zadd("sz", Arrays.copyOf(scores, scores.length,
                        ScoredValue[].class)),
                () -> ScanIterator.zscan(r, "sz").stream().count());
    }

    private static void pipeline() {
        RedisAsyncCommands<String, String> async =
                r.getStatefulConnection().async();
        List<RedisFuture<Long>> counts = new ArrayList<>();

        async.setAutoFlushCommands(false);
        for (int i = 0; i < 500; i++)
            counts.add(async.incr("p"));
        RedisFuture<Long> wrong = async.lpush("p", "x");
        RedisFuture<String> last = async.get("p");
        async.flushCommands();
        async.setAutoFlushCommands(true);
        LettuceFutures.awaitAll(Duration.ofSeconds(30),
                counts.toArray(new RedisFuture<?>[0]));
        Calls.show("pipeline", () -> counts.stream()
                .mapToLong(count -> count.toCompletableFuture().join()).sum(),
                wrong::get, last::get);
    }

    private static void multi() {
        Calls.show("multi", () -> r.multi(), () -> r.set("x", "1"),
                () -> r.incr("x"), () -> r.lpush("x", "y"), () -> r.get("x"),
                () -> r.exec().stream().toList(), () -> r.watch("w"),
                () -> other.set("w", "changed"), () -> r.multi(),
                () -> r.set("w", "mine"), () -> r.exec().wasDiscarded(),
                () -> r.get("w"));
    }

    private static void scripts() {
        ScriptOutputType many = ScriptOutputType.MULTI;
        ScriptOutputType integer = ScriptOutputType.INTEGER;
        String[] keys = {"i"};

        Calls.show("script", () -> r.eval(Calls.TYPES, many),
                () -> r.eval(Calls.ADD, integer, keys, "5"),
                () -> r.evalsha(r.scriptLoad(Calls.ADD), integer, keys, "5"),
                () -> r.scriptExists(Calls.ZEROS),
                () -> r.evalsha(Calls.ZEROS, many),
                () -> r.eval(Calls.FAIL, many),
                () -> r.eval(Calls.WRONG, integer, keys),
                () -> r.eval("nonsense(", many));
    }

    /** Everything that it receives. */
    private static final class Listener
            extends RedisPubSubAdapter<String, String> {
        final LinkedBlockingQueue<Object> got = new LinkedBlockingQueue<>();

        @Override
        public void message(String channel, String message) {
            got.add(List.of(channel, message));
        }

        @Override
        public void message(String pattern, String channel, String message) {
            got.add(List.of(pattern, channel, message));
        }

        @Override
        public void subscribed(String channel, long count) {
            got.add(List.of("subscribed", channel, count));
        }

        @Override
        public void unsubscribed(String channel, long count) {
            got.add(List.of("unsubscribed", channel, count));
        }

        Object next() throws InterruptedException {
            return got.poll(30, TimeUnit.SECONDS);
        }
    }

    private static void messages() {
        StatefulRedisPubSubConnection<String, String> connection =
                client.connectPubSub();
        Listener listener = new Listener();

        connection.addListener(listener);
        Calls.show("pubsub",
                Calls.call(() -> connection.sync().subscribe("c1")),
                listener::next,
                Calls.call(() -> connection.sync().psubscribe("c?")),
                () -> r.publish("c1", "\0\r\n"), listener::next,
                listener::next, () -> r.publish("none", "x"),
                () -> r.pubsubNumsub("c1"),
                Calls.call(() -> connection.sync().unsubscribe("c1")),
                listener::next, () -> connection.sync().ping());
        connection.close();
    }

    private static void blocking() {
        Calls.later(() -> other.rpush("b1", "late"));
        Calls.show("block", () -> r.blpop(30, "b0", "b1"),
                () -> r.brpop(0.05, "b1"), () -> other.rpush("b1", "1", "2"),
                () -> r.brpop(1, "b1"), () -> r.blmove("b1", "b2",
                        LMoveArgs.Builder.leftRight(), 1));
        Calls.later(() -> other.zadd("bz", 3, "m"));
        Calls.show("block_zset", () -> r.bzpopmin(30, "bz"),
                () -> r.bzpopmax(0.05, "bz"));
    }

    private static Callable<?> send(ProtocolKeyword command, String... words) {
        CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8);

        for (String word : words)
            args.add(word);
        return () -> r.dispatch(command, new StatusOutput<>(StringCodec.UTF8),
                args);
    }

    private static final ProtocolKeyword NONSENSE = new ProtocolKeyword() {
        @Override
        public byte[] getBytes() {
            return name().getBytes();
        }

        @Override
        public String name() {
            return "NONSENSE";
        }
    };

    private static void errors() {
        Calls.show("error", () -> r.lpush("s2", "x"), () -> r.get("s2"),
                send(NONSENSE, "a"), send(CommandType.GET),
                send(CommandType.SET, "s", "1", "EX", "-1"),
                () -> r.set("s3", "x"), () -> r.incr("s3"));
    }

    private static void increment() {
        try (StatefulRedisConnection<String, String> one = client.connect()) {
            for (int i = 0; i < 50; i++)
                one.sync().incr("par");
        }
    }

    public static void main(String[] words) throws Exception {
        ProtocolVersion protocol = words[1].equals("3") ? ProtocolVersion.RESP3
                : ProtocolVersion.RESP2;

        client = RedisClient.create(RedisURI.create("127.0.0.1",
                Integer.parseInt(words[0])));
        client.setOptions(ClientOptions.builder().protocolVersion(protocol)
                .build());
        r = client.connect().sync();
        other = client.connect().sync();
        raw = client.connect(ByteArrayCodec.INSTANCE).sync();
        r.flushall();
        strings();
        collections();
        scans();
        pipeline();
        multi();
        scripts();
        messages();
        blocking();
        errors();
        Calls.parallel(CallsLettuce::increment);
        Calls.show("parallel", () -> r.get("par"));
        client.shutdown(0, 1, TimeUnit.SECONDS);
    }
}
