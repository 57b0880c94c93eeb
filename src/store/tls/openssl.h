/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openssl.h - the functions of OpenSSL, loaded on first use.
 *
 * Its libraries take longer to load than many a program runs, and only
 * connections with TLS need them. So the shared libraries are not linked with
 * them: each name below is an entry of a table, which is empty until
 * hf__openssl_load(). In the static ones the linker fills it (openssl.c).
 */
#ifndef HF__STORE_OPENSSL_H
#define HF__STORE_OPENSSL_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "holdfast/base.h"

/* All that is called, also by OpenSSL's own macros. */
/* clang-format off */
#define HF__OPENSSL_MAP(X)                                                     \
    X(ASN1_TIME_diff)                                                          \
    X(BIO_clear_flags)                                                         \
    X(BIO_get_data)                                                            \
    X(BIO_get_new_index)                                                       \
    X(BIO_meth_new)                                                            \
    X(BIO_meth_set_ctrl)                                                       \
    X(BIO_meth_set_read)                                                       \
    X(BIO_meth_set_write)                                                      \
    X(BIO_new)                                                                 \
    X(BIO_set_data)                                                            \
    X(BIO_set_flags)                                                           \
    X(BIO_set_init)                                                            \
    X(BIO_test_flags)                                                          \
    X(ERR_clear_error)                                                         \
    X(ERR_peek_error)                                                          \
    X(ERR_peek_last_error)                                                     \
    X(ERR_reason_error_string)                                                 \
    X(OPENSSL_init_ssl)                                                        \
    X(SSL_CIPHER_get_name)                                                     \
    X(SSL_CTX_check_private_key)                                               \
    X(SSL_CTX_ctrl)                                                            \
    X(SSL_CTX_free)                                                            \
    X(SSL_CTX_load_verify_dir)                                                 \
    X(SSL_CTX_load_verify_file)                                                \
    X(SSL_CTX_new)                                                             \
    X(SSL_CTX_set_default_passwd_cb)                                           \
    X(SSL_CTX_set_default_passwd_cb_userdata)                                  \
    X(SSL_CTX_set_default_verify_paths)                                        \
    X(SSL_CTX_set_num_tickets)                                                 \
    X(SSL_CTX_set_options)                                                     \
    X(SSL_CTX_set_verify)                                                      \
    X(SSL_CTX_use_PrivateKey_file)                                             \
    X(SSL_CTX_use_certificate_chain_file)                                      \
    X(SSL_ctrl)                                                                \
    X(SSL_do_handshake)                                                        \
    X(SSL_free)                                                                \
    X(SSL_get0_param)                                                          \
    X(SSL_get0_peer_certificate)                                               \
    X(SSL_get_current_cipher)                                                  \
    X(SSL_get_error)                                                           \
    X(SSL_get_verify_mode)                                                     \
    X(SSL_get_verify_result)                                                   \
    X(SSL_get_version)                                                         \
    X(SSL_has_pending)                                                         \
    X(SSL_is_init_finished)                                                    \
    X(SSL_new)                                                                 \
    X(SSL_peek)                                                                \
    X(SSL_read_ex)                                                             \
    X(SSL_set1_host)                                                           \
    X(SSL_set_accept_state)                                                    \
    X(SSL_set_bio)                                                             \
    X(SSL_set_connect_state)                                                   \
    X(SSL_set_hostflags)                                                       \
    X(SSL_shutdown)                                                            \
    X(SSL_write_ex)                                                            \
    X(TLS_client_method)                                                       \
    X(TLS_server_method)                                                       \
    X(X509_VERIFY_PARAM_set1_ip_asc)                                           \
    X(X509_get0_notAfter)                                                      \
    X(X509_verify_cert_error_string)
/* clang-format on */

struct hf__openssl {
#define HF__OPENSSL_ENTRY(name) __typeof__(name) *(name##_fn);
    HF__OPENSSL_MAP(HF__OPENSSL_ENTRY)
#undef HF__OPENSSL_ENTRY
};

extern struct hf__openssl hf__openssl;

/* Before all else, by any thread. HF_SYSTEM: it cannot be loaded. */
hf_status hf__openssl_load(hf_error *err);

#ifndef HF__OPENSSL_NAMES
#define ASN1_TIME_diff hf__openssl.ASN1_TIME_diff_fn
#define BIO_clear_flags hf__openssl.BIO_clear_flags_fn
#define BIO_get_data hf__openssl.BIO_get_data_fn
#define BIO_get_new_index hf__openssl.BIO_get_new_index_fn
#define BIO_meth_new hf__openssl.BIO_meth_new_fn
#define BIO_meth_set_ctrl hf__openssl.BIO_meth_set_ctrl_fn
#define BIO_meth_set_read hf__openssl.BIO_meth_set_read_fn
#define BIO_meth_set_write hf__openssl.BIO_meth_set_write_fn
#define BIO_new hf__openssl.BIO_new_fn
#define BIO_set_data hf__openssl.BIO_set_data_fn
#define BIO_set_flags hf__openssl.BIO_set_flags_fn
#define BIO_set_init hf__openssl.BIO_set_init_fn
#define BIO_test_flags hf__openssl.BIO_test_flags_fn
#define ERR_clear_error hf__openssl.ERR_clear_error_fn
#define ERR_peek_error hf__openssl.ERR_peek_error_fn
#define ERR_peek_last_error hf__openssl.ERR_peek_last_error_fn
#define ERR_reason_error_string hf__openssl.ERR_reason_error_string_fn
#define OPENSSL_init_ssl hf__openssl.OPENSSL_init_ssl_fn
#define SSL_CIPHER_get_name hf__openssl.SSL_CIPHER_get_name_fn
#define SSL_CTX_check_private_key hf__openssl.SSL_CTX_check_private_key_fn
#define SSL_CTX_ctrl hf__openssl.SSL_CTX_ctrl_fn
#define SSL_CTX_free hf__openssl.SSL_CTX_free_fn
#define SSL_CTX_load_verify_dir hf__openssl.SSL_CTX_load_verify_dir_fn
#define SSL_CTX_load_verify_file hf__openssl.SSL_CTX_load_verify_file_fn
#define SSL_CTX_new hf__openssl.SSL_CTX_new_fn
#define SSL_CTX_set_default_passwd_cb                                          \
    hf__openssl.SSL_CTX_set_default_passwd_cb_fn
#define SSL_CTX_set_default_passwd_cb_userdata                                 \
    hf__openssl.SSL_CTX_set_default_passwd_cb_userdata_fn
#define SSL_CTX_set_default_verify_paths                                       \
    hf__openssl.SSL_CTX_set_default_verify_paths_fn
#define SSL_CTX_set_num_tickets hf__openssl.SSL_CTX_set_num_tickets_fn
#define SSL_CTX_set_options hf__openssl.SSL_CTX_set_options_fn
#define SSL_CTX_set_verify hf__openssl.SSL_CTX_set_verify_fn
#define SSL_CTX_use_PrivateKey_file hf__openssl.SSL_CTX_use_PrivateKey_file_fn
#define SSL_CTX_use_certificate_chain_file                                     \
    hf__openssl.SSL_CTX_use_certificate_chain_file_fn
#define SSL_ctrl hf__openssl.SSL_ctrl_fn
#define SSL_do_handshake hf__openssl.SSL_do_handshake_fn
#define SSL_free hf__openssl.SSL_free_fn
#define SSL_get0_param hf__openssl.SSL_get0_param_fn
#define SSL_get0_peer_certificate hf__openssl.SSL_get0_peer_certificate_fn
#define SSL_get_current_cipher hf__openssl.SSL_get_current_cipher_fn
#define SSL_get_error hf__openssl.SSL_get_error_fn
#define SSL_get_verify_mode hf__openssl.SSL_get_verify_mode_fn
#define SSL_get_verify_result hf__openssl.SSL_get_verify_result_fn
#define SSL_get_version hf__openssl.SSL_get_version_fn
#define SSL_has_pending hf__openssl.SSL_has_pending_fn
#define SSL_is_init_finished hf__openssl.SSL_is_init_finished_fn
#define SSL_new hf__openssl.SSL_new_fn
#define SSL_peek hf__openssl.SSL_peek_fn
#define SSL_read_ex hf__openssl.SSL_read_ex_fn
#define SSL_set1_host hf__openssl.SSL_set1_host_fn
#define SSL_set_accept_state hf__openssl.SSL_set_accept_state_fn
#define SSL_set_bio hf__openssl.SSL_set_bio_fn
#define SSL_set_connect_state hf__openssl.SSL_set_connect_state_fn
#define SSL_set_hostflags hf__openssl.SSL_set_hostflags_fn
#define SSL_shutdown hf__openssl.SSL_shutdown_fn
#define SSL_write_ex hf__openssl.SSL_write_ex_fn
#define TLS_client_method hf__openssl.TLS_client_method_fn
#define TLS_server_method hf__openssl.TLS_server_method_fn
#define X509_VERIFY_PARAM_set1_ip_asc                                          \
    hf__openssl.X509_VERIFY_PARAM_set1_ip_asc_fn
#define X509_get0_notAfter hf__openssl.X509_get0_notAfter_fn
#define X509_verify_cert_error_string                                          \
    hf__openssl.X509_verify_cert_error_string_fn
#endif

#endif
