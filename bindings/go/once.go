// SPDX-License-Identifier: Apache-2.0

package holdfast

/*
#include "shim.h"
*/
import "C"

import (
	"context"
	"errors"
	"time"
	"unsafe"
)

// OnceOptions are those of hf_once_options in holdfast/once.h; zero values are
// its defaults.
type OnceOptions struct {
	Fingerprint []byte        // of the request; another one is Invalid
	Keep        time.Duration // the record; 0: 24 h, or twice the period
	Period      time.Duration // it is done once in each; 0: once
	Early       time.Duration // than a multiple of the period
	RetryDoubt  bool          // claim work in doubt: it may be done twice
}

// raw also returns memory of C, to be freed.
func (opts *OnceOptions) raw() (C.hf_once_options, unsafe.Pointer) {
	fingerprint := C.CBytes(opts.Fingerprint)
	return C.hf_once_options{struct_size: C.sizeof_hf_once_options,
		flags: flags([]bool{opts.RetryDoubt}, C.HF_ONCE_RETRY_DOUBT),
		fingerprint: C.hf_bytes{data: fingerprint,
			size: C.size_t(len(opts.Fingerprint))},
		keep_ms: ms(opts.Keep), period_ms: ms(opts.Period),
		early_ms: ms(opts.Early)}, fingerprint
}

// Once is work that is done once, with a result that is kept.
type Once struct {
	lock *Lock
}

// Once returns the work of a key; lease has the options of a claim.
func (c *Client) Once(key string, opts OnceOptions, lease LockOptions) *Once {
	return &Once{&Lock{c, exclusive, key, 0, lease, &opts}}
}

// OnceResult is the result of work.
type OnceResult struct {
	Status int32 // a number of the caller's
	Result []byte
}

// Claim is the claim of a piece of work, or the result of what was done before.
// Release says that the work has failed and may be done again, and does nothing
// after Complete, so it can be deferred.
type Claim struct {
	*Hold
	Before *OnceResult // nil: the work is the caller's to do
}

// Claim claims the work, or waits for its result, until ctx ends, whose error it
// then returns. Expired: the work is in doubt, as a claim of it ended without a
// result.
func (o *Once) Claim(ctx context.Context) (*Claim, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	hold, err := o.lock.make()
	if err != nil {
		return nil, err
	}
	err = hold.wait(ctx, hold.acquire(Forever))
	if err == nil {
		return &Claim{Hold: hold}, nil
	}
	defer hold.free()
	if !errors.Is(err, Conflict) {
		return nil, err
	}
	var number C.int32_t
	var result C.hf_bytes
	failed := newError()
	status := C.hf_once_result(hold.raw, &number, &result, failed)
	return &Claim{hold, &OnceResult{int32(number),
		C.GoBytes(result.data, C.int(result.size))}}, errorOf(status, failed)
}

// Complete stores the result, in the step that ends the claim. Lost, Expired:
// another has claimed the work, or the record is gone. After Unavailable, Full
// and Indeterminate it may be repeated.
func (c *Claim) Complete(status int32, result []byte) error {
	err := newError()
	stored := C.hf_once_complete(c.raw, C.int32_t(status), view(result), err)
	if Status(stored) == statusOK {
		c.free()
	}
	return errorOf(stored, err)
}

// OnceState is how far work is.
type OnceState C.hf_once_state

// States.
const (
	OnceClaimed OnceState = C.HF_ONCE_CLAIMED
	OnceDone    OnceState = C.HF_ONCE_DONE
	OnceDoubt   OnceState = C.HF_ONCE_DOUBT // a claim ended without a result
)

// OnceInfo is the record of a piece of work.
type OnceInfo struct {
	State     OnceState
	Remaining time.Duration // of a claim its lease, else of the record
	Waiters   int
	Tick      time.Time   // zero: there is no period
	Token     uint64      // of a claim
	Owner     string      // of a claim
	Result    *OnceResult // of work that is done
}

// Inspect looks at the record. Nil: there is none.
func (o *Once) Inspect(ctx context.Context) (*OnceInfo, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	raw := C.hf_once_info{struct_size: C.sizeof_hf_once_info}
	err := newError()
	status := C.hf_once_inspect(o.lock.client.raw, text(o.lock.name), &raw,
		err)
	defer C.hf_once_info_free(&raw)
	if Status(status) != statusOK {
		return nil, errorOf(status, err, NotFound)
	}
	info := &OnceInfo{State: OnceState(raw.state),
		Remaining: ttlOf(raw.remaining_ms), Waiters: int(raw.waiters),
		Token: uint64(raw.token), Owner: C.GoString(&raw.owner[0])}
	if raw.tick_ms != 0 {
		info.Tick = time.UnixMilli(int64(raw.tick_ms))
	}
	if info.State == OnceDone {
		info.Result = &OnceResult{int32(raw.status),
			C.GoBytes(raw.result.data, C.int(raw.result.size))}
	}
	return info, nil
}

// Delete deletes the record, in whatever state: the work is new. False: there
// was none.
func (o *Once) Delete(ctx context.Context) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	err := newError()
	status := C.hf_once_delete(o.lock.client.raw, text(o.lock.name), err)
	return Status(status) == statusOK, errorOf(status, err, NotFound)
}
