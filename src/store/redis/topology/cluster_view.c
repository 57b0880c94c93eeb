/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_view.c - reading replies about a cluster. Untrusted input: every
 * number is checked before use as an index.
 *
 * CLUSTER SLOTS is [first, last, master, replica...] for each run of slots, and
 * a node is [endpoint, port, id, [name, value...]]. An endpoint that is empty
 * or nil means the host that was asked, "?" that the node does not know its
 * name; then the last element may have an address.
 */
#include "store/redis/topology/cluster_view.h"

#include <string.h>

#include "util/error.h"
#include "util/mem.h"

#define PORT_MAX 65535

static const hf_reply *list_item(const hf_reply *list, size_t at)
{
    if (list == NULL || list->kind != HF_REPLY_ARRAY || at >= list->array.count)
        return NULL;
    return &list->array.items[at];
}

/* A string of these bytes? `reply` may be NULL. */
static bool is_text(const hf_reply *reply, const char *text)
{
    return reply != NULL && hf__reply_is(reply, text);
}

static bool read_number(const hf_reply *reply, int64_t low, int64_t high,
                        int64_t *number)
{
    if (reply == NULL || reply->kind != HF_REPLY_INTEGER ||
        reply->integer < low || reply->integer > high)
        return false;
    *number = reply->integer;
    return true;
}

/* "ip" of a node's last element. */
static const hf_reply *find_ip(const hf_reply *node)
{
    const hf_reply *more = list_item(node, 3);

    return more == NULL ? NULL : hf__reply_field(more, "ip");
}

/* false: not a host. An unknown one is "". */
static bool read_host(const hf_reply *node, const char *asked,
                      char host[HF__HOST_SIZE])
{
    const hf_reply *endpoint = list_item(node, 0);

    host[0] = '\0';
    if (is_text(endpoint, "?")) {
        endpoint = find_ip(node);
        if (endpoint == NULL || is_text(endpoint, "") || is_text(endpoint, "?"))
            return true;
    }
    if (endpoint == NULL)
        return false;
    if (endpoint->kind == HF_REPLY_NIL || is_text(endpoint, "")) {
        memcpy(host, asked, strlen(asked) + 1);
        return true;
    }
    return endpoint->kind == HF_REPLY_STRING &&
           hf__redis_host_read(
               hf_view(endpoint->bytes.data, endpoint->bytes.size), host);
}

static bool read_range(const hf_reply *reply, const char *asked,
                       hf__cluster_range *range)
{
    const hf_reply *master = list_item(reply, 2);
    int64_t first;
    int64_t last;
    int64_t port;

    if (!read_number(list_item(reply, 0), 0, HF__SLOT_COUNT - 1, &first) ||
        !read_number(list_item(reply, 1), first, HF__SLOT_COUNT - 1, &last) ||
        !read_number(list_item(master, 1), 0, PORT_MAX, &port) ||
        !read_host(master, asked, range->host))
        return false;
    range->first = (uint32_t)first;
    range->last = (uint32_t)last;
    range->port = (int)port;
    return true;
}

hf_status hf__cluster_view_read(hf__cluster_view *view, const hf_reply *reply,
                                const char *asked, hf_error *err)
{
    size_t count = reply->kind == HF_REPLY_ARRAY ? reply->array.count : 0;

    memset(view, 0, sizeof(*view));
    if (reply->kind != HF_REPLY_ARRAY || count > HF__SLOT_COUNT)
        return hf__fail(err, HF_CORRUPT, "%s sent a malformed list of slots",
                        asked);
    view->ranges = hf__alloc(count * sizeof(*view->ranges));
    if (view->ranges == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++) {
        hf__cluster_range *range = &view->ranges[view->count];

        if (!read_range(list_item(reply, i), asked, range)) {
            hf__cluster_view_done(view);
            return hf__fail(err, HF_CORRUPT,
                            "%s sent a malformed list of slots", asked);
        }
        if (range->host[0] != '\0' && range->port != 0)
            view->count++;
    }
    if (view->count > 0)
        return HF_OK;
    hf__cluster_view_done(view);
    return hf__fail(err, HF_UNAVAILABLE, "%s knows no owner of any slot",
                    asked);
}

void hf__cluster_view_done(hf__cluster_view *view)
{
    hf__free(view->ranges);
    memset(view, 0, sizeof(*view));
}

/* ----------------------------------------------------------- CLUSTER NODES */

/* Cut off what precedes the first `stop`, or all. */
static hf_bytes cut_field(hf_bytes *rest, char stop)
{
    const char *data = rest->data;
    const char *at = rest->size == 0 ? NULL : memchr(data, stop, rest->size);
    size_t size = at == NULL ? rest->size : (size_t)(at - data);

    *rest = at == NULL ? hf_view(data + size, 0)
                       : hf_view(at + 1, rest->size - size - 1);
    return hf_view(data, size);
}

static bool has_flag(hf_bytes flags, const char *flag)
{
    while (flags.size > 0) {
        hf_bytes one = cut_field(&flags, ',');

        if (one.size == strlen(flag) && memcmp(one.data, flag, one.size) == 0)
            return true;
    }
    return false;
}

/* FNV-1a with 64 bits. */
static uint64_t add_to_stamp(uint64_t stamp, hf_bytes bytes)
{
    const unsigned char *data = bytes.data;

    for (size_t i = 0; i < bytes.size; i++)
        stamp = (stamp ^ data[i]) * 1099511628211u;
    return (stamp ^ ' ') * 1099511628211u;
}

/* false: more digits than a slot has, or none. */
static bool read_slot(hf_bytes digits, uint32_t *slot)
{
    const char *text = digits.data;

    *slot = 0;
    for (size_t i = 0; i < digits.size; i++) {
        if (text[i] < '0' || text[i] > '9' || i == 5)
            return false;
        *slot = *slot * 10 + (uint32_t)(text[i] - '0');
    }
    return digits.size > 0 && *slot < HF__SLOT_COUNT;
}

/* "7", "0-5460", or "[93-<-..." and "[77->-..." of one being moved. */
static bool take_slots(hf__cluster_self *self, hf_bytes run)
{
    uint32_t first;
    uint32_t last;
    bool ends = memchr(run.data, '-', run.size) != NULL;
    hf_bytes begin;

    if (*(const char *)run.data == '[') {
        self->is_moving = true;
        return true;
    }
    begin = cut_field(&run, '-');
    if (!read_slot(begin, &first))
        return false;
    last = first;
    if (ends && (!read_slot(run, &last) || last < first))
        return false;
    self->slot_count += last - first + 1;
    return true;
}

/* id address flags master ping pong epoch conn-state slot... */
static bool read_line(hf__cluster_self *self, hf_bytes line)
{
    hf_bytes fields[8];

    for (size_t i = 0; i < 8; i++)
        fields[i] = cut_field(&line, ' ');
    memset(self, 0, sizeof(*self));
    self->stamp = add_to_stamp(14695981039346656037u, fields[0]);
    self->stamp = add_to_stamp(self->stamp, fields[6]);
    self->stamp = add_to_stamp(self->stamp, line);
    self->is_master = has_flag(fields[2], "master");
    while (line.size > 0) {
        hf_bytes run = cut_field(&line, ' ');

        if (run.size > 0 && !take_slots(self, run))
            return false;
    }
    return true;
}

bool hf__cluster_self_read(hf__cluster_self *self, hf_bytes text)
{
    while (text.size > 0) {
        hf_bytes line = cut_field(&text, '\n');
        hf_bytes rest = line;

        cut_field(&rest, ' ');
        cut_field(&rest, ' ');
        if (has_flag(cut_field(&rest, ' '), "myself"))
            return read_line(self, line);
    }
    return false;
}
