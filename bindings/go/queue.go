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

// Queue is a work queue. Each job is done at least once, and at any time at most
// one worker has a valid lease on it.
type Queue struct {
	lock *Lock
}

// Queue returns the queue of a name; the options are those of the leases on
// jobs.
func (c *Client) Queue(name string, opts LockOptions) *Queue {
	return &Queue{&Lock{c, jobs, name, 0, opts, nil}}
}

// PutOptions are those of Put.
type PutOptions struct {
	ID       string        // "": a random one
	Delay    time.Duration // no one takes it before
	Priority int           // 0..9; the highest is taken first
	Attempts int           // then it is a dead letter; 0: no limit
	Remember time.Duration // how long its id is refused, even when it is done
	Group    string        // of which one job at a time is taken; "": none
}

// Put puts a job. False: the queue has one with that id, or remembers it.
func (q *Queue) Put(ctx context.Context, payload []byte,
	opts PutOptions) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	group := C.CBytes([]byte(opts.Group))
	defer C.free(group)
	raw := C.hf_queue_options{struct_size: C.sizeof_hf_queue_options,
		delay_ms: ms(opts.Delay), priority: C.int64_t(opts.Priority),
		attempts: C.int64_t(opts.Attempts), remember_ms: ms(opts.Remember),
		group: C.hf_bytes{data: group, size: C.size_t(len(opts.Group))}}
	err := newError()
	status := C.hf_queue_put(q.lock.client.raw, text(q.lock.name),
		text(opts.ID), view(payload), &raw, err)
	return Status(status) == statusOK, errorOf(status, err, Conflict)
}

// JobInfo is a job, as it was when it was taken or listed.
type JobInfo struct {
	ID       string
	Payload  []byte
	Group    string // "": none
	Attempt  int    // how often it was taken, this time included
	Attempts int    // how often at most; 0: no limit
	Priority int
	PutAt    time.Time
}

func jobOf(raw *C.hf_job) JobInfo {
	return JobInfo{stringOf(raw.id),
		C.GoBytes(raw.payload.data, C.int(raw.payload.size)),
		stringOf(raw.group), int(raw.attempt), int(raw.attempts),
		int(raw.priority), time.UnixMilli(int64(raw.put_ms))}
}

// Backoff is how long the next attempt should wait: first, doubled for each
// attempt after the first, up to most.
func (i JobInfo) Backoff(first, most time.Duration) time.Duration {
	raw := C.hf_job{struct_size: C.sizeof_hf_job, attempt: C.int64_t(i.Attempt)}
	return time.Duration(C.hf_queue_backoff(&raw, ms(first), ms(most))) *
		time.Millisecond
}

// Job is a job that was taken, under a lease, until one of its methods ends it.
// Release puts it back in its place, as if it had not been taken, and does
// nothing after another end, so it can be deferred. An end is Expired if the
// lease had ended and the job is back in the queue, or another worker's.
type Job struct {
	*Hold
	JobInfo
}

// Take waits until it has a job, or ctx ends, whose error it then returns.
func (q *Queue) Take(ctx context.Context) (*Job, error) {
	return q.take(ctx, Forever)
}

// TryTake does not wait. Nil without an error: no job is ready.
func (q *Queue) TryTake(ctx context.Context) (*Job, error) {
	job, err := q.take(ctx, 0)
	if errors.Is(err, Timeout) {
		err = nil
	}
	return job, err
}

func (q *Queue) take(ctx context.Context, wait time.Duration) (*Job, error) {
	hold, err := q.lock.acquire(ctx, wait)
	if err != nil {
		return nil, err
	}
	job := &Job{Hold: hold}
	return job, job.read()
}

func (j *Job) read() error {
	raw := C.hf_job{struct_size: C.sizeof_hf_job}
	err := newError()
	status := C.hf_queue_job(j.raw, &raw, err)
	if Status(status) == statusOK {
		j.JobInfo = jobOf(&raw)
	}
	return errorOf(status, err)
}

func (j *Job) end(call func(*C.hf_error) C.hf_status) error {
	defer j.free()
	err := newError()
	return errorOf(call(err), err)
}

// Done says that the job is done: it is gone from the queue.
func (j *Job) Done() error {
	return j.end(func(err *C.hf_error) C.hf_status {
		return C.hf_queue_done(j.raw, err)
	})
}

// Again says that the job is to be tried again after a delay; after the last
// attempt it is a dead letter.
func (j *Job) Again(delay time.Duration) error {
	return j.end(func(err *C.hf_error) C.hf_status {
		return C.hf_queue_again(j.raw, ms(delay), err)
	})
}

// Defer puts the job back for a time, as if it had not been taken.
func (j *Job) Defer(delay time.Duration) error {
	return j.end(func(err *C.hf_error) C.hf_status {
		return C.hf_queue_defer(j.raw, ms(delay), err)
	})
}

// Fail makes the job a dead letter, whatever attempts are left.
func (j *Job) Fail() error {
	return j.end(func(err *C.hf_error) C.hf_status {
		return C.hf_queue_fail(j.raw, err)
	})
}

// JobOutcome is how a job ends, for Next.
type JobOutcome C.hf_queue_outcome

// Outcomes, as by the methods of these names.
const (
	JobDone  JobOutcome = C.HF_QUEUE_DONE
	JobAgain JobOutcome = C.HF_QUEUE_AGAIN
	JobDefer JobOutcome = C.HF_QUEUE_DEFER
	JobFail  JobOutcome = C.HF_QUEUE_FAIL
)

// Next ends the job and takes the next one into the same Job, in one request, or
// waits for one until ctx ends: then the job was ended, and its error is
// returned. The delay is for JobAgain and JobDefer. After an error there is no
// job: take one by Queue.Take.
func (j *Job) Next(ctx context.Context, outcome JobOutcome,
	delay time.Duration) error {
	err := j.wait(ctx, func(err *C.hf_error) C.hf_status {
		return C.hf_queue_next(j.raw, C.hf_queue_outcome(outcome), ms(delay),
			ms(Forever), err)
	})
	if err == nil {
		err = j.read()
	}
	if err != nil {
		j.free()
	}
	return err
}

// QueueInfo says how many jobs are in which state.
type QueueInfo struct {
	Ready, Taken, Delayed int
	Behind                int // behind another of their group
	Dead                  int
	Remembered            int // ids of jobs that are done
	Waiters               int // workers that wait, one for each client
	Paused                bool
}

// Inspect looks at the queue.
func (q *Queue) Inspect(ctx context.Context) (QueueInfo, error) {
	if err := ctx.Err(); err != nil {
		return QueueInfo{}, err
	}
	raw := C.hf_queue_info{struct_size: C.sizeof_hf_queue_info}
	err := newError()
	status := C.hf_queue_inspect(q.lock.client.raw, text(q.lock.name), &raw,
		err)
	return QueueInfo{int(raw.ready), int(raw.taken), int(raw.delayed),
		int(raw.behind), int(raw.dead), int(raw.remembered),
		int(raw.waiters), bool(raw.paused)}, errorOf(status, err)
}

// JobState is in which state a job is.
type JobState C.hf_queue_state

// States.
const (
	JobReady   JobState = C.HF_QUEUE_READY
	JobTaken   JobState = C.HF_QUEUE_TAKEN
	JobDelayed JobState = C.HF_QUEUE_DELAYED
	JobBehind  JobState = C.HF_QUEUE_BEHIND // another of its group
	JobDead    JobState = C.HF_QUEUE_DEAD
)

// List returns the jobs in one state, at most limit, behind offset others. They
// are not taken by this.
func (q *Queue) List(ctx context.Context, state JobState, offset,
	limit int) ([]JobInfo, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var raw C.hf_queue_jobs
	err := newError()
	status := C.hf_queue_list(q.lock.client.raw, text(q.lock.name),
		C.hf_queue_state(state), C.int64_t(offset), C.int64_t(limit), &raw,
		err)
	found := make([]JobInfo, 0, int(raw.count))
	listed := unsafe.Slice(raw.jobs, int(raw.count))
	for i := range listed {
		found = append(found, jobOf(&listed[i]))
	}
	C.hf_queue_jobs_free(&raw)
	return found, errorOf(status, err)
}

// Pause gives no job to anyone, until Resume.
func (q *Queue) Pause(ctx context.Context) error {
	return q.setPaused(ctx, true)
}

// Resume gives jobs again.
func (q *Queue) Resume(ctx context.Context) error {
	return q.setPaused(ctx, false)
}

func (q *Queue) setPaused(ctx context.Context, paused bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := newError()
	return errorOf(C.hf_queue_pause(q.lock.client.raw, text(q.lock.name),
		C.bool(paused), err), err)
}

// Revive moves a dead letter back. False: none has the id.
func (q *Queue) Revive(ctx context.Context, id string) (bool, error) {
	moved, err := q.revive(ctx, id, 1)
	return moved == 1, err
}

// ReviveOldest moves back those that are dead letters for longest, at most
// limit, and returns how many.
func (q *Queue) ReviveOldest(ctx context.Context, limit int) (int, error) {
	return q.revive(ctx, "", limit)
}

func (q *Queue) revive(ctx context.Context, id string, limit int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	var moved C.int64_t
	err := newError()
	status := C.hf_queue_revive(q.lock.client.raw, text(q.lock.name), text(id),
		C.int64_t(limit), &moved, err)
	return int(moved), errorOf(status, err, NotFound)
}
