/* SPDX-License-Identifier: Apache-2.0 */
/*
 * users.h - the users of a server, from a file or by ACL SETUSER, and what they
 * may do. A user does not change: one whose rules have changed is another.
 */
#ifndef HF__SERVE_USERS_H
#define HF__SERVE_USERS_H

#include "serve/users/acl_table.h"
#include "util/buf.h"

#define HF__USERS_HASH_SIZE 32

/* Of keys, or of channels. */
typedef struct hf__user_pattern {
    struct hf__user_pattern *next;
    unsigned access; /* HF__ACL_READ, _WRITE */
    hf_bytes text;   /* behind it */
} hf__user_pattern;

/* SHA-256 of a password. */
typedef struct hf__user_hash {
    struct hf__user_hash *next;
    unsigned char bytes[HF__USERS_HASH_SIZE];
} hf__user_hash;

typedef struct hf__user {
    struct hf__user *next;
    char *name;
    bool on;
    bool nopass;
    bool all_keys, all_channels, all_commands;
    bool unlimited; /* all of these */
    uint64_t commands[HF__ACL_COMMANDS_MAX / 64];
    hf__user_hash *hashes;
    hf__user_pattern *keys, *channels;
    hf__buf rules; /* of commands, as text */
} hf__user;

typedef struct hf__users {
    hf__user *first; /* in the order of the file */
} hf__users;

/*
 * The users of a file: lines `user NAME RULE...`, of which a `#` at the start
 * makes a comment. The user "default" is added, switched off, if the file does
 * not have it. HF_INVALID names file and line, never a password.
 */
hf_status hf__users_read(const char *path, hf__users *users, hf_error *err);
/* The same from memory; `what` is the file's name in messages. */
hf_status hf__users_parse(hf_bytes text, const char *what, hf__users *users,
                          hf_error *err);
/* The user "default" alone, who may do everything; `password` NULL: without
 * one. */
hf_status hf__users_single(const char *password, hf__users *users,
                           hf_error *err);
void hf__users_done(hf__users *users);

/* A user with the rules of that name, if there is one, and then `rules`; it is
 * in no list. NULL: `why` says which rule is wrong, never a password. */
hf__user *hf__user_made(const hf__users *users, hf_bytes name,
                        const hf_bytes *rules, size_t count, hf_error *why);
/* Put it in place of the one of its name, which is returned, or NULL. */
hf__user *hf__users_put(hf__users *users, hf__user *user);
/* Take one out; NULL: there is none. */
hf__user *hf__users_take(hf__users *users, hf_bytes name);
void hf__user_free(hf__user *user);

/* Replace the file, whose mode is kept, at once or, if that fails, not at all.
 * HF_SYSTEM. */
hf_status hf__users_write(const hf__users *users, const char *path,
                          hf_error *err);

const hf__user *hf__users_find(const hf__users *users, hf_bytes name);
/* As whom may anyone log in without a password? NULL: as none. */
const hf__user *hf__users_open(const hf__users *users);

/* Users that are the same in both move from `old` to `users`: pointers to them
 * stay valid. */
void hf__users_keep(hf__users *users, hf__users *old);

bool hf__user_takes(const hf__user *user, hf_bytes password);

static inline bool hf__user_may_call(const hf__user *user, int command)
{
    return user->all_commands ||
           (command >= 0 &&
            (user->commands[command / 64] >> (command % 64) & 1) != 0);
}

/* Its line, as ACL LIST has it. */
bool hf__user_describe(const hf__user *user, hf__buf *line);
/* Parts of it: hashes one by one by the list; key and channel patterns. */
bool hf__user_describe_keys(const hf__user *user, hf__buf *text);
bool hf__user_describe_channels(const hf__user *user, hf__buf *text);
void hf__user_hash_text(const hf__user_hash *hash,
                        char text[2 * HF__USERS_HASH_SIZE + 1]);

#endif
