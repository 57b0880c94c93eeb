/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_page.c - pages of a timeline: from options to a range of positions
 * (data/timeline_labels.h), whose end in the direction of reading a cursor
 * replaces.
 *
 * All positions in an order have the same beginning, `first`: two NULs by time,
 * a label for items that have that attribute, a name and a NUL by an attribute.
 */
#include <math.h>
#include <string.h>

#include "core/form.h"
#include "data/timeline_items.h"
#include "data/timeline_labels.h"
#include "holdfast/timeline.h"
#include "util/digits.h"
#include "util/error.h"

#define LIMIT_DEFAULT 20

/* A page that passes more items that are due has some removed: writes, which
 * remove 16 each, are rare then. */
#define DUE_MAX 100

/* '[' or '(', then a position, or where one would be. */
#define POSITION_MAX (HF__LABEL_MAX + HF__LABEL_DIGITS + HF_TIMELINE_ID_MAX)
typedef struct bound {
    char text[1 + POSITION_MAX];
    size_t size;
} bound;

typedef struct page_range {
    hf_timeline_page_options options;
    char first[HF__LABEL_MAX];
    size_t first_size;
    size_t name_size;
    bound low;
    bound high;
} page_range;

/* Are items on the way left out? In the order of time they are not on it. */
static bool is_filtered(const hf_timeline_page_options *o)
{
    return o->order_by.size > 0 &&
           (o->equals != NULL || o->from_ms != 0 || o->to_ms != 0);
}

/* ---------------------------------------------------------------- checking */

static hf_status check_counts(const hf_timeline_page_options *o, hf_error *err)
{
    if (o->limit > HF_TIMELINE_LIMIT_MAX)
        return hf__fail(err, HF_INVALID, "limit is %zu; it must be 0..%d",
                        o->limit, HF_TIMELINE_LIMIT_MAX);
    if (o->offset > HF_TIMELINE_OFFSET_MAX)
        return hf__fail(err, HF_INVALID,
                        "offset is %zu; it must be 0..%d: use a cursor",
                        o->offset, HF_TIMELINE_OFFSET_MAX);
    return HF_OK;
}

static hf_status check_order(const hf_timeline_page_options *o, hf_error *err)
{
    bool by_time = o->order_by.size == 0;

    if (by_time && (o->min != NULL || o->max != NULL))
        return hf__fail(err, HF_INVALID, "min and max need order_by");
    if (is_filtered(o) && o->offset > 0)
        return hf__fail(err, HF_INVALID,
                        "order_by with equals, from_ms or to_ms excludes an "
                        "offset: use a cursor");
    if ((o->min != NULL && isnan(*o->min)) ||
        (o->max != NULL && isnan(*o->max)))
        return hf__fail(err, HF_INVALID, "%s is not a number",
                        o->min != NULL && isnan(*o->min) ? "min" : "max");
    if (o->equals != NULL && hf__check_attribute(o->equals, err) != HF_OK)
        return HF_INVALID;
    return by_time ? HF_OK : hf__check_attribute_name(o->order_by, err);
}

static hf_status check_page(const hf_timeline_page_options *o, hf_error *err)
{
    hf_status status = check_counts(o, err);

    if (status == HF_OK)
        status = hf__check_time(o->from_ms, "from_ms", err);
    if (status == HF_OK)
        status = hf__check_time(o->to_ms, "to_ms", err);
    return status == HF_OK ? check_order(o, err) : status;
}

/* ------------------------------------------------------------------ bounds */

static void begin_bound(bound *self, char kind, const page_range *of)
{
    self->text[0] = kind;
    memcpy(self->text + 1, of->first, of->first_size);
    self->size = 1 + of->first_size;
}

static void add_number(bound *self, char kind, double number)
{
    self->text[self->size++] = kind;
    if (isinf(number))
        self->text[self->size++] = number < 0 ? '\0' : '\xff';
    else
        self->size =
            (size_t)(hf__label_put_number(self->text + self->size, number) -
                     self->text);
}

static void add_time(bound *self, int64_t at_ms)
{
    self->size = (size_t)(hf__label_put_time(self->text + self->size, at_ms) -
                          self->text);
}

/* Where positions begin. */
static void set_first(page_range *self)
{
    const hf_timeline_page_options *o = &self->options;
    char *end = self->first;

    if (o->equals != NULL && o->order_by.size == 0) {
        end = hf__label_put(end, o->equals);
        self->name_size = o->equals->name.size;
    } else {
        self->name_size = o->order_by.size;
        if (self->name_size > 0)
            memcpy(end, o->order_by.data, self->name_size);
        end += self->name_size;
        *end++ = '\0';
        if (self->name_size == 0)
            *end++ = '\0';
    }
    self->first_size = (size_t)(end - self->first);
}

static void set_bounds(page_range *self)
{
    const hf_timeline_page_options *o = &self->options;

    set_first(self);
    begin_bound(&self->low, '[', self);
    begin_bound(&self->high, '(', self);
    if (o->min != NULL)
        add_number(&self->low, HF__LABEL_NUMBER, *o->min);
    else if (o->max != NULL)
        self->low.text[self->low.size++] = HF__LABEL_NUMBER;
    if (o->max != NULL)
        add_number(&self->high, HF__LABEL_NUMBER, *o->max);
    else if (o->min != NULL)
        self->high.text[self->high.size++] = HF__LABEL_NUMBER;
    if (o->from_ms > 0 && o->order_by.size == 0)
        add_time(&self->low, o->from_ms);
    if (o->to_ms > 0 && o->order_by.size == 0)
        add_time(&self->high, o->to_ms + 1);
    else /* behind every kind, number and time */
        self->high.text[self->high.size++] = '\xff';
}

/* ------------------------------------------------------------------ cursor */

static bool read_cursor(hf_bytes cursor, bound *at)
{
    const char *text = cursor.data;

    if (cursor.size % 2 != 0 || cursor.size / 2 > POSITION_MAX)
        return false;
    at->text[0] = '(';
    at->size = 1;
    for (size_t i = 0; i < cursor.size; i += 2) {
        int high = hf__lower_hex_value(text[i]);
        int low = hf__lower_hex_value(text[i + 1]);

        if (high < 0 || low < 0)
            return false;
        at->text[at->size++] = (char)(high << 4 | low);
    }
    return true;
}

/* It replaces the bound where reading begins. */
static hf_status set_cursor(page_range *self, hf_error *err)
{
    bound *at = (self->options.flags & HF_TIMELINE_ASCENDING) != 0
                    ? &self->low
                    : &self->high;

    if (self->options.cursor.size == 0)
        return HF_OK;
    if (read_cursor(self->options.cursor, at) &&
        at->size > 1 + self->first_size &&
        memcmp(at->text + 1, self->first, self->first_size) == 0)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "the cursor is not one of this order");
}

/* -------------------------------------------------------------------- page */

static hf_status finish_page(hf_call *call, hf_error *err)
{
    int64_t *due = call->context;

    if (due != NULL)
        *due = hf__items_due(&call->request.reply);
    return hf__finish_items(call, err);
}

static const hf__operation read_page = {
    .script = HF__SCRIPT(TIMELINE_PAGE),
    .finish = finish_page,
};

/* Best effort: a page is read all the same, only slower. */
static void remove_due(hf_client *client, hf_bytes key)
{
    hf_timeline_trimmed trimmed;
    hf_status status = hf_timeline_trim(client, key, 0, -1, &trimmed, NULL);

    (void)status;
}

/* Digits of a time in a position. */
static void add_digits(hf_call *call, int64_t at_ms, const char *none)
{
    char *digits = at_ms == 0 ? NULL : hf__call_alloc(call, HF__LABEL_DIGITS);

    if (digits == NULL) {
        hf__add(call, hf_str(none));
        return;
    }
    (void)hf__label_put_time(digits, at_ms);
    hf__add(call, hf_view(digits, HF__LABEL_DIGITS));
}

/* What items on the way must have. */
static void add_filter(hf_call *call, const hf_timeline_page_options *o,
                       int64_t most)
{
    bool filtered = is_filtered(o);
    char *label = NULL, *end = NULL;

    if (filtered && o->equals != NULL)
        label = hf__call_alloc(call, HF__LABEL_MAX);
    if (label != NULL)
        end = hf__label_put(label, o->equals);
    hf__add(call,
            label == NULL ? hf_str("") : hf_view(label, (size_t)(end - label)));
    add_digits(call, filtered ? o->from_ms : 0, "");
    add_digits(call, filtered && o->to_ms > 0 ? o->to_ms + 1 : 0, ":");
    hf__add_number(call, most);
}

/* `most` positions are looked at. */
static void add_words(hf_call *call, const page_range *from, int64_t most)
{
    const hf_timeline_page_options *o = &from->options;
    bool ascending = (o->flags & HF_TIMELINE_ASCENDING) != 0;
    size_t size = from->low.size + from->high.size;
    char *bounds = hf__call_alloc(call, size);

    if (bounds == NULL)
        return;
    memcpy(bounds, from->low.text, from->low.size);
    memcpy(bounds + from->low.size, from->high.text, from->high.size);
    if (ascending)
        hf__add(call, hf_view(bounds, from->low.size));
    hf__add(call, hf_view(bounds + from->low.size, from->high.size));
    if (!ascending)
        hf__add(call, hf_view(bounds, from->low.size));
    hf__add(call, hf_str(ascending ? "0" : "1"));
    hf__add_number(call, (int64_t)o->offset);
    hf__add_number(call, (int64_t)(o->limit == 0 ? LIMIT_DEFAULT : o->limit));
    hf__add_number(call, (int64_t)from->name_size);
    add_filter(call, o, most);
}

/* Load and check the caller's options. */
static bool load_range(hf_call *call, page_range *self,
                       const hf_timeline_page_options *opts)
{
    if (!HF__LOAD(call, &self->options, opts, hf_timeline_page_options,
                  HF_TIMELINE_ASCENDING) ||
        !HF__TRY(call, check_page(&self->options, call->form.err)))
        return false;
    set_bounds(self);
    return HF__TRY(call, set_cursor(self, call->form.err));
}

static hf_status run_page(hf__form form, hf_client *client, hf_bytes key,
                          const hf_timeline_page_options *opts,
                          hf_timeline_items *out)
{
    hf_call here, *call = hf__begin(&here, form, &read_page, client);
    hf_status status;
    int64_t due = 0;
    page_range self;

    if (form.kind == HF__FORM_BLOCKING)
        call->context = &due;
    hf__add_timeline(call, key, 10);
    hf__set_out(call, out, "page");
    if (load_range(call, &self, opts))
        add_words(call, &self,
                  is_filtered(&self.options) ? HF_TIMELINE_LOOK_MAX
                                             : INT64_C(1) << 52);
    status = hf__end(call);
    if (due > DUE_MAX)
        remove_due(client, key);
    return status;
}

HF__FORMS(hf_timeline_page, run_page(form, client, key, opts, page),
          hf_client *client, hf_bytes key, const hf_timeline_page_options *opts,
          hf_timeline_items *page);

/* ------------------------------------------------------------------- count */

static hf_status finish_count(hf_call *call, hf_error *err)
{
    const hf_reply *items = call->request.reply.array.items;
    hf_status status = hf__set_cursor(call->context, &items[0], err);

    if (status == HF_OK)
        *(size_t *)call->out = (size_t)items[1].integer;
    return status;
}

static const hf__operation count_matching = {
    .script = HF__SCRIPT(TIMELINE_COUNT_MATCHING),
    .finish = finish_count,
};

static hf_status run_count(hf__form form, hf_client *client, hf_bytes key,
                           const hf_timeline_page_options *opts, size_t *count,
                           hf_buffer *next)
{
    hf_call here, *call = hf__begin(&here, form, &count_matching, client);
    page_range self;

    hf__add_timeline(call, key, 10);
    hf__set_out(call, count, "count");
    call->context = next;
    if (HF__TRY(call, hf__check_out(next, "next", call->form.err)) &&
        load_range(call, &self, opts))
        add_words(call, &self, HF_TIMELINE_LOOK_MAX);
    return hf__end(call);
}

HF__FORMS(hf_timeline_count_matching,
          run_count(form, client, key, opts, count, next), hf_client *client,
          hf_bytes key, const hf_timeline_page_options *opts, size_t *count,
          hf_buffer *next);

/* ------------------------------------------------------------------- range */

static hf_status run_range(hf__form form, hf_client *client, hf_bytes key,
                           int64_t from_ms, int64_t to_ms, size_t limit,
                           hf_timeline_items *out)
{
    hf_timeline_page_options options = HF_TIMELINE_PAGE_OPTIONS_INIT;

    options.flags = HF_TIMELINE_ASCENDING;
    options.limit = limit;
    options.from_ms = from_ms;
    options.to_ms = to_ms;
    return run_page(form, client, key, &options, out);
}

HF__FORMS(hf_timeline_range,
          run_range(form, client, key, from_ms, to_ms, limit, page),
          hf_client *client, hf_bytes key, int64_t from_ms, int64_t to_ms,
          size_t limit, hf_timeline_items *page);
