/* SPDX-License-Identifier: Apache-2.0 */
/* member_words.h - what requests about members of a set or a rank have in
 * common. */
#ifndef HF__DATA_MEMBER_WORDS_H
#define HF__DATA_MEMBER_WORDS_H

#include "core/call.h"
#include "holdfast/set.h"

/* The key, that of its members' deadlines, and room for `count` more words. */
void hf__add_member_keys(hf_call *call, hf_bytes key, size_t count);

/* HF_INVALID, or a word for each. */
void hf__add_member(hf_call *call, hf_bytes member);
void hf__add_members(hf_call *call, const hf_bytes *members, size_t count);

/* Flags NX, XX and KEEPTTL of a set, which a rank has too: NX excludes both. */
hf_status hf__check_member_flags(uint32_t flags, hf_error *err);
void hf__add_condition(hf_call *call, uint32_t flags);

/* A time to live; 0: as it is. -1 if `ends`: none. */
void hf__add_member_ttl(hf_call *call, int64_t ttl_ms, bool ends);

/* Its answer is a number, for the size_t at `out`, which may be NULL. */
hf_status hf__finish_size(hf_call *call, hf_error *err);

#endif
