// SPDX-License-Identifier: Apache-2.0

package holdfast

/*
#include "shim.h"
*/
import "C"

import (
	"context"
	"errors"
	"runtime/cgo"
	"time"
)

// LockOptions are those of hf_lock_options in holdfast/lock.h; zero values are
// its defaults.
type LockOptions struct {
	TTL        time.Duration // lease; 0: 30 s. It is renewed
	MaxHold    time.Duration // lost after this time; 0: never
	LostMargin time.Duration // report a loss this much earlier
	MinHold    time.Duration // no one else gets it before
	NoRenew    bool
	Priority   uint32 // 0..4; a release serves the highest first
}

const (
	exclusive = iota
	reads
	writes
	permits
	jobs
)

// Lock is a name with options. Goroutines and programs exclude each other by
// it; each Acquire has a hold of its own.
type Lock struct {
	client *Client
	kind   C.int
	name   string
	count  uint32
	opts   LockOptions
	once   *OnceOptions
}

// Lock returns the lock of a name.
func (c *Client) Lock(name string, opts LockOptions) *Lock {
	return &Lock{c, exclusive, name, 0, opts, nil}
}

// ReadLock returns the lock of a name for reading: many at the same time.
func (c *Client) ReadLock(name string, opts LockOptions) *Lock {
	return &Lock{c, reads, name, 0, opts, nil}
}

// WriteLock returns the lock of a name for writing: one, and no reader.
func (c *Client) WriteLock(name string, opts LockOptions) *Lock {
	return &Lock{c, writes, name, 0, opts, nil}
}

// Semaphore returns a permit: at most count of a name are held at a time.
func (c *Client) Semaphore(name string, count uint32, opts LockOptions) *Lock {
	return &Lock{c, permits, name, count, opts, nil}
}

// Hold is a lock, or a permit, that is held until Release.
type Hold struct {
	raw, pair *C.hf_lock
	lost      chan Status
	handle    cgo.Handle
}

// Acquire waits until it holds the lock, or ctx ends, whose error it then
// returns.
func (l *Lock) Acquire(ctx context.Context) (*Hold, error) {
	return l.acquire(ctx, Forever)
}

// TryAcquire does not wait. Nil without an error: another owner holds it.
func (l *Lock) TryAcquire(ctx context.Context) (*Hold, error) {
	hold, err := l.acquire(ctx, 0)
	if errors.Is(err, Timeout) {
		err = nil
	}
	return hold, err
}

func (l *Lock) acquire(ctx context.Context, wait time.Duration) (*Hold, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	hold, err := l.make()
	if err != nil {
		return nil, err
	}
	if err := hold.wait(ctx, hold.acquire(wait)); err != nil {
		hold.free()
		return nil, err
	}
	return hold, nil
}

// acquire is what wait calls for hf_lock_acquire().
func (h *Hold) acquire(wait time.Duration) func(*C.hf_error) C.hf_status {
	return func(err *C.hf_error) C.hf_status {
		return C.hf_lock_acquire(h.raw, ms(wait), err)
	}
}

func (l *Lock) make() (*Hold, error) {
	opts := C.hf_lock_options{struct_size: C.sizeof_hf_lock_options,
		ttl_ms: ms(l.opts.TTL), max_hold_ms: ms(l.opts.MaxHold),
		lost_margin_ms: ms(l.opts.LostMargin),
		min_hold_ms:    ms(l.opts.MinHold),
		priority:       C.uint32_t(l.opts.Priority)}
	if l.opts.NoRenew {
		opts.flags = C.HF_LOCK_NO_RENEW
	}
	hold := &Hold{lost: make(chan Status, 1)}
	hold.handle = cgo.NewHandle(hold)
	err := newError()
	var status C.hf_status
	if l.once != nil {
		once, fingerprint := l.once.raw()
		defer C.free(fingerprint)
		status = C.go_once_new(l.client.raw, text(l.name), &once, &opts,
			C.uintptr_t(hold.handle), &hold.raw, err)
	} else {
		status = C.go_lock_new(l.client.raw, l.kind, text(l.name),
			C.int64_t(l.count), &opts, C.uintptr_t(hold.handle), &hold.raw,
			&hold.pair, err)
	}
	if failed := errorOf(status, err); failed != nil {
		hold.free()
		return nil, failed
	}
	return hold, nil
}

// wait blocks a thread of its own in call, so that ctx can end it.
func (h *Hold) wait(ctx context.Context,
	call func(*C.hf_error) C.hf_status) error {
	done := make(chan error, 1)
	go func() {
		err := newError()
		done <- errorOf(call(err), err)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	for { // what interrupts a call that has not begun has no effect
		C.hf_lock_interrupt(h.raw, nil)
		select {
		case err := <-done:
			if err == nil || errors.Is(err, Cancelled) {
				return ctx.Err() // granted meanwhile: free() releases it
			}
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// IsHeld is true while the lock is held and valid: a comparison of two numbers.
// Check it before each effect.
func (h *Hold) IsHeld() bool { return h.raw != nil && bool(C.hf_lock_is_held(h.raw)) }

// Token is the fencing token: larger than that of every earlier holder.
func (h *Hold) Token() uint64 {
	if h.raw == nil {
		return 0
	}
	return uint64(C.hf_lock_token(h.raw))
}

// Lost gets the reason if the lock is lost, as soon as that is known.
func (h *Hold) Lost() <-chan Status { return h.lost }

// Release releases it. Lost and Expired are errors here. Further calls do
// nothing, so it can be deferred.
func (h *Hold) Release() error {
	if h.raw == nil {
		return nil
	}
	defer h.free()
	err := newError()
	return errorOf(C.hf_lock_release(h.raw, err), err)
}

// free releases what is held, without the outcome.
func (h *Hold) free() {
	C.hf_lock_free(h.raw)
	C.hf_lock_free(h.pair)
	h.raw, h.pair = nil, nil
	if h.handle != 0 {
		h.handle.Delete() // no callback runs any more
		h.handle = 0
	}
}
