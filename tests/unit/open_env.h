/* SPDX-License-Identifier: Apache-2.0 */
/* open_env.h - the environment of an embedded store, without a driver. */
#ifndef OPEN_ENV_H
#define OPEN_ENV_H

#include "engine/open/open_store.h"

/* End it by hf__env_unref(). The test fails if it cannot be opened. */
hf__env *open_env(const char *url);

/* The format that the header of the store says. */
void expect_format(const char *url, uint32_t version);

#endif
