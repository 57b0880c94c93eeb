// SPDX-License-Identifier: Apache-2.0

import java.io.RandomAccessFile;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel.MapMode;
import java.util.ArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson's workers of bench_contended, all in one process, but each with a
 * client of its own unless they are to be "together". The board, a file that
 * they count in, is described in bench/contended.h.
 *
 * Contend PORT BOARD FIRST COUNT PAUSE_US apart|together
 */
public final class Contend {
    private static final String LOCK = "contended";
    private static final long HOLD_NS = 1_000_000;
    private static final int STOP = 0, SINCE = 1, BY = 2, INSIDE = 3,
            OVERLAPS = 4, TOTAL = 5, WORKER = 8, LOG_AT = 4096,
            LOG_MAX = 1_000_000;
    private static final VarHandle LONGS = MethodHandles
            .byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final VarHandle INTS = MethodHandles
            .byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private final ByteBuffer board;
    private final RLock lock;
    private final int self; // from 1
    private final long pauseNs;

    private Contend(ByteBuffer board, RLock lock, int self, long pauseNs) {
        this.board = board;
        this.lock = lock;
        this.self = self;
        this.pauseNs = pauseNs;
    }

    private long get(int word) {
        return (long) LONGS.getVolatile(board, 8 * word);
    }

    private void set(int word, long value) {
        LONGS.setVolatile(board, 8 * word, value);
    }

    private void enter(long now) {
        long after = Math.min(now - get(SINCE), 0xffffffffL);
        long i = get(TOTAL);

        if (get(INSIDE) != 0)
            set(OVERLAPS, get(OVERLAPS) + 1);
        set(INSIDE, self);
        if (get(BY) == self)
            after = 0;
        if (i < LOG_MAX)
            INTS.setVolatile(board, LOG_AT + 4 * (int) i, (int) after);
        set(TOTAL, i + 1);
    }

    private void leave(long since) {
        int own = WORKER + 4 * (self - 1);
        long now = System.nanoTime();

        set(own + 1, get(own + 1) + 1);
        set(own + 2, get(own + 2) + now - since);
        set(INSIDE, 0);
        set(BY, self);
        set(SINCE, now);
    }

    // System.nanoTime() is CLOCK_MONOTONIC on Linux.
    private void work() {
        set(WORKER + 4 * (self - 1), 1);
        while (get(STOP) == 0)
            LockSupport.parkNanos(1_000_000);
        while (System.nanoTime() < get(STOP)) {
            lock.lock();
            long now = System.nanoTime();
            enter(now);
            LockSupport.parkNanos(HOLD_NS);
            leave(now);
            lock.unlock();
            if (pauseNs > 0)
                LockSupport.parkNanos(pauseNs);
        }
    }

    private static RedissonClient client(String port, EventLoopGroup loops,
            ExecutorService executor, int connections) {
        Config config = new Config();

        config.setEventLoopGroup(loops).setExecutor(executor);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + port)
                .setConnectionMinimumIdleSize(1)
                .setConnectionPoolSize(connections)
                .setSubscriptionConnectionMinimumIdleSize(1);
        return Redisson.create(config);
    }

    public static void main(String[] words) throws Exception {
        int first = Integer.parseInt(words[2]);
        int count = Integer.parseInt(words[3]);
        long pauseNs = 1000L * Integer.parseInt(words[4]);
        boolean apart = words[5].equals("apart");
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(4,
                NioIoHandler.newFactory());
        ExecutorService executor = Executors.newFixedThreadPool(16);
        RedissonClient client = null;
        ArrayList<Thread> threads = new ArrayList<>();
        ByteBuffer board;

        try (RandomAccessFile file = new RandomAccessFile(words[1], "rw")) {
            board = file.getChannel().map(MapMode.READ_WRITE, 0,
                    LOG_AT + 4L * LOG_MAX);
        }
        for (int i = 0; i < count; i++) {
            if (apart || client == null)
                client = client(words[0], loops, executor, apart ? 2 : 64);
            Contend worker = new Contend(board, client.getLock(LOCK),
                    first + i + 1, pauseNs);
            threads.add(new Thread(worker::work));
        }
        for (Thread thread : threads)
            thread.start();
        for (Thread thread : threads)
            thread.join();
        System.exit(0);
    }
}
