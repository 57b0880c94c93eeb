// SPDX-License-Identifier: Apache-2.0
//! Work queues, and the guards of jobs.

use crate::lock::Kind;
use crate::{instant, millis, owned, run, sys, view, Client, Hold, Lock, Result, Status};
use std::ops::Deref;
use std::ptr;
use std::time::{Duration, SystemTime};

/// A work queue. Each job is done at least once, and at any time at most one
/// worker has a valid lease on it.
#[derive(Clone)]
pub struct Queue {
    lock: Lock,
}

/// Of [`Queue::put_with()`].
#[derive(Clone, Default)]
pub struct PutOptions {
    /// Empty: a random one.
    pub id: Vec<u8>,
    /// No one takes it before.
    pub delay: Duration,
    /// 0 to 9; the highest is taken first.
    pub priority: u8,
    /// Then it is a dead letter; 0: no limit.
    pub attempts: u32,
    /// How long its id is refused, even after it is done; 0: until it is done.
    pub remember: Duration,
    /// Of which one job at a time is taken; empty: none.
    pub group: Vec<u8>,
}

/// A job, as it was when it was taken or listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobInfo {
    pub id: Vec<u8>,
    pub payload: Vec<u8>,
    /// Empty: none.
    pub group: Vec<u8>,
    /// How often it was taken, this time included.
    pub attempt: i64,
    /// How often at most; 0: no limit.
    pub attempts: i64,
    pub priority: i64,
    /// When it was put, by the store's clock.
    pub put: SystemTime,
}

impl JobInfo {
    fn of(raw: &sys::hf_job) -> JobInfo {
        JobInfo {
            id: owned(raw.id),
            payload: owned(raw.payload),
            group: owned(raw.group),
            attempt: raw.attempt,
            attempts: raw.attempts,
            priority: raw.priority,
            put: instant(raw.put_ms),
        }
    }

    /// How long the next attempt should wait: `first`, doubled for each attempt
    /// after the first, up to `most`.
    pub fn backoff(&self, first: Duration, most: Duration) -> Duration {
        let mut raw: sys::hf_job = sys::cleared();

        raw.attempt = self.attempt;
        let ms = unsafe { sys::hf_queue_backoff(&raw, millis(first), millis(most)) };
        Duration::from_millis(ms.unsigned_abs())
    }
}

/// How a job ends, for [`Job::next()`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is gone from the queue.
    Done,
    /// Try it again after a delay; after the last attempt it is a dead letter.
    Again(Duration),
    /// Not now: it goes back as if it had not been taken.
    Defer(Duration),
    /// It is a dead letter, whatever attempts are left.
    Fail,
}

/// A job that was taken, under a lease, until it is ended; one that is dropped
/// goes back to its place, as if it had not been taken. An end is `EXPIRED` if
/// the lease had ended and the job is back in the queue, or another worker's.
pub struct Job {
    hold: Hold,
    info: JobInfo,
}

impl Deref for Job {
    type Target = JobInfo;

    fn deref(&self) -> &JobInfo {
        &self.info
    }
}

impl Job {
    fn of(hold: Hold) -> Result<Job> {
        let mut raw: sys::hf_job = sys::cleared();

        run(&[], |err| unsafe {
            sys::hf_queue_job(hold.raw, &mut raw, err)
        })?;
        let info = JobInfo::of(&raw);
        Ok(Job { hold, info })
    }

    /// The lease: whether it is held, and the fencing token.
    pub fn hold(&self) -> &Hold {
        &self.hold
    }

    /// It is gone from the queue.
    pub fn done(self) -> Result<()> {
        run(&[], |err| unsafe { sys::hf_queue_done(self.hold.raw, err) }).map(drop)
    }

    /// Try it again after a delay; after the last attempt it is a dead letter.
    pub fn again(self, delay: Duration) -> Result<()> {
        run(&[], |err| unsafe {
            sys::hf_queue_again(self.hold.raw, millis(delay), err)
        })
        .map(drop)
    }

    /// Not now: it goes back as if it had not been taken.
    pub fn defer(self, delay: Duration) -> Result<()> {
        run(&[], |err| unsafe {
            sys::hf_queue_defer(self.hold.raw, millis(delay), err)
        })
        .map(drop)
    }

    /// It is a dead letter, whatever attempts are left.
    pub fn fail(self) -> Result<()> {
        run(&[], |err| unsafe { sys::hf_queue_fail(self.hold.raw, err) }).map(drop)
    }

    /// It goes back to its place, and this says whether it was held until then.
    pub fn release(self) -> Result<()> {
        self.hold.release()
    }

    /// End it and take the next one, in one request; wait without a limit.
    /// After `EXPIRED` take one by [`Queue::take()`].
    pub fn next(self, outcome: Outcome) -> Result<Job> {
        self.end(outcome, sys::HF_FOREVER, &[]).map(|(job, _)| job)
    }

    /// The same; `None`: it was ended, and no other was ready in time.
    pub fn next_within(self, outcome: Outcome, wait: Duration) -> Result<Option<Job>> {
        let (job, status) = self.end(outcome, millis(wait), &[Status::TIMEOUT])?;

        Ok((status == Status::OK).then_some(job))
    }

    fn end(self, outcome: Outcome, wait_ms: i64, outcomes: &[Status]) -> Result<(Job, Status)> {
        let (how, delay) = match outcome {
            Outcome::Done => (sys::HF_QUEUE_DONE, Duration::ZERO),
            Outcome::Again(delay) => (sys::HF_QUEUE_AGAIN, delay),
            Outcome::Defer(delay) => (sys::HF_QUEUE_DEFER, delay),
            Outcome::Fail => (sys::HF_QUEUE_FAIL, Duration::ZERO),
        };
        let status = run(outcomes, |err| unsafe {
            sys::hf_queue_next(self.hold.raw, how, millis(delay), wait_ms, err)
        })?;

        Ok((Job::of(self.hold)?, status))
    }
}

/// In which state a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    Ready,
    Taken,
    Delayed,
    /// Behind another of its group.
    Behind,
    Dead,
}

/// How many jobs are in which state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueInfo {
    pub ready: i64,
    pub taken: i64,
    pub delayed: i64,
    /// Behind another of their group.
    pub behind: i64,
    pub dead: i64,
    /// Ids of jobs that are done.
    pub remembered: i64,
    /// Workers that wait, one for each client.
    pub waiters: i64,
    pub paused: bool,
}

impl Client {
    /// The queue of a name.
    pub fn queue(&self, name: impl AsRef<[u8]>) -> Queue {
        Queue {
            lock: self.lock_of(Kind::Jobs, name.as_ref()),
        }
    }
}

impl Queue {
    /// Put a job.
    pub fn put(&self, payload: impl AsRef<[u8]>) -> Result<()> {
        self.put_with(payload, &PutOptions::default()).map(drop)
    }

    /// Put a job. `false`: the queue has one with that id, or remembers it.
    pub fn put_with(&self, payload: impl AsRef<[u8]>, options: &PutOptions) -> Result<bool> {
        let mut raw: sys::hf_queue_options = sys::cleared();

        raw.delay_ms = millis(options.delay);
        raw.priority = options.priority.into();
        raw.attempts = options.attempts.into();
        raw.remember_ms = millis(options.remember);
        raw.group = view(&options.group);
        run(&[Status::CONFLICT], |err| unsafe {
            sys::hf_queue_put(
                self.client(),
                self.name(),
                view(&options.id),
                view(payload.as_ref()),
                &raw,
                err,
            )
        })
        .map(|status| status == Status::OK)
    }

    /// Wait for a job without a limit.
    pub fn take(&self) -> Result<Job> {
        Job::of(self.lock.acquired(sys::HF_FOREVER, &[])?.0)
    }

    /// Wait for a job. `None`: none was ready in time.
    pub fn take_within(&self, wait: Duration) -> Result<Option<Job>> {
        let (hold, status) = self.lock.acquired(millis(wait), &[Status::TIMEOUT])?;

        (status == Status::OK).then(|| Job::of(hold)).transpose()
    }

    pub fn inspect(&self) -> Result<QueueInfo> {
        let mut raw: sys::hf_queue_info = sys::cleared();

        run(&[], |err| unsafe {
            sys::hf_queue_inspect(self.client(), self.name(), &mut raw, err)
        })?;
        Ok(QueueInfo {
            ready: raw.ready,
            taken: raw.taken,
            delayed: raw.delayed,
            behind: raw.behind,
            dead: raw.dead,
            remembered: raw.remembered,
            waiters: raw.waiters,
            paused: raw.paused,
        })
    }

    /// The jobs in one state, at most `limit`, behind `offset` others. They are
    /// not taken by this.
    pub fn list(&self, state: JobState, offset: u32, limit: u32) -> Result<Vec<JobInfo>> {
        let mut raw = sys::hf_queue_jobs {
            jobs: ptr::null_mut(),
            count: 0,
        };
        let state = match state {
            JobState::Ready => sys::HF_QUEUE_READY,
            JobState::Taken => sys::HF_QUEUE_TAKEN,
            JobState::Delayed => sys::HF_QUEUE_DELAYED,
            JobState::Behind => sys::HF_QUEUE_BEHIND,
            JobState::Dead => sys::HF_QUEUE_DEAD,
        };

        run(&[], |err| unsafe {
            sys::hf_queue_list(
                self.client(),
                self.name(),
                state,
                offset.into(),
                limit.into(),
                &mut raw,
                err,
            )
        })?;
        let found = (0..raw.count)
            .map(|i| JobInfo::of(unsafe { &*raw.jobs.add(i) }))
            .collect();
        unsafe { sys::hf_queue_jobs_free(&mut raw) };
        Ok(found)
    }

    /// Give no job to anyone, until [`Queue::resume()`].
    pub fn pause(&self) -> Result<()> {
        self.set_paused(true)
    }

    pub fn resume(&self) -> Result<()> {
        self.set_paused(false)
    }

    /// Move a dead letter back. `false`: none has the id.
    pub fn revive(&self, id: impl AsRef<[u8]>) -> Result<bool> {
        self.move_back(id.as_ref(), 1).map(|moved| moved == 1)
    }

    /// Move back those that are dead letters for longest, at most `limit`; how
    /// many.
    pub fn revive_oldest(&self, limit: u32) -> Result<i64> {
        self.move_back(&[], limit)
    }

    fn move_back(&self, id: &[u8], limit: u32) -> Result<i64> {
        let mut moved = 0;

        run(&[Status::NOT_FOUND], |err| unsafe {
            sys::hf_queue_revive(
                self.client(),
                self.name(),
                view(id),
                limit.into(),
                &mut moved,
                err,
            )
        })?;
        Ok(moved)
    }

    fn set_paused(&self, paused: bool) -> Result<()> {
        run(&[], |err| unsafe {
            sys::hf_queue_pause(self.client(), self.name(), paused, err)
        })
        .map(drop)
    }

    fn client(&self) -> *mut sys::hf_client {
        self.lock.client.raw()
    }

    fn name(&self) -> sys::hf_bytes {
        view(&self.lock.name)
    }
}

crate::lock::lease_options!(Queue);
