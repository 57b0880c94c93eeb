/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.c - SHA-256 by libcrypto's low-level functions: unlike those of EVP
 * they allocate nothing, take no lock and cannot fail (docs/adr/0043).
 */
#define OPENSSL_API_COMPAT 0x10100000L /* not deprecated there */

#include "serve/users/sha256.h"

#include <openssl/sha.h>

void hf__sha256(const void *data, size_t size,
                unsigned char digest[HF__SHA256_SIZE])
{
    SHA256_CTX context;

    SHA256_Init(&context);
    SHA256_Update(&context, data, size);
    SHA256_Final(digest, &context);
}
