// SPDX-License-Identifier: Apache-2.0

// Package holdfast has locks, work queues, values and caches that programs share:
// on an embedded store without a server, or on Redis and Valkey. It needs
// libholdfast, which pkg-config must find.
//
// Durations are time.Duration, and are rounded up to milliseconds. Ordinary
// outcomes are results: a nil slice for what is not there, false for a
// condition that is not met. What fails is an *Error, and errors.Is compares it
// with a Status: errors.Is(err, holdfast.Timeout).
package holdfast

/*
#cgo pkg-config: holdfast
#include "shim.h"
*/
import "C"

import (
	"context"
	"math"
	"time"
	"unsafe"
)

// Status is what a call returned; the hundreds digit says what to do about it.
type Status int

// Statuses: 1xx condition not met, 2xx not applied and may be repeated, 3xx
// outcome unknown, 4xx error of the caller, 5xx fatal.
const (
	Held          Status = C.HF_HELD
	Conflict      Status = C.HF_CONFLICT
	NotFound      Status = C.HF_NOT_FOUND
	Lost          Status = C.HF_LOST
	Timeout       Status = C.HF_TIMEOUT
	Expired       Status = C.HF_EXPIRED
	Cancelled     Status = C.HF_CANCELLED
	Unavailable   Status = C.HF_UNAVAILABLE
	Full          Status = C.HF_FULL
	Indeterminate Status = C.HF_INDETERMINATE
	Invalid       Status = C.HF_INVALID
	Unsupported   Status = C.HF_UNSUPPORTED
	Denied        Status = C.HF_DENIED
	WrongType     Status = C.HF_WRONG_TYPE
	Script        Status = C.HF_SCRIPT
	NoMemory      Status = C.HF_NO_MEMORY
	Corrupt       Status = C.HF_CORRUPT
	System        Status = C.HF_SYSTEM

	statusOK Status = C.HF_OK
)

func (s Status) Error() string {
	return C.GoString(C.hf_status_text(C.hf_status(s)))
}

// Error is why a call failed.
type Error struct {
	Status  Status
	Message string
	Errno   int // that caused it, or 0
}

func (e *Error) Error() string { return e.Message }

// Is makes errors.Is(err, holdfast.Timeout) work.
func (e *Error) Is(target error) bool {
	status, ok := target.(Status)
	return ok && status == e.Status
}

// errorOf returns nil for HF_OK and for the outcomes.
func errorOf(status C.hf_status, err *C.hf_error, outcomes ...Status) error {
	got := Status(status)
	if got == statusOK {
		return nil
	}
	for _, outcome := range outcomes {
		if got == outcome {
			return nil
		}
	}
	return &Error{got, C.GoString(&err.message[0]), int(err.sys_errno)}
}

func newError() *C.hf_error {
	return &C.hf_error{struct_size: C.sizeof_hf_error}
}

// Forever is a wait without a limit.
const Forever time.Duration = math.MaxInt64

func ms(d time.Duration) C.int64_t {
	switch {
	case d == Forever:
		return C.int64_t(C.HF_FOREVER)
	case d <= 0:
		return C.int64_t(d / time.Millisecond)
	}
	return C.int64_t((d + time.Millisecond - 1) / time.Millisecond)
}

// view points to text for the length of a call; the caller keeps it alive.
func view(text []byte) C.hf_bytes {
	return C.hf_bytes{data: unsafe.Pointer(unsafe.SliceData(text)),
		size: C.size_t(len(text))}
}

func text(s string) C.hf_bytes {
	return C.hf_bytes{data: unsafe.Pointer(unsafe.StringData(s)),
		size: C.size_t(len(s))}
}

// take returns what a call has allocated, and frees it; nil: no value.
func take(buffer *C.hf_buffer) []byte {
	if buffer.data == nil {
		return nil
	}
	taken := make([]byte, int(buffer.size))
	copy(taken, unsafe.Slice((*byte)(buffer.data), len(taken)))
	C.hf_buffer_free(buffer)
	return taken
}

// Client is an open store, shared by all goroutines.
type Client struct {
	raw *C.hf_client
}

// Open opens a store; see hf_client_open() for URLs. "": $HOLDFAST_STORE, else
// this user's memory.
func Open(url string) (*Client, error) {
	err := newError()
	name := C.CString(url)
	defer C.free(unsafe.Pointer(name))
	client := &Client{}
	status := C.hf_client_open(name, nil, &client.raw, err)
	return client, errorOf(status, err)
}

// Close closes it. Locks that are held expire by themselves; their waiters get
// Cancelled.
func (c *Client) Close() {
	C.hf_client_close(c.raw)
	c.raw = nil
}

// ------------------------------------------------------------------- values

// SetOptions are those of SET of Redis.
type SetOptions struct {
	TTL       time.Duration // 0: it does not expire
	ExpiresAt time.Time     // by the store's clock
	NX, XX    bool          // only if the key does not exist; only if it does
	KeepTTL   bool
}

func (opts SetOptions) raw() C.hf_value_set_options {
	raw := C.hf_value_set_options{struct_size: C.sizeof_hf_value_set_options,
		ttl_ms: ms(opts.TTL)}
	if !opts.ExpiresAt.IsZero() {
		raw.expires_unix_ms = C.int64_t(opts.ExpiresAt.UnixMilli())
	}
	for _, flag := range []struct {
		given bool
		bit   C.uint32_t
	}{{opts.NX, C.HF_SET_NX}, {opts.XX, C.HF_SET_XX},
		{opts.KeepTTL, C.HF_SET_KEEPTTL}} {
		if flag.given {
			raw.flags |= flag.bit
		}
	}
	return raw
}

// Set sets a value. False: NX or XX refused it. A call that has begun is not
// ended by ctx: it returns within the client's request time.
func (c *Client) Set(ctx context.Context, key string, value []byte,
	opts SetOptions) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	raw := opts.raw()
	err := newError()
	status := C.hf_value_set(c.raw, text(key), view(value), &raw, nil, err)
	return Status(status) == statusOK,
		errorOf(status, err, Conflict, NotFound)
}

// Get reads a value. Nil: no such key.
func (c *Client) Get(ctx context.Context, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var value C.hf_buffer
	err := newError()
	status := C.hf_value_get(c.raw, text(key), &value, err)
	return take(&value), errorOf(status, err, NotFound)
}

// Delete deletes a value. False: no such key.
func (c *Client) Delete(ctx context.Context, key string) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	err := newError()
	status := C.hf_value_delete(c.raw, text(key), err)
	return Status(status) == statusOK, errorOf(status, err, NotFound)
}

// CompareAndSet replaces a value only if it is expected; nil: only if the key
// does not exist. If it is another one, that is returned. The key keeps its
// time to live if ttl is 0.
func (c *Client) CompareAndSet(ctx context.Context, key string,
	expected, value []byte, ttl time.Duration) (bool, []byte, error) {
	if err := ctx.Err(); err != nil {
		return false, nil, err
	}
	var current C.hf_buffer
	err := newError()
	status := C.go_value_cas(c.raw, text(key), C.bool(expected != nil),
		view(expected), view(value), ms(ttl), &current, err)
	return Status(status) == statusOK, take(&current),
		errorOf(status, err, Conflict, NotFound)
}

// Add adds to a counter and returns the result.
func (c *Client) Add(ctx context.Context, key string, delta int64) (int64,
	error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	var value C.int64_t
	err := newError()
	status := C.hf_value_add(c.raw, text(key), C.int64_t(delta), nil, &value,
		err)
	return int64(value), errorOf(status, err)
}

// PutFenced sets a value with the fencing token of the lock that protects it.
// False: a newer holder has written.
func (c *Client) PutFenced(ctx context.Context, key string, value []byte,
	token uint64) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	err := newError()
	status := C.hf_value_put_fenced(c.raw, text(key), view(value),
		C.uint64_t(token), nil, nil, err)
	return Status(status) == statusOK, errorOf(status, err, Conflict)
}

// What PutRevised may expect, other than a revision.
const (
	RevisionNone uint64 = 0              // the key must not exist
	RevisionAny  uint64 = math.MaxUint64 // whatever it holds, or nothing
)

// GetRevised reads a value and its revision, a number that never comes again.
// Nil: no such key.
func (c *Client) GetRevised(ctx context.Context, key string) ([]byte, uint64,
	error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	var value C.hf_buffer
	var revision C.uint64_t
	err := newError()
	status := C.hf_value_get_revised(c.raw, text(key), &value, &revision, err)
	return take(&value), uint64(revision), errorOf(status, err, NotFound)
}

// PutRevised sets a value if it has the expected revision, and returns the new
// one. False: it has the revision that is returned; 0: there is no such key.
func (c *Client) PutRevised(ctx context.Context, key string, value []byte,
	expected uint64, opts SetOptions) (bool, uint64, error) {
	if err := ctx.Err(); err != nil {
		return false, 0, err
	}
	raw := opts.raw()
	var revision C.uint64_t
	err := newError()
	status := C.hf_value_put_revised(c.raw, text(key), view(value),
		C.uint64_t(expected), &raw, &revision, err)
	return Status(status) == statusOK, uint64(revision),
		errorOf(status, err, Conflict, NotFound)
}

// DeleteRevised deletes a value if it has the expected revision, and returns
// that of the deletion. False: as of PutRevised.
func (c *Client) DeleteRevised(ctx context.Context, key string,
	expected uint64) (bool, uint64, error) {
	if err := ctx.Err(); err != nil {
		return false, 0, err
	}
	var revision C.uint64_t
	err := newError()
	status := C.hf_value_delete_revised(c.raw, text(key),
		C.uint64_t(expected), &revision, err)
	return Status(status) == statusOK, uint64(revision),
		errorOf(status, err, Conflict, NotFound)
}

// ---------------------------------------------------------------- timelines

// Item is an item of a timeline.
type Item struct {
	ID      string
	Payload []byte
	At      time.Time
}

// TimelineAdd adds an item that lives for ttl, or replaces the one with its id.
// A zero time is now.
func (c *Client) TimelineAdd(ctx context.Context, key, id string,
	payload []byte, ttl time.Duration, at time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	opts := C.hf_timeline_add_options{
		struct_size: C.sizeof_hf_timeline_add_options}
	if !at.IsZero() {
		opts.at_ms = C.int64_t(at.UnixMilli())
	}
	err := newError()
	status := C.hf_timeline_add(c.raw, text(key), text(id), view(payload),
		ms(ttl), &opts, err)
	return errorOf(status, err)
}

// TimelineDue returns the oldest items up to a time, at most limit.
func (c *Client) TimelineDue(ctx context.Context, key string, until time.Time,
	limit int) ([]Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var page C.hf_timeline_items
	err := newError()
	status := C.hf_timeline_range(c.raw, text(key), 0,
		C.int64_t(until.UnixMilli()), C.size_t(limit), &page, err)
	return takeItems(&page), errorOf(status, err)
}

// TimelineGet reads an item. Nil: there is none, or it has expired.
func (c *Client) TimelineGet(ctx context.Context, key, id string) (*Item,
	error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var found C.hf_timeline_items
	err := newError()
	status := C.hf_timeline_get(c.raw, text(key), text(id), &found, err)
	items := takeItems(&found)
	if len(items) == 0 {
		return nil, errorOf(status, err, NotFound)
	}
	return &items[0], nil
}

func takeItems(raw *C.hf_timeline_items) []Item {
	items := make([]Item, 0, int(raw.count))
	for _, one := range unsafe.Slice(raw.items, int(raw.count)) {
		items = append(items, Item{
			ID: string(C.GoBytes(one.id.data, C.int(one.id.size))),
			Payload: C.GoBytes(one.payload.data,
				C.int(one.payload.size)),
			At: time.UnixMilli(int64(one.at_ms))})
	}
	C.hf_timeline_items_free(raw)
	return items
}

// ------------------------------------------------------------- transactions

// Txn has operations that run together, all of them or none, if all conditions
// hold. The first error of a method is returned by Exec.
type Txn struct {
	client *Client
	raw    *C.hf_txn
	err    error
}

// Txn begins a transaction. Nothing is sent before Exec.
func (c *Client) Txn() *Txn {
	txn := &Txn{client: c}
	err := newError()
	txn.note(C.hf_txn_new(c.raw, nil, &txn.raw, err), err)
	return txn
}

func (t *Txn) note(status C.hf_status, err *C.hf_error) {
	if t.err == nil {
		t.err = errorOf(status, err)
	}
}

// IfExists adds a condition: the key exists.
func (t *Txn) IfExists(key string) {
	err := newError()
	t.note(C.hf_txn_if_exists(t.raw, text(key), err), err)
}

// IfValue adds a condition: the key holds this value.
func (t *Txn) IfValue(key string, value []byte) {
	err := newError()
	t.note(C.hf_txn_if_value(t.raw, text(key), view(value), err), err)
}

// IfHeld adds a condition: the lease is held when the transaction is executed.
// The hold may be released before. If it was lost already, Exec returns Lost.
func (t *Txn) IfHeld(hold *Hold) {
	err := newError()
	t.note(C.hf_txn_if_held(t.raw, hold.raw, err), err)
}

// IfToken adds a condition: the lock is held with this token, which its holder
// has passed on.
func (t *Txn) IfToken(name string, token uint64) {
	err := newError()
	t.note(C.hf_txn_if_token(t.raw, text(name), C.uint64_t(token), err), err)
}

// IfFence adds a condition: no fenced write of the key with a higher token came
// before.
func (t *Txn) IfFence(key string, token uint64) {
	err := newError()
	t.note(C.hf_txn_if_fence(t.raw, text(key), C.uint64_t(token), err), err)
}

// Set queues Client.Set without options.
func (t *Txn) Set(key string, value []byte) {
	err := newError()
	t.note(C.go_txn_set(t.client.raw, t.raw, text(key), view(value), err), err)
}

// PutFenced queues Client.PutFenced.
func (t *Txn) PutFenced(key string, value []byte, token uint64) {
	err := newError()
	t.note(C.go_txn_put_fenced(t.client.raw, t.raw, text(key), view(value),
		C.uint64_t(token), err), err)
}

// Add queues Client.Add.
func (t *Txn) Add(key string, delta int64) {
	err := newError()
	t.note(C.go_txn_add(t.client.raw, t.raw, text(key), C.int64_t(delta),
		err), err)
}

// TimelineRemove queues the removal of an item.
func (t *Txn) TimelineRemove(key, id string) {
	err := newError()
	t.note(C.go_txn_timeline_remove(t.client.raw, t.raw, text(key), text(id),
		err), err)
}

// Exec executes it, once, and frees it. False: a condition does not hold, and
// nothing was changed.
func (t *Txn) Exec(ctx context.Context) (bool, error) {
	defer C.hf_txn_free(t.raw)
	if t.err == nil {
		t.err = ctx.Err()
	}
	if t.err != nil {
		return false, t.err
	}
	err := newError()
	status := C.hf_txn_exec(t.raw, err)
	return Status(status) == statusOK, errorOf(status, err, Conflict)
}
