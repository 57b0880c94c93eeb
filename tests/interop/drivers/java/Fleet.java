// SPDX-License-Identifier: Apache-2.0
/*
 * Fleet.java - threads of Redisson on one lock, next to those of
 * fleet_redisson.c, which has the protocol.
 *
 * usage: Fleet PORT KIND NAME MILLISECONDS THREADS
 */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import org.redisson.Redisson;
import org.redisson.api.RBucket;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

public class Fleet {
    static final long HOLD_US = 500;
    static final int LATCHES = 1000;

    final RedissonClient client;
    final String kind;
    final String name;
    final RBucket<String> counter;
    final RBucket<String> copy;
    final AtomicLong written = new AtomicLong();
    final AtomicLong read = new AtomicLong();
    final List<Long> handovers = new ArrayList<>();

    Fleet(String port, String kind, String name) {
        Config config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
        client = Redisson.create(config);
        this.kind = kind;
        this.name = name;
        counter = client.getBucket("counter", StringCodec.INSTANCE);
        copy = client.getBucket("copy", StringCodec.INSTANCE);
    }

    /* Read, pause, write: two at once lose an update. */
    void write(long acquired) throws InterruptedException {
        String[] last = counter.get().split(" ");
        long count = Long.parseLong(last[0]);

        if (last[1].equals("c")) {
            synchronized (handovers) {
                handovers.add((acquired - Long.parseLong(last[2])) / 1000);
            }
        }
        TimeUnit.MICROSECONDS.sleep(HOLD_US);
        copy.set(Long.toString(count + 1));
        counter.set((count + 1) + " java " + System.nanoTime());
        written.incrementAndGet();
    }

    void read() throws InterruptedException {
        String before = counter.get().split(" ")[0];

        TimeUnit.MICROSECONDS.sleep(HOLD_US);
        if (!before.equals(copy.get()))
            throw new IllegalStateException("read while another writes");
        read.incrementAndGet();
    }

    void hold(Lock lock, boolean writes) throws InterruptedException {
        lock.lock();
        try {
            if (writes)
                write(System.nanoTime());
            else
                read();
        } finally {
            lock.unlock();
        }
    }

    void once(long round) throws InterruptedException {
        switch (kind) {
            case "fair" -> hold(client.getFairLock(name), true);
            case "fenced" -> hold(client.getFencedLock(name), true);
            case "readwrite" -> {
                RReadWriteLock lock = client.getReadWriteLock(name);
                boolean writes = round % 4 == 0;

                hold(writes ? lock.writeLock() : lock.readLock(), writes);
            }
            case "semaphore" -> {
                client.getSemaphore(name).acquire();
                write(System.nanoTime());
                client.getSemaphore(name).release();
            }
            case "permit" -> {
                String id = client.getPermitExpirableSemaphore(name).acquire(
                    30, TimeUnit.SECONDS);

                write(System.nanoTime());
                client.getPermitExpirableSemaphore(name).release(id);
            }
            default -> hold(client.getLock(name), true);
        }
    }

    void awaitLatches() throws InterruptedException {
        for (int i = 0; i < LATCHES; i++) {
            RCountDownLatch latch = client.getCountDownLatch(name + ":" + i);

            latch.countDown();
            latch.await();
            read.incrementAndGet();
        }
    }

    void work(long end) {
        try {
            if (kind.equals("latch")) {
                awaitLatches();
                return;
            }
            for (long round = 0; System.nanoTime() < end; round++)
                once(round);
        } catch (Exception e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    /* Classes are loaded and connections made before the start. */
    void warmUp() throws InterruptedException {
        for (int i = 0; i < 20; i++) {
            client.getLock("warm").lock();
            client.getLock("warm").unlock();
        }
        counter.get();
    }

    void run(long milliseconds, int threads) throws Exception {
        List<Thread> all = new ArrayList<>();

        warmUp();
        if (kind.equals("latch")) {
            threads = 1;
            for (int i = 0; i < LATCHES; i++)
                client.getCountDownLatch(name + ":" + i).trySetCount(2);
        }
        System.out.println("ready");
        System.in.read();
        long end = System.nanoTime() + milliseconds * 1000000;
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(() -> work(end));

            thread.start();
            all.add(thread);
        }
        for (Thread thread : all)
            thread.join();
        System.out.println(written + " " + read);
        handovers.forEach(System.out::println);
        client.shutdown();
    }

    public static void main(String[] args) throws Exception {
        new Fleet(args[0], args[1], args[2])
            .run(Long.parseLong(args[3]), Integer.parseInt(args[4]));
    }
}
