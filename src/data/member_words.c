/* SPDX-License-Identifier: Apache-2.0 */
/* member_words.c - see member_words.h. */
#include "data/member_words.h"

#include "core/own_key.h"
#include "util/error.h"

void hf__add_member_keys(hf_call *call, hf_bytes key, size_t count)
{
    hf__reserve(call, 2 + count);
    hf__add_key(call, key);
    hf__add_own_key(call, HF__ROLE_DUE, key);
}

static hf_status check_member(hf_bytes member, size_t i, hf_error *err)
{
    if (member.data == NULL && member.size > 0)
        return hf__fail(err, HF_INVALID, "member %zu is NULL, of %zu bytes", i,
                        member.size);
    if (member.size >= 1 && member.size <= HF_MEMBER_MAX)
        return HF_OK;
    return hf__fail(err, HF_INVALID,
                    "member %zu has %zu bytes; it must have 1..%d", i,
                    member.size, HF_MEMBER_MAX);
}

void hf__add_member(hf_call *call, hf_bytes member)
{
    if (HF__TRY(call, check_member(member, 0, call->form.err)))
        hf__add(call, member);
}

static hf_status check_members(const hf_bytes *members, size_t count,
                               hf_error *err)
{
    if (count >= 1 && count <= HF_MEMBER_COUNT_MAX)
        return hf__check_out(members, "members", err);
    return hf__fail(err, HF_INVALID, "member count is %zu; it must be 1..%d",
                    count, HF_MEMBER_COUNT_MAX);
}

void hf__add_members(hf_call *call, const hf_bytes *members, size_t count)
{
    if (HF__TRY(call, check_members(members, count, call->form.err)))
        hf__reserve(call, count);
    for (size_t i = 0; i < count && call->prepared == HF_OK; i++) {
        if (HF__TRY(call, check_member(members[i], i, call->form.err)))
            hf__add(call, members[i]);
    }
}

hf_status hf__check_member_flags(uint32_t flags, hf_error *err)
{
    if ((flags & HF_SET_NX) == 0 || (flags & (HF_SET_XX | HF_SET_KEEPTTL)) == 0)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "NX excludes XX and KEEPTTL");
}

void hf__add_condition(hf_call *call, uint32_t flags)
{
    hf__add(call, hf_str((flags & HF_SET_NX) != 0   ? "nx"
                         : (flags & HF_SET_XX) != 0 ? "xx"
                                                    : ""));
}

void hf__add_member_ttl(hf_call *call, int64_t ttl_ms, bool ends)
{
    if (ttl_ms == (ends ? -1 : 0) ||
        HF__TRY(call, hf__check_ttl(ttl_ms, "ttl_ms", call->form.err)))
        hf__add_number(call, ttl_ms);
}

hf_status hf__finish_size(hf_call *call, hf_error *err)
{
    (void)err;
    if (call->out != NULL)
        *(size_t *)call->out = (size_t)call->request.reply.integer;
    return HF_OK;
}
