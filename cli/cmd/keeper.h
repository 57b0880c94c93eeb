/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.h - a process that holds a lock for a shell.
 *
 * 1. `lock acquire` forks the keeper, which acquires the lock, opens a socket
 *    and reports over a pair of sockets. It releases the lock again unless
 *    `lock acquire` confirms that the handle was printed; one that was
 *    interrupted leaves nothing behind.
 * 2. It renews the lock until the shell has ended, or `lock release`, or TERM.
 *    It has a session of its own and none of our descriptors, so that it keeps
 *    no pipe open and no signal to the job reaches it.
 * 3. The handle is the fencing token and the name of the socket, which is
 *    abstract: nothing is left behind in the file system. Only the same user
 *    and root are answered.
 *
 *   keeper.c      the process
 *   lock_keep.c   the commands that talk to it
 *   shell_pid.c   which process is the shell
 */
#ifndef HOLDFAST_CLI_CMD_KEEPER_H
#define HOLDFAST_CLI_CMD_KEEPER_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "cmd.h"
#include "holder_text.h"
#include "holdfast/lock.h"

/* "TOKEN:k1:" and 32 digits. */
#define KEEPER_ID_DIGITS 32
#define KEEPER_HANDLE_SIZE 64

struct keeper_plan {
    const struct call *call;
    const char *name;
    hf_lock_options options;
    int64_t wait_ms;
    int64_t permits;  /* of a semaphore; 0: NAME is a lock */
    bool says_holder; /* while it waits */
    pid_t shell;
    int shell_fd; /* a pidfd of it; -1: the kernel has none */
    int signal;   /* to the shell if the lock is lost; 0: none */
};

/* Messages to the keeper, of one byte. */
enum { KEEPER_GO = 'g', KEEPER_RENEW = 'n', KEEPER_RELEASE = 'r' };

/* What it answers. */
struct keeper_reply {
    hf_status status;
    bool held;
    bool waits; /* the final answer is still to come */
    hf_error err;
    uint64_t token;
    int64_t remaining_ms;
    char handle[KEEPER_HANDLE_SIZE];
    char holder[HOLDER_TEXT_SIZE]; /* who holds it instead; or "" */
    char name[256];                /* of the lock, perhaps cut */
};

/* In the child of a fork: `fd` leads to the parent. */
_Noreturn void keeper_run(const struct keeper_plan *plan, int fd);

/* The address of the socket with this id. */
socklen_t keeper_address(const char *id, struct sockaddr_un *address);

/* Is the other end a process of this user, or root? */
bool keeper_is_peer(int fd);

/*
 * The shell that runs us; `pidfd` is -1 if the kernel has none. The subshell of
 * a command substitution, which ends with us, does not count. 0: it is not
 * clear which one.
 */
pid_t shell_find(int *pidfd);

#endif
