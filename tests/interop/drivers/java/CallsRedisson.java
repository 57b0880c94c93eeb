// SPDX-License-Identifier: Apache-2.0

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.BatchOptions;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RBatch;
import org.redisson.api.RBitSet;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RBucket;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RKeys;
import org.redisson.api.RList;
import org.redisson.api.RLock;
import org.redisson.api.RMap;
import org.redisson.api.RMapCache;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RScript;
import org.redisson.api.RSemaphore;
import org.redisson.api.RSet;
import org.redisson.api.RTopic;
import org.redisson.api.RTransaction;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;
import org.redisson.api.SortOrder;
import org.redisson.api.TransactionOptions;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;
import org.redisson.config.Protocol;

/** CallsRedisson PORT PROTOCOL: Redisson's program for clients.py. */
public final class CallsRedisson {
    private static final RScript.Mode WRITE = RScript.Mode.READ_WRITE;

    private static RedissonClient r;

    private static void strings() {
        RBucket<String> s = r.getBucket("s");
        RBucket<byte[]> large = r.getBucket("large", ByteArrayCodec.INSTANCE);
        RAtomicLong n = r.getAtomicLong("n");
        RBitSet bits = r.getBitSet("bits");
        RBucket<String> e = r.getBucket("e");
        RKeys keys = r.getKeys();

        Calls.show("string", Calls.call(() -> s.set("a")), s::get,
                () -> r.getBucket("none").get(), () -> s.setIfAbsent("b"),
                () -> s.getAndSet("c"), () -> s.compareAndSet("c", "d"),
                s::size, s::getAndDelete, s::get);
        Calls.show("large", Calls.call(() -> large.set(Calls.large())),
                () -> Arrays.equals(large.get(), Calls.large()));
        Calls.show("number", n::incrementAndGet, () -> n.addAndGet(41),
                n::decrementAndGet, () -> n.compareAndSet(41, 7),
                () -> r.getAtomicDouble("f").addAndGet(0.5),
                Calls.call(() -> r.getBuckets()
                        .set(Map.of("m1", "1", "m2", "2"))),
                () -> r.getBuckets().get("m1", "none", "m2"));
        Calls.show("bits", () -> bits.set(7), () -> bits.get(7),
                bits::cardinality);
        Calls.show("expiry",
                Calls.call(() -> e.set("1", 100, TimeUnit.SECONDS)),
                () -> e.remainTimeToLive() > 90000, e::clearExpire,
                e::remainTimeToLive, () -> e.expire(50, TimeUnit.MILLISECONDS),
                () -> Calls.gone(name -> e.isExists(), "e"));
        Calls.show("keys", () -> keys.getType("n"),
                () -> keys.countExists("n", "none", "f"),
                Calls.call(() -> n.rename("n2")), () -> keys.delete("n2", "x"),
                Calls.call(() -> keys.rename("none", "x")));
    }

    private static void collections() {
        RMap<String, String> h = r.getMap("h");
        RList<String> l = r.getList("l");
        RSet<String> t = r.getSet("t");
        RScoredSortedSet<String> z = r.getScoredSortedSet("z");

        Calls.show("hash", Calls.call(() -> h.putAll(Map.of("a", "1", "b",
                "2"))), () -> h.get("a"), h::readAllMap,
                () -> h.putIfAbsent("a", "3"), () -> h.put("a", "4"),
                () -> h.replace("a", "4", "5"), () -> h.fastRemove("b"),
                h::size);
        Calls.show("list", () -> l.addAll(List.of("a", "b", "c", "b")),
                l::readAll, () -> l.get(1), () -> l.set(0, "x"),
                () -> l.indexOf("c"), () -> l.addBefore("c", "y"),
                () -> l.remove(1), l::size);
        Calls.show("set", () -> t.addAll(List.of("a", "b", "c")), t::readAll,
                () -> t.contains("a"), () -> t.containsAll(List.of("a", "z")),
                () -> t.remove("a"), t::size);
        Calls.show("zset", () -> z.addAll(Map.of("a", 1.0, "b", 2.5, "c",
                100.0)), z::readAll, () -> z.getScore("b"),
                () -> z.getScore("c"), () -> z.getScore("none"),
                () -> z.addScore("a", 2),
                () -> z.entryRange(2, false, 3, true), () -> z.rank("a"),
                () -> z.rank("none"), z::pollFirst, z::size);
        Calls.show("sort", () -> r.getList("ids").addAll(List.of("3", "1",
                "2")), () -> r.<String>getList("ids").readSort(
                SortOrder.DESC));
    }

    private static void scans() {
        Map<String, String> names = Calls.names();
        RMap<String, String> map = r.getMap("sh");
        RSet<String> set = r.getSet("ss");

        Calls.show("scan", Calls.call(() -> r.getBuckets().set(names)),
                () -> r.getKeys().getKeysStreamByPattern("scan:*", 50)
                        .distinct().count(),
                Calls.call(() -> map.putAll(names)),
                () -> map.keySet().stream().count(),
                () -> set.addAll(names.keySet()), () -> set.stream().count());
    }

    private static void batches() {
        RBatch pipe = r.createBatch();
        RBatch multi = r.createBatch(BatchOptions.defaults().executionMode(
                BatchOptions.ExecutionMode.IN_MEMORY_ATOMIC));
        RTransaction own = r.createTransaction(TransactionOptions.defaults());

        for (int i = 0; i < 500; i++)
            pipe.getAtomicLong("p").incrementAndGetAsync();
        multi.getBucket("x").setAsync("1");
        multi.getBucket("x").getAndSetAsync("2");
        multi.getAtomicLong("y").incrementAndGetAsync();
        Calls.show("pipeline", () -> pipe.execute().getResponses().stream()
                .mapToLong(count -> (Long) count).sum());
        Calls.show("multi", () -> multi.execute().getResponses(), () -> {
            own.getBucket("w").set("mine");
            own.getMap("wh").put("a", "1");
            own.commit();
            return r.getBucket("w").get();
        });
    }

    private static Object eval(RScript.ReturnType type, String source,
            Object... words) {
        return r.getScript(StringCodec.INSTANCE).eval(WRITE, source, type,
                List.of("i"), words);
    }

    private static void scripts() {
        RScript.ReturnType integer = RScript.ReturnType.LONG;
        RScript script = r.getScript(StringCodec.INSTANCE);

        Calls.show("script", () -> eval(RScript.ReturnType.LIST, Calls.TYPES),
                () -> eval(integer, Calls.ADD, "5"),
                () -> script.evalSha(WRITE, script.scriptLoad(Calls.ADD),
                        integer, List.of("i"), "5"),
                () -> script.scriptExists(Calls.ZEROS));
    }

    private static void messages() throws InterruptedException {
        LinkedBlockingQueue<Object> got = new LinkedBlockingQueue<>();
        RTopic topic = r.getTopic("c1", StringCodec.INSTANCE);
        int id = topic.addListener(String.class,
                (channel, message) -> got.add(List.of(channel, message)));

        Calls.show("pubsub", () -> topic.publish("\0\r\n"),
                () -> got.poll(30, TimeUnit.SECONDS), topic::countSubscribers,
                Calls.call(() -> topic.removeListener(id)),
                () -> topic.publish("x"));
    }

    private static void blocking() {
        RBlockingQueue<String> queue = r.getBlockingQueue("b1");
        RDelayedQueue<String> delayed = r.getDelayedQueue(queue);
        RScoredSortedSet<String> z = r.getScoredSortedSet("bz");

        Calls.later(() -> queue.add("late"));
        Calls.show("block", () -> queue.poll(30, TimeUnit.SECONDS),
                () -> queue.poll(1, TimeUnit.SECONDS),
                Calls.call(() -> delayed.offer("d", 200,
                        TimeUnit.MILLISECONDS)),
                () -> queue.poll(30, TimeUnit.SECONDS));
        delayed.destroy();
        Calls.later(() -> z.add(3, "m"));
        Calls.show("block_zset", () -> z.pollFirst(30, TimeUnit.SECONDS),
                () -> z.pollLast(1, TimeUnit.SECONDS));
    }

    /** What is made of scripts, for the most part. */
    private static void together() {
        RMapCache<String, String> cache = r.getMapCache("cache");
        RRateLimiter limiter = r.getRateLimiter("limit");
        RSemaphore semaphore = r.getSemaphore("sem");
        RCountDownLatch latch = r.getCountDownLatch("latch");
        RLock lock = r.getLock("lock");

        Calls.show("cache", () -> cache.put("a", "1", 50,
                TimeUnit.MILLISECONDS), () -> cache.put("b", "2"),
                () -> Calls.gone(cache::containsKey, "a"),
                cache::readAllMap, () -> cache.fastPutIfAbsent("b", "3"));
        Calls.show("lock", lock::tryLock, lock::getHoldCount,
                () -> lock.tryLock(1, 10, TimeUnit.SECONDS),
                lock::getHoldCount, Calls.call(lock::unlock),
                Calls.call(lock::unlock), lock::isLocked);
        Calls.show("limiter", () -> limiter.trySetRate(RateType.OVERALL, 2,
                Duration.ofHours(1)), limiter::tryAcquire,
                limiter::tryAcquire, limiter::tryAcquire);
        Calls.show("semaphore", () -> semaphore.trySetPermits(2),
                () -> semaphore.tryAcquire(2), semaphore::tryAcquire,
                Calls.call(semaphore::release), semaphore::availablePermits);
        Calls.later(latch::countDown);
        Calls.show("latch", () -> latch.trySetCount(1),
                () -> latch.await(30, TimeUnit.SECONDS), latch::getCount);
    }

    private static void errors() {
        Calls.show("error", () -> r.getList("s2").add("x"),
                () -> r.getBucket("s2").get(),
                () -> eval(RScript.ReturnType.LONG, Calls.FAIL),
                () -> eval(RScript.ReturnType.LONG, "nonsense("));
    }

    private static void increment() {
        for (int i = 0; i < 50; i++)
            r.getAtomicLong("par").incrementAndGet();
    }

    public static void main(String[] words) throws Exception {
        Config config = new Config();

        config.setCodec(StringCodec.INSTANCE);
        config.setProtocol(words[1].equals("3") ? Protocol.RESP3
                : Protocol.RESP2);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + words[0])
                .setRetryAttempts(0);
        r = Redisson.create(config);
        r.getKeys().flushall();
        strings();
        collections();
        scans();
        batches();
        scripts();
        messages();
        blocking();
        together();
        errors();
        Calls.parallel(CallsRedisson::increment);
        Calls.show("parallel", r.getAtomicLong("par")::get);
        r.shutdown(0, 1, TimeUnit.SECONDS);
    }
}
