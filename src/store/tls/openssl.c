/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openssl.c - see openssl.h. It is compiled twice: for the static libraries
 * with HF__OPENSSL_LINKED.
 *
 * OpenSSL stays loaded: a thread may be in it when a program ends.
 */
#define HF__OPENSSL_NAMES /* the functions themselves */
#include "store/tls/openssl.h"

#ifdef HF__OPENSSL_LINKED

struct hf__openssl hf__openssl = {
#define HF__OPENSSL_LINK(name) name,
    HF__OPENSSL_MAP(HF__OPENSSL_LINK)};

hf_status hf__openssl_load(hf_error *err)
{
    (void)err;
    return HF_OK;
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "util/error.h"

/* Where in the table a function is. */
struct entry {
    const char *name;
    size_t offset;
};

struct hf__openssl hf__openssl;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool loaded; /* under `mutex` */

#define TEXT_OF(text) #text
#define NAME_OF(version) "libssl.so." TEXT_OF(version)

/* libcrypto comes with it, and is searched, too. */
static hf_status load_locked(hf_error *err)
{
    static const struct entry entries[] = {
#define HF__OPENSSL_FIND(name) {#name, offsetof(struct hf__openssl, name##_fn)},
        HF__OPENSSL_MAP(HF__OPENSSL_FIND)};
    const char *file = NAME_OF(OPENSSL_SHLIB_VERSION);
    struct hf__openssl found;
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        return hf__fail(err, HF_SYSTEM, "cannot load OpenSSL for TLS: %s",
                        dlerror());
    for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
        void *function = dlsym(library, entries[i].name);

        if (function == NULL)
            return hf__fail(err, HF_SYSTEM, "%s has no %s", file,
                            entries[i].name);
        memcpy((char *)&found + entries[i].offset, &function, sizeof(function));
    }
    hf__openssl = found;
    loaded = true;
    return HF_OK;
}

hf_status hf__openssl_load(hf_error *err)
{
    hf_status status = HF_OK;

    pthread_mutex_lock(&mutex);
    if (!loaded)
        status = load_locked(err);
    pthread_mutex_unlock(&mutex);
    return status;
}

#endif
