// SPDX-License-Identifier: Apache-2.0

package holdfast

/*
#include "shim.h"
*/
import "C"

import (
	"context"
	"runtime/cgo"
	"time"
)

// CacheOptions say how long an entry is what.
type CacheOptions struct {
	TTL    time.Duration // fresh; needed
	Stale  time.Duration // then returned while it is filled again
	Error  time.Duration // then returned if filling it fails
	Absent time.Duration // how long "no value" is remembered
	Wait   time.Duration // for the fill of another; 0: 10 s
	Tag    string        // by which it can be invalidated
}

type filling struct {
	fill func() ([]byte, error)
	err  error
}

// GetOrFill returns the value of a cache entry; if there is none, fill makes it,
// in one of all programs that share the store, and the others wait. A nil slice
// is "no value". What fill fails with is returned; those that wait get
// Unavailable.
func (c *Client) GetOrFill(ctx context.Context, key string, opts CacheOptions,
	fill func() ([]byte, error)) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	raw := C.hf_cache_options{struct_size: C.sizeof_hf_cache_options,
		ttl_ms: ms(opts.TTL), stale_ms: ms(opts.Stale),
		error_ms: ms(opts.Error), absent_ms: ms(opts.Absent),
		wait_ms: ms(opts.Wait)}
	self := &filling{fill: fill}
	handle := cgo.NewHandle(self)
	defer handle.Delete()
	var value C.hf_buffer
	err := newError()
	status := C.go_cache_get_or_fill(c.raw, text(key), C.uintptr_t(handle),
		&raw, text(opts.Tag), &value, err)
	failed := errorOf(status, err, NotFound)
	if failed != nil && self.err != nil {
		failed = self.err
	}
	return take(&value), failed
}

// Invalidate invalidates all cache entries with a tag. False: there is none.
func (c *Client) Invalidate(ctx context.Context, tag string) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	err := newError()
	status := C.hf_cache_invalidate(c.raw, text(tag), err)
	return Status(status) == statusOK, errorOf(status, err, NotFound)
}

func (f *filling) run(fill *C.hf_cache_fill) {
	status := Unavailable
	var value []byte
	// Also if it panics: the fill must end.
	defer func() {
		C.go_cache_fill_done(fill, C.hf_status(status), view(value))
	}()
	value, f.err = f.fill()
	if f.err == nil {
		status = statusOK
		if value == nil {
			status = NotFound
		}
	}
}
