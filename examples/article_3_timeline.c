/* SPDX-License-Identifier: Apache-2.0 */
/*
 * article_3_timeline.c - a list of unconfirmed transactions: each vanishes
 * after 12 hours, and they are read in pages by time, or by their fee.
 *
 *     ./article_3_timeline [STORE]
 */
#include "example.h"

#define TWELVE_HOURS_MS (12 * 3600 * 1000)

static const struct {
    int64_t at_s;
    const char *id;
    const char *payload;
    double fee;
} transactions[] = {
    {1540458292, "key1", "data1", 30}, {1540458293, "key2", "data2", 10},
    {1540458294, "key3", "data3", 50}, {1540458294, "key5", "data5", 20},
    {1540458293, "key4", "data4", 40},
};

static void add_all(hf_client *client, hf_bytes list)
{
    hf_error err = HF_ERROR_INIT;

    for (size_t i = 0; i < 5; i++) {
        hf_attribute fee =
            hf_attribute_number(hf_str("fee"), transactions[i].fee);
        hf_timeline_add_options opts = HF_TIMELINE_ADD_OPTIONS_INIT;

        opts.at_ms = transactions[i].at_s * 1000;
        opts.attributes = &fee;
        opts.attribute_count = 1;
        need(hf_timeline_add(client, list, hf_str(transactions[i].id),
                             hf_str(transactions[i].payload), TWELVE_HOURS_MS,
                             &opts, &err),
             &err);
    }
}

static void print_page(hf_client *client, hf_bytes list, const char *what,
                       const hf_timeline_page_options *opts)
{
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    hf_error err = HF_ERROR_INIT;

    need(hf_timeline_page(client, list, opts, &page, &err), &err);
    printf("%s:", what);
    for (size_t i = 0; i < page.count; i++)
        printf(" %.*s", (int)page.items[i].payload.size,
               (const char *)page.items[i].payload.data);
    printf("\n");
    hf_timeline_items_free(&page);
}

int main(int argc, char **argv)
{
    hf_client *client = open_store(argc, argv);
    hf_bytes list = hf_str("ptxlist");
    hf_timeline_page_options by_time = HF_TIMELINE_PAGE_OPTIONS_INIT;
    hf_timeline_page_options by_fee = HF_TIMELINE_PAGE_OPTIONS_INIT;
    hf_timeline_trimmed trimmed;
    hf_error err = HF_ERROR_INIT;

    add_all(client, list);
    by_time.limit = 2;
    print_page(client, list, "the two newest", &by_time);
    by_fee.order_by = hf_str("fee");
    print_page(client, list, "by fee", &by_fee);

    need(hf_timeline_trim(client, list, 1540458293 * INT64_C(1000), -1,
                          &trimmed, &err),
         &err);
    printf("%zu were older\n", trimmed.removed);
    print_page(client, list, "the rest", NULL);
    need(hf_timeline_remove(client, list, hf_str("key5"), &err), &err);
    print_page(client, list, "without key5", NULL);
    hf_client_close(client);
}
