/* SPDX-License-Identifier: Apache-2.0 */
/* event_fd.h - a descriptor that polls readable while it is raised. */
#ifndef HF__UTIL_EVENT_FD_H
#define HF__UTIL_EVENT_FD_H

/* -1: errno says why. */
int hf__event_fd_new(void);
void hf__event_fd_raise(int fd);
void hf__event_fd_lower(int fd);
void hf__event_fd_free(int fd); /* -1 is allowed */

#endif
