/* SPDX-License-Identifier: Apache-2.0 */
/* client_options.h - the options of hf_client_open(), with those of the
 * environment.
 */
#ifndef HF__CLIENT_OPTIONS_H
#define HF__CLIENT_OPTIONS_H

#include "holdfast/client.h"
#include "util/secret.h"
#include "util/url.h"

/* Read and check the caller's options; strings stay the caller's. */
hf_status hf__client_options_load(hf_client_options *options,
                                  const hf_client_options *from, hf_error *err);

/* Take request_ms and connect_ms of the URL: they are those of the options that
 * are 0. */
hf_status hf__client_times_of_url(hf_client_options *options, hf__url *url,
                                  hf_error *err);

/* The password: of the options first, then of the URL, then of the environment;
 * of each the password itself before a file. NULL: none. `text` is its room. */
hf_status hf__client_password(const hf_client_options *options,
                              const hf__url *url, char text[HF__SECRET_SIZE],
                              const char **password, hf_error *err);

#endif
