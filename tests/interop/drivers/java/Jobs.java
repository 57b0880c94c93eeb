// SPDX-License-Identifier: Apache-2.0

import java.util.HashSet;
import java.util.Scanner;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RBlockingDeque;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * Redisson's queues, as bench/peers/queues.py describes it: "take" is
 * RBlockingQueue.take(), "move" moves each job to a second list, from which it
 * is removed when it is done. RReliableQueue is not in the open edition.
 *
 * Jobs PORT take|move put | work QUEUE SLOTS EVERY HOLD_MS LEASE_MS
 */
public final class Jobs {
    private static final Set<String> SEEN = new HashSet<>();
    private static RedissonClient client;
    private static boolean moves;
    private static long number;

    private static RBlockingDeque<String> open(String queue) {
        return client.getBlockingDeque(queue, StringCodec.INSTANCE);
    }

    private static synchronized void count(String job, int every) {
        long now = System.nanoTime(); // CLOCK_MONOTONIC
        String[] words = job.trim().split(" ");

        SEEN.add(words[1]);
        if (++number % every == 0)
            System.out.println(number + " " + SEEN.size() + " "
                    + (now - Long.parseLong(words[0])));
    }

    private static void work(String queue, int every, int hold) {
        RBlockingDeque<String> jobs = open(queue), taken = open(queue + ":taken");

        try {
            for (;;) {
                String job = moves ? jobs.pollLastAndOfferFirstTo(
                        taken.getName(), 30, TimeUnit.SECONDS) : jobs.takeLast();
                if (job == null)
                    continue;
                count(job, every);
                if (hold > 0)
                    Thread.sleep(hold);
                if (moves)
                    taken.remove(job);
            }
        } catch (InterruptedException e) {
            System.out.println("error " + e);
        }
    }

    private static long left(String queue) {
        return open(queue).size() + open(queue + ":taken").size();
    }

    private static long put(String queue, int count) {
        long began = System.nanoTime();

        for (int i = 0; i < count; i++)
            open(queue).addFirst(String.format("%-100s",
                    System.nanoTime() + " " + number++));
        return (System.nanoTime() - began) / count;
    }

    public static void main(String[] words) {
        Config config = new Config();

        config.useSingleServer().setAddress("redis://127.0.0.1:" + words[0]);
        client = Redisson.create(config);
        moves = words[1].equals("move");
        System.out.println("ready " + Redisson.class.getPackage()
                .getImplementationVersion());
        for (int i = words.length > 4 ? Integer.parseInt(words[4]) : 0; i > 0;
                i--)
            new Thread(() -> work(words[3], Integer.parseInt(words[5]),
                    Integer.parseInt(words[6]))).start();
        for (Scanner in = new Scanner(System.in); in.hasNext();)
            System.out.println(in.next().equals("put")
                    ? put(in.next(), in.nextInt())
                    : left(in.next()));
        System.exit(0);
    }
}
