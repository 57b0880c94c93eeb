/* SPDX-License-Identifier: Apache-2.0 */
/* every_member.c - the calls of sets and ranks, for every_call.c. */
#include "support/every_define.h"

#include "holdfast/rank.h"
#include "holdfast/set.h"

DEFINE(set_add)
{
    hf_set_add_options options = HF_SET_ADD_OPTIONS_INIT;
    hf_bytes member = one();

    options.ttl_ms = 60000;
    return CALL(hf_set_add, p->client, p->key, &member, 1, &options,
                &p->result.removed);
}

DEFINE(set_remove)
{
    hf_bytes member = one();

    return CALL(hf_set_remove, p->client, p->key, &member, 1,
                &p->result.removed);
}

DEFINE(set_has)
{
    return CALL(hf_set_has, p->client, p->key, one(), &p->result.ttl_ms);
}

DEFINE(set_has_members)
{
    hf_bytes member = one();

    return CALL(hf_set_has_members, p->client, p->key, &member, 1,
                &p->result.member_ttl_ms);
}

DEFINE(set_count)
{
    return CALL(hf_set_count, p->client, p->key, &p->result.count);
}

DEFINE(set_expire)
{
    hf_bytes member = one();

    return CALL(hf_set_expire, p->client, p->key, 60000, &member, 1,
                &p->result.removed);
}

DEFINE(set_page)
{
    return CALL(hf_set_page, p->client, p->key, hf_view(NULL, 0), 10,
                &p->result.members);
}

DEFINE(rank_add)
{
    hf_rank_add_options options = HF_RANK_ADD_OPTIONS_INIT;

    options.ttl_ms = 60000;
    return CALL(hf_rank_add, p->client, p->key, one(), 1, &options,
                &p->result.place);
}

DEFINE(rank_increment)
{
    return CALL(hf_rank_increment, p->client, p->key, one(), 0.5, NULL,
                &p->result.place);
}

DEFINE(rank_add_many)
{
    hf_rank_add_item item = {one(), 1};

    return CALL(hf_rank_add_many, p->client, p->key, &item, 1, NULL,
                &p->result.status);
}

DEFINE(rank_get)
{
    return CALL(hf_rank_get, p->client, p->key, one(), &p->result.place,
                &p->result.ttl_ms);
}

DEFINE(rank_page)
{
    return CALL(hf_rank_page, p->client, p->key, 0, 10, 0, &p->result.ranked);
}

DEFINE(rank_around)
{
    return CALL(hf_rank_around, p->client, p->key, one(), 2, 0,
                &p->result.ranked);
}

DEFINE(rank_count)
{
    return CALL(hf_rank_count, p->client, p->key, NULL, NULL, &p->result.count);
}

DEFINE(rank_remove)
{
    hf_bytes member = one();

    return CALL(hf_rank_remove, p->client, p->key, &member, 1,
                &p->result.removed);
}

DEFINE(rank_trim)
{
    return CALL(hf_rank_trim, p->client, p->key, 0, &p->result.rank_trimmed);
}

DEFINE(rank_expire)
{
    return CALL(hf_rank_expire, p->client, p->key, one(), 60000);
}
