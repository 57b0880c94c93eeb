// SPDX-License-Identifier: Apache-2.0

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RGeo;
import org.redisson.api.RHyperLogLog;
import org.redisson.api.RMapCache;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RReliableTopic;
import org.redisson.api.RStream;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;
import org.redisson.api.geo.GeoOrder;
import org.redisson.api.geo.GeoSearchArgs;
import org.redisson.api.geo.GeoUnit;
import org.redisson.api.map.event.EntryExpiredListener;
import org.redisson.api.stream.StreamAddArgs;
import org.redisson.api.stream.StreamCreateGroupArgs;
import org.redisson.api.stream.StreamMessageId;
import org.redisson.api.stream.StreamReadArgs;
import org.redisson.api.stream.StreamReadGroupArgs;
import org.redisson.api.stream.StreamTrimArgs;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** RedissonObjects PORT: Redisson's program for programs.py, on database 6. */
public final class RedissonObjects {
    private static final long WAIT_S = 40;

    private static RedissonClient r;

    private RedissonObjects() {
    }

    private static StreamMessageId id(long n) {
        return new StreamMessageId(n, 0);
    }

    private static void say(String step, Object... values) {
        System.out.println(step + " " + Arrays.asList(values));
    }

    private static boolean until(Callable<Boolean> isTrue) throws Exception {
        for (int i = 0; i < WAIT_S * 100; i++) {
            if (isTrue.call())
                return true;
            Thread.sleep(10);
        }
        return false;
    }

    private static void streams() throws Exception {
        RStream<String, String> s = r.getStream("stream");
        for (int i = 1; i <= 10; i++)
            s.add(id(i), StreamAddArgs.entry("n", String.valueOf(i)));
        say("stream", s.size(), s.range(id(3), id(5)),
                s.rangeReversed(2, StreamMessageId.MAX, StreamMessageId.MIN),
                s.remove(id(10)), s.trim(StreamTrimArgs.maxLen(8).noLimit()));
        s.createGroup(StreamCreateGroupArgs.name("group")
                .id(StreamMessageId.ALL));
        say("group", s.readGroup("group", "one",
                StreamReadGroupArgs.neverDelivered().count(4)).keySet());
        say("group", s.getPendingInfo("group").getTotal(),
                s.getPendingInfo("group").getConsumerNames(),
                s.ack("group", id(2), id(3)),
                s.listPending("group", StreamMessageId.MIN,
                        StreamMessageId.MAX, 10).size());
        say("group", s.claim("group", "two", 0, TimeUnit.MILLISECONDS,
                id(4)).keySet(), s.autoClaim("group", "three", 0,
                TimeUnit.MILLISECONDS, StreamMessageId.MIN, 10)
                .getMessages().keySet());
        say("group", s.pendingRange("group", "three", StreamMessageId.MIN,
                StreamMessageId.MAX, 10).keySet());
        say("info", s.getInfo().getLength(), s.getInfo().getGroups(),
                s.getInfo().getLastGeneratedId(),
                s.listGroups().get(0).getPending(),
                s.listConsumers("group").size(),
                s.removeConsumer("group", "three"));
        RStream<String, String> empty = r.getStream("empty");
        Thread later = new Thread(() -> {
            try {
                Thread.sleep(300);
            } catch (InterruptedException e) {
                return;
            }
            empty.add(id(1), StreamAddArgs.entry("woken", "yes"));
        });
        later.start();
        say("block", empty.read(StreamReadArgs.greaterThan(
                StreamMessageId.ALL).timeout(Duration.ofSeconds(WAIT_S))));
        later.join();
        s.removeGroup("group");
        say("group", s.listGroups().size());
    }

    private static void topics() throws Exception {
        RReliableTopic topic = r.getReliableTopic("topic");
        BlockingQueue<String> one = new LinkedBlockingQueue<>();
        BlockingQueue<String> two = new LinkedBlockingQueue<>();
        String first = topic.addListener(String.class,
                (channel, text) -> one.add(text));
        topic.addListener(String.class, (channel, text) -> two.add(text));
        say("topic", topic.countListeners(), topic.publish("a"),
                topic.publish("b"));
        say("topic", one.poll(WAIT_S, TimeUnit.SECONDS),
                one.poll(WAIT_S, TimeUnit.SECONDS),
                two.poll(WAIT_S, TimeUnit.SECONDS),
                two.poll(WAIT_S, TimeUnit.SECONDS));
        topic.removeListener(first);
        say("topic", topic.countListeners(), topic.publish("c"),
                two.poll(WAIT_S, TimeUnit.SECONDS), one.size());
        say("topic", until(() -> topic.size() == 0));
        topic.removeAllListeners();
        say("topic", topic.countSubscribers());
    }

    private static void geo() {
        RGeo<String> geo = r.getGeo("geo");
        say("geo", geo.add(2.3522, 48.8566, "Paris"),
                geo.add(13.405, 52.52, "Berlin"),
                geo.add(12.4964, 41.9028, "Rome"));
        say("geo", geo.dist("Paris", "Berlin", GeoUnit.KILOMETERS),
                new TreeMap<>(geo.hash("Paris", "Rome")),
                new TreeMap<>(geo.pos("Paris", "Rome")));
        say("geo", geo.search(GeoSearchArgs.from("Paris").radius(1000,
                GeoUnit.KILOMETERS).order(GeoOrder.ASC)),
                geo.search(GeoSearchArgs.from(10, 48).box(2000, 2000,
                        GeoUnit.KILOMETERS).order(
                        GeoOrder.DESC).count(2)));
        say("geo", geo.storeSearchTo("near", GeoSearchArgs.from("Berlin")
                .radius(900, GeoUnit.KILOMETERS)), geo.remove("Rome"),
                geo.size());
    }

    private static void logs() {
        RHyperLogLog<String> a = r.getHyperLogLog("hll:a");
        RHyperLogLog<String> b = r.getHyperLogLog("hll:b");
        for (int i = 0; i < 2000; i++) {
            a.add("a" + i);
            b.add("b" + i / 2);
        }
        long both = a.countWith("hll:b");
        a.mergeWith("hll:b");
        say("hyperloglog", a.add("a1"), b.count(), both, a.count());
    }

    private static void maps() throws Exception {
        RMapCache<String, String> map = r.getMapCache("cache");
        BlockingQueue<String> expired = new LinkedBlockingQueue<>();
        map.addListener((EntryExpiredListener<String, String>) event ->
                expired.add(event.getKey() + "=" + event.getValue()));
        say("cache", map.fastPut("a", "1", 500, TimeUnit.MILLISECONDS),
                map.fastPut("b", "2", 1, TimeUnit.HOURS),
                map.fastPutIfAbsent("b", "3", 1, TimeUnit.HOURS),
                map.size(), map.remainTimeToLive("none"));
        say("cache", until(() -> map.get("a") == null), map.get("b"),
                map.containsKey("a"), new TreeSet<>(map.readAllKeySet()));
        say("cache", expired.poll(WAIT_S, TimeUnit.SECONDS));
        map.setMaxSize(2);
        for (String key : List.of("c", "d", "e"))
            map.fastPut(key, key);
        say("cache", map.size(), map.get("e"), map.addAndGet("n", 5),
                map.replace("e", "x"), map.remove("e"));
    }

    private static void limits() {
        RRateLimiter all = r.getRateLimiter("all");
        say("limiter", all.trySetRate(RateType.OVERALL, 3,
                Duration.ofHours(1)), all.trySetRate(RateType.OVERALL, 9,
                Duration.ofHours(1)), all.tryAcquire(2), all.tryAcquire(2),
                all.tryAcquire(1), all.tryAcquire(), all.availablePermits());
        RRateLimiter mine = r.getRateLimiter("mine");
        mine.setRate(RateType.PER_CLIENT, 1, Duration.ofMillis(200));
        say("limiter", mine.tryAcquire(), mine.tryAcquire(
                Duration.ofSeconds(WAIT_S)), mine.getConfig().getRate());
    }

    private static void run() throws Exception {
        streams();
        topics();
        geo();
        logs();
        maps();
        limits();
        say("end", new TreeSet<>(r.getKeys().getKeysStream().filter(
                key -> !key.contains("{")).toList()));
    }

    public static void main(String[] args) throws Exception {
        Config config = new Config();
        config.setCodec(StringCodec.INSTANCE);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + args[0])
                .setDatabase(6);
        r = Redisson.create(config);
        try {
            run();
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(1);
        }
        System.exit(0);
    }
}
