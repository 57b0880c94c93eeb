/* SPDX-License-Identifier: Apache-2.0 */
/* lua.h - random scripts: one statement a line, so that they shrink by lines.
 */
#ifndef TESTS_DIFFERENTIAL_LUA_H
#define TESTS_DIFFERENTIAL_LUA_H

#include "op.h"
#include "words.h"

op lua_script(maker *make);

#endif
