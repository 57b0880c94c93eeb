// SPDX-License-Identifier: Apache-2.0
//! Locks, work queues, values and caches that programs share: on an embedded store
//! without a server, or on Redis and Valkey.
//!
//! Ordinary outcomes are results: `None` for what is not there, `false` for a
//! condition that is not met. What fails is an [`Error`]. Durations are rounded
//! up to milliseconds.

mod cache;
mod lock;
mod members;
mod once;
mod queue;
mod txn;

pub use cache::{CacheOptions, FillError};
pub use lock::{Hold, Lock};
pub use members::{
    Order, RankAddOptions, RankMember, RankPlace, SetAddOptions, SetMember, SetPage, Ttl,
};
pub use once::{Claim, Claimed, Once, OnceInfo, OnceOptions, OnceResult, OnceState};
pub use queue::{Job, JobInfo, JobState, Outcome, PutOptions, Queue, QueueInfo};
pub use txn::Transaction;

use holdfast_sys as sys;
use std::ffi::{CStr, CString};
use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a call returned; the hundreds digit says what to do about it: 1xx
/// condition not met, 2xx not applied and may be repeated, 3xx outcome unknown,
/// 4xx error of the caller, 5xx fatal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Status(pub i32);

impl Status {
    pub const HELD: Status = Status(sys::HF_HELD);
    pub const CONFLICT: Status = Status(sys::HF_CONFLICT);
    pub const NOT_FOUND: Status = Status(sys::HF_NOT_FOUND);
    pub const LOST: Status = Status(sys::HF_LOST);
    pub const TIMEOUT: Status = Status(sys::HF_TIMEOUT);
    pub const EXPIRED: Status = Status(sys::HF_EXPIRED);
    pub const CANCELLED: Status = Status(sys::HF_CANCELLED);
    pub const UNAVAILABLE: Status = Status(sys::HF_UNAVAILABLE);
    pub const FULL: Status = Status(sys::HF_FULL);
    pub const INDETERMINATE: Status = Status(sys::HF_INDETERMINATE);
    pub const INVALID: Status = Status(sys::HF_INVALID);
    pub const UNSUPPORTED: Status = Status(sys::HF_UNSUPPORTED);
    pub const DENIED: Status = Status(sys::HF_DENIED);
    pub const WRONG_TYPE: Status = Status(sys::HF_WRONG_TYPE);
    pub const SCRIPT: Status = Status(sys::HF_SCRIPT);
    pub const NO_MEMORY: Status = Status(sys::HF_NO_MEMORY);
    pub const CORRUPT: Status = Status(sys::HF_CORRUPT);
    pub const SYSTEM: Status = Status(sys::HF_SYSTEM);
    pub(crate) const OK: Status = Status(sys::HF_OK);

    /// "HELD" and so on.
    pub fn name(self) -> &'static str {
        // A static string of ASCII.
        unsafe { CStr::from_ptr(sys::hf_status_name(self.0)) }
            .to_str()
            .unwrap_or("UNKNOWN")
    }
}

/// Why a call failed.
#[derive(Clone, Debug)]
pub struct Error {
    pub status: Status,
    pub message: String,
    /// The errno that caused it, or 0.
    pub errno: i32,
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

/// Run a call; its status, if that is HF_OK or one of the outcomes.
pub(crate) fn run(
    outcomes: &[Status],
    call: impl FnOnce(*mut sys::hf_error) -> sys::hf_status,
) -> Result<Status> {
    let mut err: sys::hf_error = sys::cleared();
    let status = Status(call(&mut err));

    if status == Status::OK || outcomes.contains(&status) {
        return Ok(status);
    }
    // The message ends with NUL.
    let message = unsafe { CStr::from_ptr(err.message.as_ptr()) };
    Err(Error {
        status,
        message: message.to_string_lossy().into_owned(),
        errno: err.sys_errno,
    })
}

/// It must not outlive `text`.
pub(crate) fn view(text: &[u8]) -> sys::hf_bytes {
    sys::hf_bytes {
        data: text.as_ptr().cast(),
        size: text.len(),
    }
}

pub(crate) fn owned(bytes: sys::hf_bytes) -> Vec<u8> {
    if bytes.size == 0 {
        return Vec::new();
    }
    unsafe { std::slice::from_raw_parts(bytes.data.cast::<u8>(), bytes.size) }.to_vec()
}

/// Bytes that a call allocates.
pub(crate) struct Buffer(pub sys::hf_buffer);

impl Buffer {
    pub fn new() -> Buffer {
        Buffer(sys::hf_buffer {
            data: ptr::null_mut(),
            size: 0,
        })
    }

    pub fn take(self) -> Option<Vec<u8>> {
        let bytes = sys::hf_bytes {
            data: self.0.data,
            size: self.0.size,
        };
        (!self.0.data.is_null()).then(|| owned(bytes))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        unsafe { sys::hf_buffer_free(&mut self.0) }
    }
}

pub(crate) fn millis(duration: Duration) -> i64 {
    duration
        .as_nanos()
        .div_ceil(1_000_000)
        .try_into()
        .unwrap_or(sys::HF_FOREVER)
}

pub(crate) fn instant(unix_ms: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(unix_ms.unsigned_abs())
}

fn unix_millis(at: SystemTime) -> i64 {
    at.duration_since(UNIX_EPOCH).map_or(1, millis)
}

pub(crate) struct Raw(pub *mut sys::hf_client);

// All threads may share a client of C.
unsafe impl Send for Raw {}
unsafe impl Sync for Raw {}

impl Drop for Raw {
    fn drop(&mut self) {
        unsafe { sys::hf_client_close(self.0) }
    }
}

/// An open store; clones share it. It is closed with the last clone, lock and
/// hold of it.
#[derive(Clone)]
pub struct Client(pub(crate) Arc<Raw>);

/// Of [`Client::set_with()`].
#[derive(Clone, Copy, Default)]
pub struct SetOptions {
    pub ttl: Option<Duration>,
    /// By the store's clock.
    pub expires_at: Option<SystemTime>,
    /// NX: only if the key does not exist.
    pub if_absent: bool,
    /// XX: only if it does.
    pub if_present: bool,
    pub keep_ttl: bool,
}

impl SetOptions {
    fn raw(&self) -> sys::hf_value_set_options {
        let mut raw: sys::hf_value_set_options = sys::cleared();

        raw.ttl_ms = self.ttl.map_or(0, millis);
        raw.expires_unix_ms = self.expires_at.map_or(0, unix_millis);
        raw.flags = u32::from(self.if_absent) * sys::HF_SET_NX
            | u32::from(self.if_present) * sys::HF_SET_XX
            | u32::from(self.keep_ttl) * sys::HF_SET_KEEPTTL;
        raw
    }
}

/// Expected by [`Client::put_revised()`]: the key must not exist.
pub const REVISION_NONE: u64 = 0;
/// Expected by [`Client::put_revised()`]: whatever the key holds, or nothing.
pub const REVISION_ANY: u64 = u64::MAX;

/// Of a put or a delete by revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revised {
    /// It has this revision.
    Done(u64),
    /// The value has this one; `None`: there is none.
    Refused(Option<u64>),
}

impl Revised {
    fn of(status: Status, revision: u64) -> Revised {
        match status {
            Status::OK => Revised::Done(revision),
            Status::CONFLICT => Revised::Refused(Some(revision)),
            _ => Revised::Refused(None),
        }
    }
}

/// Of a compare-and-set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cas {
    Done,
    /// It holds another value; `None`: it does not exist.
    Refused(Option<Vec<u8>>),
}

/// An item of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub id: Vec<u8>,
    pub payload: Vec<u8>,
    pub at: SystemTime,
}

impl Client {
    /// Open the store $HOLDFAST_STORE, else this user's memory.
    pub fn new() -> Result<Client> {
        Client::open("")
    }

    /// Open a store; see hf_client_open() of C for URLs.
    pub fn open(url: &str) -> Result<Client> {
        let url = CString::new(url).map_err(|_| Error {
            status: Status::INVALID,
            message: "the URL contains a NUL".into(),
            errno: 0,
        })?;
        let mut raw = ptr::null_mut();

        run(&[], |err| unsafe {
            sys::hf_client_open(url.as_ptr(), ptr::null(), &mut raw, err)
        })?;
        Ok(Client(Arc::new(Raw(raw))))
    }

    pub(crate) fn raw(&self) -> *mut sys::hf_client {
        self.0 .0
    }

    /// End the waits of all threads for locks: they get `CANCELLED`.
    pub fn interrupt(&self) -> Result<()> {
        run(&[], |err| unsafe {
            sys::hf_client_interrupt(self.raw(), err)
        })
        .map(drop)
    }

    pub fn set(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        self.set_with(key, value, &SetOptions::default()).map(drop)
    }

    /// SET of Redis. `false`: `if_absent` or `if_present` refused it.
    pub fn set_with(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        options: &SetOptions,
    ) -> Result<bool> {
        let raw = options.raw();

        run(&[Status::CONFLICT, Status::NOT_FOUND], |err| unsafe {
            sys::hf_value_set(
                self.raw(),
                view(key.as_ref()),
                view(value.as_ref()),
                &raw,
                ptr::null_mut(),
                err,
            )
        })
        .map(|status| status == Status::OK)
    }

    /// `None`: no such key.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        let mut value = Buffer::new();

        run(&[Status::NOT_FOUND], |err| unsafe {
            sys::hf_value_get(self.raw(), view(key.as_ref()), &mut value.0, err)
        })?;
        Ok(value.take())
    }

    /// `false`: no such key.
    pub fn delete(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        run(&[Status::NOT_FOUND], |err| unsafe {
            sys::hf_value_delete(self.raw(), view(key.as_ref()), err)
        })
        .map(|status| status == Status::OK)
    }

    /// Compare and set; `None`: only if the key does not exist. It keeps its
    /// time to live unless `ttl` is given.
    pub fn cas(
        &self,
        key: impl AsRef<[u8]>,
        expected: Option<&[u8]>,
        value: impl AsRef<[u8]>,
        ttl: Option<Duration>,
    ) -> Result<Cas> {
        let mut options: sys::hf_cas_options = sys::cleared();
        let mut current = Buffer::new();
        let known = expected.map(view);

        options.ttl_ms = ttl.map_or(0, millis);
        let status = run(&[Status::CONFLICT, Status::NOT_FOUND], |err| unsafe {
            sys::hf_value_cas(
                self.raw(),
                view(key.as_ref()),
                known.as_ref().map_or(ptr::null(), |one| one),
                view(value.as_ref()),
                &options,
                &mut current.0,
                err,
            )
        })?;
        Ok(match status {
            Status::OK => Cas::Done,
            _ => Cas::Refused(current.take()),
        })
    }

    /// Add to a counter; the result.
    pub fn add(&self, key: impl AsRef<[u8]>, delta: i64) -> Result<i64> {
        let mut value = 0;

        run(&[], |err| unsafe {
            sys::hf_value_add(
                self.raw(),
                view(key.as_ref()),
                delta,
                ptr::null(),
                &mut value,
                err,
            )
        })?;
        Ok(value)
    }

    /// Set a value with the fencing token of the lock that protects it.
    /// `false`: a newer holder has written.
    pub fn put_fenced(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        token: u64,
    ) -> Result<bool> {
        run(&[Status::CONFLICT], |err| unsafe {
            sys::hf_value_put_fenced(
                self.raw(),
                view(key.as_ref()),
                view(value.as_ref()),
                token,
                ptr::null(),
                ptr::null_mut(),
                err,
            )
        })
        .map(|status| status == Status::OK)
    }

    /// A value and its revision, a number that never comes again. `None`: no
    /// such key.
    pub fn get_revised(&self, key: impl AsRef<[u8]>) -> Result<Option<(Vec<u8>, u64)>> {
        let mut value = Buffer::new();
        let mut revision = 0;

        run(&[Status::NOT_FOUND], |err| unsafe {
            sys::hf_value_get_revised(
                self.raw(),
                view(key.as_ref()),
                &mut value.0,
                &mut revision,
                err,
            )
        })?;
        Ok(value.take().map(|value| (value, revision)))
    }

    /// Set a value if it has the expected revision, [`REVISION_NONE`] or
    /// [`REVISION_ANY`].
    pub fn put_revised(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        expected: u64,
        options: &SetOptions,
    ) -> Result<Revised> {
        let raw = options.raw();
        let mut revision = 0;

        run(&[Status::CONFLICT, Status::NOT_FOUND], |err| unsafe {
            sys::hf_value_put_revised(
                self.raw(),
                view(key.as_ref()),
                view(value.as_ref()),
                expected,
                &raw,
                &mut revision,
                err,
            )
        })
        .map(|status| Revised::of(status, revision))
    }

    /// Delete a value if it has the expected revision, or [`REVISION_ANY`].
    pub fn delete_revised(&self, key: impl AsRef<[u8]>, expected: u64) -> Result<Revised> {
        let mut revision = 0;

        run(&[Status::CONFLICT, Status::NOT_FOUND], |err| unsafe {
            sys::hf_value_delete_revised(
                self.raw(),
                view(key.as_ref()),
                expected,
                &mut revision,
                err,
            )
        })
        .map(|status| Revised::of(status, revision))
    }

    /// Add an item that lives for `ttl`, or replace the one with its id. `at`
    /// `None`: now.
    pub fn timeline_add(
        &self,
        key: impl AsRef<[u8]>,
        id: impl AsRef<[u8]>,
        payload: impl AsRef<[u8]>,
        ttl: Duration,
        at: Option<SystemTime>,
    ) -> Result<()> {
        let mut options: sys::hf_timeline_add_options = sys::cleared();

        options.at_ms = at.map_or(0, unix_millis);
        run(&[], |err| unsafe {
            sys::hf_timeline_add(
                self.raw(),
                view(key.as_ref()),
                view(id.as_ref()),
                view(payload.as_ref()),
                millis(ttl),
                &options,
                err,
            )
        })
        .map(drop)
    }

    /// The oldest items up to a time, at most `limit`.
    pub fn timeline_due(
        &self,
        key: impl AsRef<[u8]>,
        until: SystemTime,
        limit: usize,
    ) -> Result<Vec<Item>> {
        let mut page = Items::new();

        run(&[], |err| unsafe {
            sys::hf_timeline_range(
                self.raw(),
                view(key.as_ref()),
                0,
                unix_millis(until),
                limit,
                &mut page.0,
                err,
            )
        })?;
        Ok(page.take())
    }

    /// `None`: there is none, or it has expired.
    pub fn timeline_get(
        &self,
        key: impl AsRef<[u8]>,
        id: impl AsRef<[u8]>,
    ) -> Result<Option<Item>> {
        let mut found = Items::new();

        run(&[Status::NOT_FOUND], |err| unsafe {
            sys::hf_timeline_get(
                self.raw(),
                view(key.as_ref()),
                view(id.as_ref()),
                &mut found.0,
                err,
            )
        })?;
        Ok(found.take().pop())
    }
}

/// Items that a call allocates.
struct Items(sys::hf_timeline_items);

impl Items {
    fn new() -> Items {
        Items(sys::hf_timeline_items {
            items: ptr::null_mut(),
            count: 0,
            next: view(&[]),
        })
    }

    fn take(self) -> Vec<Item> {
        (0..self.0.count)
            .map(|i| {
                let raw = unsafe { &*self.0.items.add(i) };
                Item {
                    id: owned(raw.id),
                    payload: owned(raw.payload),
                    at: instant(raw.at_ms),
                }
            })
            .collect()
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        unsafe { sys::hf_timeline_items_free(&mut self.0) }
    }
}
