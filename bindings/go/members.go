// SPDX-License-Identifier: Apache-2.0

package holdfast

/*
#include "shim.h"
*/
import "C"

import (
	"context"
	"math"
	"time"
	"unsafe"
)

// Persistent is the time to live of what does not expire.
const Persistent time.Duration = -1

// ttlOf returns a time to live as the functions of C do, of which -1 is
// Persistent.
func ttlOf(raw C.int64_t) time.Duration {
	if raw < 0 {
		return Persistent
	}
	return time.Duration(raw) * time.Millisecond
}

func expiryOf(ttl time.Duration) C.int64_t {
	if ttl == Persistent {
		return -1
	}
	return ms(ttl)
}

// inC copies texts into memory of C, as an array, which is to be freed.
func inC(texts []string) (*C.hf_bytes, C.size_t) {
	size := C.size_t(0)
	for _, one := range texts {
		size += C.sizeof_hf_bytes + C.size_t(len(one))
	}
	block := C.malloc(size + 1)
	array := unsafe.Slice((*C.hf_bytes)(block), len(texts))
	free := unsafe.Add(block, len(texts)*C.sizeof_hf_bytes)
	for i, one := range texts {
		copy(unsafe.Slice((*byte)(free), len(one)), one)
		array[i] = C.hf_bytes{data: free, size: C.size_t(len(one))}
		free = unsafe.Add(free, len(one))
	}
	return (*C.hf_bytes)(block), C.size_t(len(texts))
}

func stringOf(raw C.hf_bytes) string {
	return C.GoStringN((*C.char)(raw.data), C.int(raw.size))
}

func flags(given []bool, bits ...C.uint32_t) (all C.uint32_t) {
	for i, bit := range bits {
		if given[i] {
			all |= bit
		}
	}
	return all
}

// --------------------------------------------------------------------- sets

// SetAddOptions are those of SetAdd.
type SetAddOptions struct {
	TTL     time.Duration // 0: a member that is there keeps its own
	NX, XX  bool          // only members that are not there; that are
	KeepTTL bool          // only new members get TTL
}

// SetAdd adds members, and returns how many of them are new.
func (c *Client) SetAdd(ctx context.Context, key string, members []string,
	opts SetAddOptions) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	raw := C.hf_set_add_options{struct_size: C.sizeof_hf_set_add_options,
		ttl_ms: ms(opts.TTL),
		flags: flags([]bool{opts.NX, opts.XX, opts.KeepTTL},
			C.HF_SET_NX, C.HF_SET_XX, C.HF_SET_KEEPTTL)}
	list, count := inC(members)
	defer C.free(unsafe.Pointer(list))
	var added C.size_t
	err := newError()
	status := C.hf_set_add(c.raw, text(key), list, count, &raw, &added, err)
	return int(added), errorOf(status, err)
}

// SetRemove removes members, and returns how many of them were there.
func (c *Client) SetRemove(ctx context.Context, key string,
	members ...string) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	list, count := inC(members)
	defer C.free(unsafe.Pointer(list))
	var removed C.size_t
	err := newError()
	status := C.hf_set_remove(c.raw, text(key), list, count, &removed, err)
	return int(removed), errorOf(status, err)
}

// SetHas returns how long a member stays: Persistent, until it is removed.
// False: there is no such member.
func (c *Client) SetHas(ctx context.Context, key, member string) (time.Duration,
	bool, error) {
	if err := ctx.Err(); err != nil {
		return 0, false, err
	}
	var ttl C.int64_t
	err := newError()
	status := C.hf_set_has(c.raw, text(key), text(member), &ttl, err)
	return ttlOf(ttl), Status(status) == statusOK,
		errorOf(status, err, NotFound)
}

// SetHasMembers returns the same of some members, at one instant, without those
// that are not there.
func (c *Client) SetHasMembers(ctx context.Context, key string,
	members ...string) (map[string]time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	list, count := inC(members)
	defer C.free(unsafe.Pointer(list))
	ttls := make([]C.int64_t, len(members)+1)
	err := newError()
	status := C.hf_set_has_members(c.raw, text(key), list, count, &ttls[0],
		err)
	found := make(map[string]time.Duration)
	if Status(status) == statusOK {
		for i, member := range members {
			if ttls[i] != -2 {
				found[member] = ttlOf(ttls[i])
			}
		}
	}
	return found, errorOf(status, err)
}

// SetCount counts the members that have not expired.
func (c *Client) SetCount(ctx context.Context, key string) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	var count C.size_t
	err := newError()
	status := C.hf_set_count(c.raw, text(key), &count, err)
	return int(count), errorOf(status, err)
}

// SetExpire sets the time to live of members, also to Persistent, and returns
// how many of them are there.
func (c *Client) SetExpire(ctx context.Context, key string, ttl time.Duration,
	members ...string) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	list, count := inC(members)
	defer C.free(unsafe.Pointer(list))
	var found C.size_t
	err := newError()
	status := C.hf_set_expire(c.raw, text(key), expiryOf(ttl), list, count,
		&found, err)
	return int(found), errorOf(status, err)
}

// SetPage returns about limit members (0: 100) with their times to live, and
// the cursor of the page that follows, of which "" is the first; it returns ""
// behind the last.
func (c *Client) SetPage(ctx context.Context, key, cursor string,
	limit int) (map[string]time.Duration, string, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	var page C.hf_set_members
	err := newError()
	status := C.hf_set_page(c.raw, text(key), text(cursor), C.size_t(limit),
		&page, err)
	members := make(map[string]time.Duration)
	for _, one := range unsafe.Slice(page.items, int(page.count)) {
		members[stringOf(one.member)] = ttlOf(one.ttl_ms)
	}
	next := stringOf(page.next)
	C.hf_set_members_free(&page)
	return members, next, errorOf(status, err)
}

// -------------------------------------------------------------------- ranks

// RankAddOptions are those of RankAdd and RankIncrement.
type RankAddOptions struct {
	TTL     time.Duration // 0: a member that is there keeps its own
	NX, XX  bool          // only if it is not there; only if it is
	GT, LT  bool          // only if its score becomes greater, or less
	KeepTTL bool          // only a new member gets TTL
}

func (opts RankAddOptions) raw() C.hf_rank_add_options {
	return C.hf_rank_add_options{struct_size: C.sizeof_hf_rank_add_options,
		ttl_ms: ms(opts.TTL),
		flags: flags([]bool{opts.NX, opts.XX, opts.GT, opts.LT,
			opts.KeepTTL}, C.HF_RANK_NX, C.HF_RANK_XX, C.HF_RANK_GT,
			C.HF_RANK_LT, C.HF_RANK_KEEPTTL)}
}

// RankPlace is where a member is.
type RankPlace struct {
	Score       float64
	Rank, Count int // 0: the top; of all members
}

func placeOf(status C.hf_status, raw *C.hf_rank_place) *RankPlace {
	if Status(status) != statusOK {
		return nil
	}
	return &RankPlace{float64(raw.score), int(raw.rank), int(raw.count)}
}

// RankMember is a member of a page.
type RankMember struct {
	Member string
	Score  float64
	Rank   int // in the order of the page
	TTL    time.Duration
}

func takeMembers(raw *C.hf_rank_members) []RankMember {
	members := make([]RankMember, 0, int(raw.count))
	for _, one := range unsafe.Slice(raw.items, int(raw.count)) {
		members = append(members, RankMember{stringOf(one.member),
			float64(one.score), int(one.rank), ttlOf(one.ttl_ms)})
	}
	C.hf_rank_members_free(raw)
	return members
}

// RankAdd gives a member a score. False: an option refused it.
func (c *Client) RankAdd(ctx context.Context, key, member string,
	score float64, opts RankAddOptions) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	raw := opts.raw()
	err := newError()
	status := C.hf_rank_add(c.raw, text(key), text(member), C.double(score),
		&raw, nil, err)
	return Status(status) == statusOK, errorOf(status, err, Conflict, NotFound)
}

// RankIncrement adds to the score of a member, 0 of a new one, and returns where
// it is then. Nil: an option refused it.
func (c *Client) RankIncrement(ctx context.Context, key, member string,
	delta float64, opts RankAddOptions) (*RankPlace, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	raw := opts.raw()
	var place C.hf_rank_place
	err := newError()
	status := C.hf_rank_increment(c.raw, text(key), text(member),
		C.double(delta), &raw, &place, err)
	return placeOf(status, &place), errorOf(status, err, Conflict, NotFound)
}

// RankGet returns where a member is. Nil: there is no such member.
func (c *Client) RankGet(ctx context.Context, key, member string) (*RankPlace,
	error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var place C.hf_rank_place
	err := newError()
	status := C.hf_rank_get(c.raw, text(key), text(member), &place, nil, err)
	return placeOf(status, &place), errorOf(status, err, NotFound)
}

// RankOrder is the order of a page.
type RankOrder uint32

// Orders: from the top, or from the least score.
const (
	Descending RankOrder = 0
	Ascending  RankOrder = C.HF_RANK_ASCENDING
)

// RankPage returns at most limit members (0: 20), behind offset others.
func (c *Client) RankPage(ctx context.Context, key string, offset, limit int,
	order RankOrder) ([]RankMember, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var page C.hf_rank_members
	err := newError()
	status := C.hf_rank_page(c.raw, text(key), C.size_t(offset),
		C.size_t(limit), C.uint32_t(order), &page, err)
	return takeMembers(&page), errorOf(status, err)
}

// RankAround returns a member, and at most each on each side of it. Empty:
// there is no such member.
func (c *Client) RankAround(ctx context.Context, key, member string, each int,
	order RankOrder) ([]RankMember, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var page C.hf_rank_members
	err := newError()
	status := C.hf_rank_around(c.raw, text(key), text(member),
		C.size_t(each), C.uint32_t(order), &page, err)
	return takeMembers(&page), errorOf(status, err, NotFound)
}

// RankCount counts the members whose score is from least to most; those may be
// infinite.
func (c *Client) RankCount(ctx context.Context, key string, least,
	most float64) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	var count C.size_t
	min, max := C.double(least), C.double(most)
	from, to := &min, &max
	if math.IsInf(least, -1) {
		from = nil
	}
	if math.IsInf(most, 1) {
		to = nil
	}
	err := newError()
	status := C.hf_rank_count(c.raw, text(key), from, to, &count, err)
	return int(count), errorOf(status, err)
}

// RankRemove removes members, and returns how many of them were there.
func (c *Client) RankRemove(ctx context.Context, key string,
	members ...string) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	list, count := inC(members)
	defer C.free(unsafe.Pointer(list))
	var removed C.size_t
	err := newError()
	status := C.hf_rank_remove(c.raw, text(key), list, count, &removed, err)
	return int(removed), errorOf(status, err)
}

// RankTrim removes members that have expired, and all but the top keep; -1: all
// may stay. It returns how many it has removed, and whether there are more, for
// another call.
func (c *Client) RankTrim(ctx context.Context, key string, keep int) (int, bool,
	error) {
	if err := ctx.Err(); err != nil {
		return 0, false, err
	}
	var trimmed C.hf_rank_trimmed
	err := newError()
	status := C.hf_rank_trim(c.raw, text(key), C.int64_t(keep), &trimmed, err)
	return int(trimmed.removed), bool(trimmed.more), errorOf(status, err)
}

// RankExpire sets the time to live of a member, also to Persistent. False:
// there is no such member.
func (c *Client) RankExpire(ctx context.Context, key, member string,
	ttl time.Duration) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	err := newError()
	status := C.hf_rank_expire(c.raw, text(key), text(member), expiryOf(ttl),
		err)
	return Status(status) == statusOK, errorOf(status, err, NotFound)
}
