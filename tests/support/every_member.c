/* SPDX-License-Identifier: Apache-2.0 */
/* every_member.c - the calls of sets, for every_call.c. */
#include "support/every_define.h"

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
