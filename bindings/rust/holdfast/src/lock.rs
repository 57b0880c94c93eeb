// SPDX-License-Identifier: Apache-2.0
//! Locks, and the guards that hold them.

use crate::once::OnceOptions;
use crate::{millis, run, sys, view, Client, Result, Status};
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

type OnLost = dyn Fn(Status) + Send + Sync;

#[derive(Clone)]
pub(crate) enum Kind {
    Exclusive,
    Read,
    Write,
    Permits(u32),
    Jobs,
    Once(OnceOptions),
}

/// A name with options. Threads and programs exclude each other by it; each
/// acquire has a [`Hold`] of its own.
#[derive(Clone)]
pub struct Lock {
    pub(crate) client: Client,
    pub(crate) kind: Kind,
    pub(crate) name: Vec<u8>,
    options: sys::hf_lock_options,
    on_lost: Option<Arc<OnLost>>,
}

// The options have no pointers: they are set for each handle.
unsafe impl Send for Lock {}
unsafe impl Sync for Lock {}

impl Client {
    /// The lock of a name.
    pub fn lock(&self, name: impl AsRef<[u8]>) -> Lock {
        self.lock_of(Kind::Exclusive, name.as_ref())
    }

    /// The same for reading: many at the same time.
    pub fn read_lock(&self, name: impl AsRef<[u8]>) -> Lock {
        self.lock_of(Kind::Read, name.as_ref())
    }

    /// The same for writing: one, and no reader.
    pub fn write_lock(&self, name: impl AsRef<[u8]>) -> Lock {
        self.lock_of(Kind::Write, name.as_ref())
    }

    /// A permit: at most `permits` of a name are held at the same time.
    pub fn semaphore(&self, name: impl AsRef<[u8]>, permits: u32) -> Lock {
        self.lock_of(Kind::Permits(permits), name.as_ref())
    }

    pub(crate) fn lock_of(&self, kind: Kind, name: &[u8]) -> Lock {
        Lock {
            client: self.clone(),
            kind,
            name: name.to_vec(),
            options: sys::cleared(),
            on_lost: None,
        }
    }
}

impl Lock {
    /// The lease; 30 s by default. It is renewed.
    pub fn ttl(mut self, ttl: Duration) -> Lock {
        self.options.ttl_ms = millis(ttl);
        self
    }

    /// Lost after this time, although it is renewed.
    pub fn max_hold(mut self, longest: Duration) -> Lock {
        self.options.max_hold_ms = millis(longest);
        self
    }

    /// Do not renew the lease.
    pub fn no_renew(mut self) -> Lock {
        self.options.flags |= sys::HF_LOCK_NO_RENEW;
        self
    }

    /// 0, the default, to 4: a release serves the highest first.
    pub fn priority(mut self, priority: u32) -> Lock {
        self.options.priority = priority;
        self
    }

    /// Called on the library's thread as soon as the lock is lost, with the
    /// reason. It must return soon.
    pub fn on_lost(mut self, call: impl Fn(Status) + Send + Sync + 'static) -> Lock {
        self.on_lost = Some(Arc::new(call));
        self
    }

    /// Wait without a limit.
    pub fn acquire(&self) -> Result<Hold> {
        self.hold(sys::HF_FOREVER)
    }

    /// Wait for at most `wait`: else `TIMEOUT`.
    pub fn acquire_within(&self, wait: Duration) -> Result<Hold> {
        self.hold(millis(wait))
    }

    /// Do not wait. `None`: another owner holds it.
    pub fn try_acquire(&self) -> Result<Option<Hold>> {
        match self.hold(0) {
            Err(error) if error.status == Status::TIMEOUT => Ok(None),
            other => other.map(Some),
        }
    }

    fn hold(&self, wait_ms: i64) -> Result<Hold> {
        self.acquired(wait_ms, &[]).map(|(hold, _)| hold)
    }

    /// A handle, and what its acquire has returned: OK or one of the outcomes.
    pub(crate) fn acquired(&self, wait_ms: i64, outcomes: &[Status]) -> Result<(Hold, Status)> {
        let hold = self.handle()?;
        let status = run(outcomes, |err| unsafe {
            sys::hf_lock_acquire(hold.raw, wait_ms, err)
        })?;

        Ok((hold, status))
    }

    fn handle(&self) -> Result<Hold> {
        let mut hold = Hold {
            raw: ptr::null_mut(),
            pair: ptr::null_mut(),
            on_lost: self.on_lost.clone().map(Box::new),
            _client: self.client.clone(),
        };
        let mut options = self.options;

        if let Some(call) = &hold.on_lost {
            options.on_lost = Some(lost);
            options.user = (&**call as *const Arc<OnLost>).cast_mut().cast();
        }
        let (client, name) = (self.client.raw(), view(&self.name));
        run(&[], |err| unsafe {
            match &self.kind {
                Kind::Exclusive => sys::hf_lock_new(client, name, &options, &mut hold.raw, err),
                Kind::Read => sys::hf_rwlock_new(
                    client,
                    name,
                    0,
                    &options,
                    &mut hold.raw,
                    ptr::null_mut(),
                    err,
                ),
                Kind::Write => sys::hf_rwlock_new(
                    client,
                    name,
                    0,
                    &options,
                    &mut hold.pair,
                    &mut hold.raw,
                    err,
                ),
                Kind::Permits(permits) => sys::hf_semaphore_new(
                    client,
                    name,
                    (*permits).into(),
                    &options,
                    &mut hold.raw,
                    err,
                ),
                Kind::Jobs => sys::hf_queue_new(client, name, &options, &mut hold.raw, err),
                Kind::Once(once) => {
                    sys::hf_once_new(client, name, &once.raw(), &options, &mut hold.raw, err)
                }
            }
        })?;
        Ok(hold)
    }
}

/// The options of the lease, as of [`Lock`], for what has a `lock`.
macro_rules! lease_options {
    ($type:ident) => {
        impl $type {
            /// The lease; 30 s by default. It is renewed.
            pub fn ttl(mut self, ttl: std::time::Duration) -> $type {
                self.lock = self.lock.ttl(ttl);
                self
            }

            /// Do not renew the lease.
            pub fn no_renew(mut self) -> $type {
                self.lock = self.lock.no_renew();
                self
            }

            /// Called on the library's thread as soon as the lease is lost, with
            /// the reason. It must return soon.
            pub fn on_lost(
                mut self,
                call: impl Fn(crate::Status) + Send + Sync + 'static,
            ) -> $type {
                self.lock = self.lock.on_lost(call);
                self
            }
        }
    };
}
pub(crate) use lease_options;

unsafe extern "C" fn lost(_: *mut sys::hf_lock, reason: sys::hf_status, user: *mut c_void) {
    let call = &*user.cast::<Arc<OnLost>>();

    // A panic must not reach C.
    let _ = catch_unwind(AssertUnwindSafe(|| call(Status(reason))));
}

/// A lock, or a permit, that is held until it is dropped.
pub struct Hold {
    pub(crate) raw: *mut sys::hf_lock,
    pair: *mut sys::hf_lock,
    /// A box, as the library has its address.
    on_lost: Option<Box<Arc<OnLost>>>,
    _client: Client,
}

// The handle owns the lock, not the thread, and is called from any.
unsafe impl Send for Hold {}
unsafe impl Sync for Hold {}

impl Hold {
    /// Is it held and valid? A comparison of two numbers; check it before each
    /// effect.
    pub fn is_held(&self) -> bool {
        unsafe { sys::hf_lock_is_held(self.raw) }
    }

    /// The fencing token: larger than that of every earlier holder.
    pub fn token(&self) -> u64 {
        unsafe { sys::hf_lock_token(self.raw) }
    }

    /// How long [`Hold::is_held()`] stays true without another renewal.
    pub fn remaining(&self) -> Duration {
        Duration::from_millis(unsafe { sys::hf_lock_remaining_ms(self.raw) }.unsigned_abs())
    }

    /// Renew the lease now; needed with [`Lock::no_renew()`] only.
    pub fn renew(&self) -> Result<()> {
        run(&[], |err| unsafe { sys::hf_lock_renew(self.raw, err) }).map(drop)
    }

    /// Release it, and learn whether it was held until then: `LOST` and
    /// `EXPIRED` are errors here.
    pub fn release(self) -> Result<()> {
        run(&[], |err| unsafe { sys::hf_lock_release(self.raw, err) }).map(drop)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // It waits for an on_lost that runs.
        unsafe {
            sys::hf_lock_free(self.raw);
            sys::hf_lock_free(self.pair);
        }
    }
}
