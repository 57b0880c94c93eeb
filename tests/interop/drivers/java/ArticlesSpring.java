// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.TimeUnit;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * ArticlesSpring PORT: the fifth article's test of setIfAbsent, run twice.
 */
public final class ArticlesSpring {
    private static StringRedisTemplate template;

    private static void test() {
        String key = "yang37";
        Boolean flag = template.opsForValue().setIfAbsent(key, "123", 600,
                TimeUnit.SECONDS);
        String value = template.opsForValue().get(key);
        Long expire = template.getExpire(key, TimeUnit.SECONDS);

        System.out.println("flag: " + flag + ", value: " + value
                + ", expire: " + (expire > 590 && expire <= 600));
    }

    public static void main(String[] words) {
        LettuceConnectionFactory factory = new LettuceConnectionFactory(
                "127.0.0.1", Integer.parseInt(words[0]));

        factory.afterPropertiesSet();
        factory.start();
        template = new StringRedisTemplate(factory);
        template.delete("yang37");
        test();
        test();
        System.out.println("deleted: " + template.delete("yang37"));
        factory.destroy();
    }
}
