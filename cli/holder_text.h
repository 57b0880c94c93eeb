/* SPDX-License-Identifier: Apache-2.0 */
/* holder_text.h - a lock's holder as text and as JSON. */
#ifndef HOLDFAST_CLI_HOLDER_TEXT_H
#define HOLDFAST_CLI_HOLDER_TEXT_H

#include "holdfast/lock.h"
#include "json_line.h"

#define HOLDER_TEXT_SIZE 1024

/* Words for hf_lock_mode. */
extern const char *const holder_modes[];

/* The owner id, as far as known. One of another library may hold any bytes. */
hf_bytes holder_owner(const hf_lock_info *info);

/* "backup (pid 4711, root@db1)". */
void holder_name(const hf_holder *holder, char text[HOLDER_TEXT_SIZE]);

/* The owner id, as far as known, and the library that it looks like; printable
 * characters only. */
void holder_foreign(const hf_lock_info *info, char text[HOLDER_TEXT_SIZE]);

/* "held by ... for 12 s, 18 s left"; `holder` may be NULL. */
void holder_describe(const hf_lock_info *info, const hf_holder *holder,
                     char text[HOLDER_TEXT_SIZE]);

int64_t holder_held_ms(const hf_lock_info *info, const hf_holder *holder);

/* Who holds a lock; false: unknown. */
bool holder_look(hf_client *client, const hf_lock_info *info,
                 hf_holder *holder);

/* The same for whatever holds a lock now; "" if that is not known. */
void holder_find(hf_client *client, hf_bytes name, char text[HOLDER_TEXT_SIZE]);

/*
 * A wait is reported early, but not one that ends at once, and once more, for
 * who came back to the terminal. Until that is due for the `said`-th time, ms;
 * -1: not again.
 */
int holder_ms_to_say(int64_t began_ms, size_t said);

/* Members of an object: the token, or null; what is known of a holder. */
void holder_token_json(struct json *json, const hf_lock_info *info);
void holder_json(struct json *json, const hf_lock_info *info,
                 const hf_holder *holder);
/* The same of a lock; `holder` may be NULL. */
void holder_lock_json(struct json *json, hf_bytes name, bool held,
                      const hf_lock_info *info, const hf_holder *holder);

/* An acquire that was started ended with HF_WRONG_TYPE: if the key of one of
 * the locks explains that, say in `err` what it holds. */
void holder_name_type(hf_lock *const *locks, size_t count, hf_error *err);

#endif
