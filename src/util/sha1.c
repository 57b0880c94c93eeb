/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha1.c - SHA-1 by libcrypto's low-level functions: unlike EVP's they allocate
 * nothing, take no lock and cannot fail (docs/adr/0043).
 */
#define OPENSSL_API_COMPAT 0x10100000L /* not deprecated there */

#include "util/sha1.h"

#include <openssl/sha.h>

void hf__sha1_hex(const void *data, size_t size, char text[HF__SHA1_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char digest[SHA_DIGEST_LENGTH];
    SHA_CTX context;

    SHA1_Init(&context);
    SHA1_Update(&context, data, size);
    SHA1_Final(digest, &context);
    for (size_t i = 0; i < SHA_DIGEST_LENGTH; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    text[HF__SHA1_HEX_SIZE - 1] = '\0';
}
