/* SPDX-License-Identifier: Apache-2.0 */
/* waiter.c - see waiter.h. */
#include "http/waiter.h"

void http_waiter_add(struct http_waiter **list, struct http_waiter *waiter)
{
    MHD_suspend_connection(waiter->connection);
    while (*list != NULL)
        list = &(*list)->next;
    waiter->next = NULL;
    *list = waiter;
}

void http_waiters_resume(struct http_waiter **list, struct http_view *view)
{
    while (*list != NULL) {
        struct http_waiter *waiter = *list;

        *list = waiter->next;
        waiter->view = view == NULL ? NULL : http_view_use(view);
        MHD_resume_connection(waiter->connection);
    }
}
