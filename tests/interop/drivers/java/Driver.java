// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson's driver; driver.py has the protocol.
 *
 * Driver PORT lock|fair|fenced|write
 *
 * Its lease without an explicit end is the watchdog's, which is that of a
 * client: there is a client for each lease.
 */
public final class Driver {
    private final String port;
    private final String kind;
    private RedissonClient client;
    private long lease;
    private RLock lock;

    private Driver(String port, String kind) {
        this.port = port;
        this.kind = kind;
    }

    private void open(long milliseconds) {
        Config config = new Config();

        if (milliseconds == lease)
            return;
        if (client != null)
            client.shutdown();
        lease = milliseconds;
        config.setLockWatchdogTimeout(milliseconds);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + port)
                .setConnectionMinimumIdleSize(1);
        client = Redisson.create(config);
    }

    private RLock find(String name) {
        switch (kind) {
        case "fair":
            return client.getFairLock(name);
        case "fenced":
            return client.getFencedLock(name);
        case "write":
            return client.getReadWriteLock(name).writeLock();
        default:
            return client.getLock(name);
        }
    }

    private String acquire(String name, long wait, long milliseconds)
            throws InterruptedException {
        open(milliseconds);
        lock = find(name);
        boolean held = wait > 0 ? lock.tryLock(wait, TimeUnit.MILLISECONDS)
                                : lock.tryLock();
        return held ? "held" : "refused";
    }

    private String keep(long milliseconds) throws InterruptedException {
        for (long left = milliseconds; left > 0; left -= 20) {
            Thread.sleep(20);
            if (!lock.isHeldByCurrentThread())
                return "lost";
        }
        return "kept";
    }

    private String release() {
        try {
            lock.unlock();
            return "released";
        } catch (IllegalMonitorStateException e) {
            return "lost";
        }
    }

    private String pairs(String name, long milliseconds)
            throws InterruptedException {
        long began = System.nanoTime(), pairs = 0;

        while (System.nanoTime() - began < milliseconds * 1_000_000) {
            acquire(name, 1000, 30000);
            release();
            pairs++;
        }
        return String.valueOf((System.nanoTime() - began) / pairs);
    }

    private String obey(String... words) throws InterruptedException {
        switch (words[0]) {
        case "acquire":
            return acquire(words[1], Long.parseLong(words[2]),
                    Long.parseLong(words[3]));
        case "keep":
            return keep(Long.parseLong(words[1]));
        case "release":
            return release();
        case "break":
            return find(words[1]).forceUnlock() ? "broken" : "free";
        case "pairs":
            return pairs(words[1], Long.parseLong(words[2]));
        default:
            return "error no such command";
        }
    }

    public static void main(String[] words) throws Exception {
        Driver driver = new Driver(words[0], words[1]);
        BufferedReader input = new BufferedReader(
                new InputStreamReader(System.in));
        String version = Redisson.class.getPackage().getImplementationVersion();
        String line;

        driver.open(30000);
        System.out.println("ready " + version);
        while ((line = input.readLine()) != null) {
            String reply;

            try {
                reply = driver.obey(line.split(" "));
            } catch (Exception e) {
                reply = "error " + e.getMessage().replace('\n', ' ');
            }
            System.out.println(reply);
        }
        System.exit(0);
    }
}
