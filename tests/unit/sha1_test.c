/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha1_test.c - SHA-1 against RFC 3174.
 */
#include <string.h>

#include "support/test.h"
#include "util/mem.h"
#include "util/sha1.h"

/* RFC 3174, section 7.3: a text repeated so many times. */
TEST(sha1_agrees_with_the_rfc)
{
    static const struct {
        const char *text;
        size_t times;
        const char *digest;
    } rows[] = {
        {"abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
         "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
        {"a", 1000000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"},
        {"0123456701234567012345670123456701234567012345670123456701234567", 10,
         "dea356a2cddd90c7a7ecedc5ebb563934f460452"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t size = strlen(rows[i].text);
        char *message = hf__alloc(size * rows[i].times);
        char digest[HF__SHA1_HEX_SIZE];

        assert_non_null(message);
        for (size_t k = 0; k < rows[i].times; k++)
            memcpy(message + k * size, rows[i].text, size);
        hf__sha1_hex(message, size * rows[i].times, digest);
        assert_string_equal(digest, rows[i].digest);
        hf__sha1_by(true, message, size * rows[i].times, digest);
        assert_string_equal(digest, rows[i].digest);
        hf__free(message);
    }
}

/* Each size of the last block, and several blocks. */
TEST(sha1_is_the_same_with_and_without_instructions_for_it)
{
    unsigned char message[600];

    for (size_t i = 0; i < sizeof(message); i++)
        message[i] = (unsigned char)(i * 131 + i / 7);
    for (size_t size = 0; size <= sizeof(message); size++) {
        char digest[HF__SHA1_HEX_SIZE], plain[HF__SHA1_HEX_SIZE];

        hf__sha1_by(false, message, size, digest);
        hf__sha1_by(true, message, size, plain);
        assert_string_equal(digest, plain);
    }
}

TEST(sha1_of_nothing_is_known)
{
    char digest[HF__SHA1_HEX_SIZE];

    hf__sha1_hex(NULL, 0, digest);
    assert_string_equal(digest, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}
