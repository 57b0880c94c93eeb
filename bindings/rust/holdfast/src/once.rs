// SPDX-License-Identifier: Apache-2.0
//! Work that is done once, with a result that is kept.

use crate::lock::Kind;
use crate::{instant, millis, owned, run, sys, view, Client, Hold, Lock, Result, Status};
use std::ffi::CStr;
use std::ptr;
use std::time::{Duration, SystemTime};

/// What a piece of work is.
#[derive(Clone, Default)]
pub struct OnceOptions {
    /// Of the request: with another one the key is `INVALID`.
    pub fingerprint: Vec<u8>,
    /// How long the record is kept; `None`: 24 h, or twice the period.
    pub keep: Option<Duration>,
    /// It is done once in each; `None`: once.
    pub period: Option<Duration>,
    /// How long before a multiple of the period.
    pub early: Option<Duration>,
    /// Claim work in doubt, too: its effect may happen a second time.
    pub retry_doubt: bool,
}

impl OnceOptions {
    /// It must not outlive `self`.
    pub(crate) fn raw(&self) -> sys::hf_once_options {
        let mut raw: sys::hf_once_options = sys::cleared();

        raw.flags = u32::from(self.retry_doubt) * sys::HF_ONCE_RETRY_DOUBT;
        raw.fingerprint = view(&self.fingerprint);
        raw.keep_ms = self.keep.map_or(0, millis);
        raw.period_ms = self.period.map_or(0, millis);
        raw.early_ms = self.early.map_or(0, millis);
        raw
    }
}

/// Work that is done once.
#[derive(Clone)]
pub struct Once {
    lock: Lock,
}

/// The result of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnceResult {
    /// A number of the caller's.
    pub status: i32,
    pub result: Vec<u8>,
}

/// What a claim has come to.
pub enum Claimed {
    /// The work is the caller's to do.
    Ours(Claim),
    /// It was done before.
    Before(OnceResult),
}

/// The claim of a piece of work. One that is dropped, and was not completed,
/// says that the work has failed and may be done again.
pub struct Claim {
    hold: Hold,
}

impl Claim {
    /// The lease: whether it is held, and the fencing token.
    pub fn hold(&self) -> &Hold {
        &self.hold
    }

    /// Store the result, in the step that ends the claim. `LOST`, `EXPIRED`:
    /// another has claimed the work, or the record is gone. After
    /// `UNAVAILABLE`, `FULL` and `INDETERMINATE` it may be repeated.
    pub fn complete(&mut self, status: i32, result: impl AsRef<[u8]>) -> Result<()> {
        run(&[], |err| unsafe {
            sys::hf_once_complete(self.hold.raw, status, view(result.as_ref()), err)
        })
        .map(drop)
    }

    /// The work has failed, and may be done again.
    pub fn release(self) -> Result<()> {
        self.hold.release()
    }
}

/// How far work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnceState {
    Claimed,
    Done,
    /// A claim ended without a result.
    Doubt,
}

/// The record of a piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnceInfo {
    pub state: OnceState,
    /// Of a claim its lease, else of the record.
    pub remaining: Duration,
    pub waiters: i64,
    /// `None`: there is no period.
    pub tick: Option<SystemTime>,
    /// Of a claim.
    pub token: u64,
    /// Of a claim.
    pub owner: String,
    /// Of work that is done.
    pub result: Option<OnceResult>,
}

impl Client {
    /// The work of a key.
    pub fn once(&self, key: impl AsRef<[u8]>) -> Once {
        self.once_with(key, OnceOptions::default())
    }

    pub fn once_with(&self, key: impl AsRef<[u8]>, options: OnceOptions) -> Once {
        Once {
            lock: self.lock_of(Kind::Once(options), key.as_ref()),
        }
    }
}

impl Once {
    /// Claim the work, or wait for its result, without a limit. `EXPIRED`: it is
    /// in doubt.
    pub fn claim(&self) -> Result<Claimed> {
        self.claimed(sys::HF_FOREVER)
    }

    /// The same. `TIMEOUT`: another has had it for so long.
    pub fn claim_within(&self, wait: Duration) -> Result<Claimed> {
        self.claimed(millis(wait))
    }

    fn claimed(&self, wait_ms: i64) -> Result<Claimed> {
        let (hold, status) = self.lock.acquired(wait_ms, &[Status::CONFLICT])?;
        let (mut number, mut result) = (0, view(&[]));

        if status == Status::OK {
            return Ok(Claimed::Ours(Claim { hold }));
        }
        run(&[], |err| unsafe {
            sys::hf_once_result(hold.raw, &mut number, &mut result, err)
        })?;
        Ok(Claimed::Before(OnceResult {
            status: number,
            result: owned(result),
        }))
    }

    /// The record; `None`: there is none.
    pub fn inspect(&self) -> Result<Option<OnceInfo>> {
        let mut raw: sys::hf_once_info = sys::cleared();
        let status = run(&[Status::NOT_FOUND], |err| unsafe {
            sys::hf_once_inspect(self.lock.client.raw(), view(&self.lock.name), &mut raw, err)
        })?;

        if status != Status::OK {
            return Ok(None);
        }
        let info = info_of(&raw);
        unsafe { sys::hf_once_info_free(&mut raw) };
        Ok(Some(info))
    }

    /// Delete the record, in whatever state: the work is new. `false`: there was
    /// none.
    pub fn delete(&self) -> Result<bool> {
        run(&[Status::NOT_FOUND], |err| unsafe {
            sys::hf_once_delete(self.lock.client.raw(), view(&self.lock.name), err)
        })
        .map(|status| status == Status::OK)
    }
}

fn info_of(raw: &sys::hf_once_info) -> OnceInfo {
    let state = match raw.state {
        sys::HF_ONCE_CLAIMED => OnceState::Claimed,
        sys::HF_ONCE_DONE => OnceState::Done,
        _ => OnceState::Doubt,
    };
    let result = sys::hf_bytes {
        data: raw.result.data,
        size: raw.result.size,
    };
    // It ends with NUL.
    let owner = unsafe { CStr::from_ptr(ptr::addr_of!(raw.owner).cast()) };

    OnceInfo {
        state,
        remaining: Duration::from_millis(raw.remaining_ms.unsigned_abs()),
        waiters: raw.waiters,
        tick: (raw.tick_ms != 0).then(|| instant(raw.tick_ms)),
        token: raw.token,
        owner: owner.to_string_lossy().into_owned(),
        result: (state == OnceState::Done).then(|| OnceResult {
            status: raw.status,
            result: owned(result),
        }),
    }
}

crate::lock::lease_options!(Once);
