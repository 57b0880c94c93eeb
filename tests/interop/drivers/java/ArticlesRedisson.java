// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * ArticlesRedisson PORT: the fifth article's lock, which its watchdog renews
 * to 30 s each 10 s; another client waits for it.
 */
public final class ArticlesRedisson {
    private static String port;

    private static RedissonClient open() {
        Config config = new Config();

        config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
        return Redisson.create(config);
    }

    private static void waitForIt() {
        RedissonClient client = open();
        RLock lock = client.getLock("key");

        try {
            System.out.println("other, at once: " + lock.tryLock());
            System.out.println("other, waiting: "
                    + lock.tryLock(60, TimeUnit.SECONDS));
            lock.unlock();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        client.shutdown();
    }

    private static void exec(RLock lock) throws InterruptedException {
        long least = Long.MAX_VALUE;

        for (int i = 0; i < 12; i++) {
            least = Math.min(least, lock.remainTimeToLive());
            Thread.sleep(1000);
        }
        System.out.println("renewed: "
                + (lock.remainTimeToLive() > least + 2000));
    }

    public static void main(String[] words) throws InterruptedException {
        port = words[0];
        RedissonClient client = open();
        RLock lock = client.getLock("key");
        Thread other = new Thread(ArticlesRedisson::waitForIt);

        client.getKeys().delete("key");
        System.out.println("held: " + lock.tryLock(10, TimeUnit.SECONDS));
        other.start();
        exec(lock);
        lock.unlock();
        other.join();
        System.out.println("free: " + !lock.isLocked());
        client.shutdown();
    }
}
