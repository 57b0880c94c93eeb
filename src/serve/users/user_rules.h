/* SPDX-License-Identifier: Apache-2.0 */
/* user_rules.h - the rules of a user, as in ACL SETUSER without selectors. */
#ifndef HF__SERVE_USER_RULES_H
#define HF__SERVE_USER_RULES_H

#include <string.h>

#include "serve/users/users.h"

#define HF__USER_NO_MEMORY "out of memory"

/* NULL: applied; otherwise what is wrong with the rule, which is not empty. */
const char *hf__user_apply(hf__user *user, hf_bytes rule);

/* Only this password is accepted, and it is needed; false: no memory. */
bool hf__user_set_password(hf__user *user, hf_bytes password);

/* Free passwords and patterns. */
void hf__user_clear(hf__user *user);

static inline bool hf__user_word_is(hf_bytes word, const char *text)
{
    return word.size == strlen(text) && memcmp(word.data, text, word.size) == 0;
}

#endif
