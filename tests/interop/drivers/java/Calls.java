// SPDX-License-Identifier: Apache-2.0

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Predicate;

/** What the programs of the Java libraries share; see clients.py. */
final class Calls {
    static final String ZEROS = "0".repeat(40);
    static final String TYPES =
            "return {1, 'two', {3, false}, redis.status_reply('fine')}";
    static final String ADD = "return redis.call('INCRBY', KEYS[1], ARGV[1])";
    static final String FAIL = "return redis.error_reply('MINE it failed')";
    static final String WRONG = "return redis.call('LPUSH', KEYS[1], 1)";
    static final byte[] ALL_BYTES = new byte[256];

    static {
        for (int i = 0; i < 256; i++)
            ALL_BYTES[i] = (byte) i;
    }

    private Calls() {
    }

    static byte[] large() {
        byte[] bytes = new byte[256 * 8192];

        for (int i = 0; i < bytes.length; i++)
            bytes[i] = (byte) i;
        return bytes;
    }

    static Map<String, String> names() {
        Map<String, String> names = new TreeMap<>();

        for (int i = 0; i < 300; i++)
            names.put("scan:" + i, Integer.toString(i));
        return names;
    }

    private static List<String> all(Collection<?> items) {
        List<String> list = new ArrayList<>();

        items.forEach(item -> list.add(plain(item)));
        return list;
    }

    static String plain(Object value) {
        if (value instanceof byte[] bytes)
            return plain(new String(bytes, StandardCharsets.ISO_8859_1));
        if (value instanceof Object[] items)
            return all(Arrays.asList(items)).toString();
        if (value instanceof Set<?> items)
            return all(items).stream().sorted().toList().toString();
        if (value instanceof Collection<?> items)
            return all(items).toString();
        if (value instanceof Map<?, ?> map)
            return all(map.entrySet()).stream().sorted().toList().toString();
        if (value instanceof Map.Entry<?, ?> entry)
            return plain(entry.getKey()) + ": " + plain(entry.getValue());
        return String.valueOf(value).replace("\r", "\\r").replace("\n", "\\n")
                .replace("\0", "\\0");
    }

    static void show(String step, Callable<?>... calls) {
        List<String> results = new ArrayList<>();

        for (Callable<?> call : calls) {
            try {
                results.add(plain(call.call()));
            } catch (Exception e) {
                String[] message = e.getMessage().split(" channel: ");
                results.add(plain(e.getClass().getSimpleName() + " "
                        + message[0])); // Redisson adds addresses
            }
        }
        System.out.println(step + " " + results);
    }

    /** A call that returns nothing. */
    static Callable<?> call(Action action) {
        return () -> {
            action.run();
            return "done";
        };
    }

    interface Action {
        void run() throws Exception;
    }

    static void later(Runnable call) {
        new Thread(() -> {
            try {
                Thread.sleep(100);
            } catch (InterruptedException e) {
                return;
            }
            call.run();
        }).start();
    }

    static String gone(Predicate<String> exists, String key)
            throws InterruptedException {
        long until = System.currentTimeMillis() + 30000;

        while (exists.test(key)) {
            if (System.currentTimeMillis() > until)
                return "there";
            Thread.sleep(10);
        }
        return "gone";
    }

    static void parallel(Runnable increments) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();

        for (int i = 0; i < 20; i++)
            threads.add(new Thread(increments));
        threads.forEach(Thread::start);
        for (Thread thread : threads)
            thread.join();
    }
}
