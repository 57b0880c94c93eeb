// SPDX-License-Identifier: Apache-2.0
//! Cache entries, each filled by one client at a time.

use crate::{millis, run, sys, view, Buffer, Client, Error, Result, Status};
use std::any::Any;
use std::fmt;
use std::os::raw::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr;
use std::time::Duration;

/// How long an entry is what.
#[derive(Clone, Default)]
pub struct CacheOptions {
    /// Fresh; needed.
    pub ttl: Duration,
    /// Then returned while it is filled again.
    pub stale: Duration,
    /// Then returned if filling it fails.
    pub error: Duration,
    /// How long "no value" is remembered.
    pub absent: Duration,
    /// For the fill of another; `None`: 10 s.
    pub wait: Option<Duration>,
    /// By which it can be invalidated.
    pub tags: Vec<Vec<u8>>,
}

/// Why there is no value.
#[derive(Debug)]
pub enum FillError<E> {
    /// The caller's function has failed.
    Fill(E),
    Store(Error),
}

impl<E: fmt::Display> fmt::Display for FillError<E> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FillError::Fill(error) => error.fmt(to),
            FillError::Store(error) => error.fmt(to),
        }
    }
}

impl<E: std::error::Error> std::error::Error for FillError<E> {}

struct Filling<F, E> {
    compute: Option<F>,
    failed: Option<E>,
    panic: Option<Box<dyn Any + Send>>,
}

impl Client {
    /// The value of an entry; if there is none, `compute` makes it, in one of
    /// all programs that share the store, and the others wait. `None`: there is
    /// no value, as `compute` has said. Those that wait for one that fails get
    /// `UNAVAILABLE`.
    pub fn get_or_fill<F, E>(
        &self,
        key: impl AsRef<[u8]>,
        options: &CacheOptions,
        compute: F,
    ) -> std::result::Result<Option<Vec<u8>>, FillError<E>>
    where
        F: FnOnce() -> std::result::Result<Option<Vec<u8>>, E>,
    {
        let tags: Vec<sys::hf_bytes> = options.tags.iter().map(|tag| view(tag)).collect();
        let mut raw: sys::hf_cache_options = sys::cleared();
        let mut value = Buffer::new();
        let mut filling = Filling {
            compute: Some(compute),
            failed: None,
            panic: None,
        };

        raw.ttl_ms = millis(options.ttl);
        raw.stale_ms = millis(options.stale);
        raw.error_ms = millis(options.error);
        raw.absent_ms = millis(options.absent);
        raw.wait_ms = options.wait.map_or(0, millis);
        raw.tags = tags.as_ptr();
        raw.tag_count = tags.len();
        let done = run(&[Status::NOT_FOUND], |err| unsafe {
            sys::hf_cache_get_or_fill(
                self.raw(),
                view(key.as_ref()),
                Some(fill::<F, E>),
                ptr::addr_of_mut!(filling).cast(),
                &raw,
                &mut value.0,
                ptr::null_mut(),
                err,
            )
        });
        if let Some(panic) = filling.panic {
            resume_unwind(panic);
        }
        match (done, filling.failed) {
            (Ok(_), _) => Ok(value.take()),
            (Err(_), Some(failed)) => Err(FillError::Fill(failed)),
            (Err(error), None) => Err(FillError::Store(error)),
        }
    }

    /// Invalidate all entries with a tag. `false`: there is none.
    pub fn invalidate(&self, tag: impl AsRef<[u8]>) -> Result<bool> {
        run(&[Status::NOT_FOUND], |err| unsafe {
            sys::hf_cache_invalidate(self.raw(), view(tag.as_ref()), err)
        })
        .map(|status| status == Status::OK)
    }
}

unsafe extern "C" fn fill<F, E>(user: *mut c_void, fill: *mut sys::hf_cache_fill)
where
    F: FnOnce() -> std::result::Result<Option<Vec<u8>>, E>,
{
    let filling = &mut *user.cast::<Filling<F, E>>();
    let mut status = sys::HF_UNAVAILABLE;
    let mut value = Vec::new();

    // With HF_CACHE_RETRY alone it would be called twice.
    if let Some(compute) = filling.compute.take() {
        match catch_unwind(AssertUnwindSafe(compute)) {
            Ok(Ok(Some(computed))) => {
                status = sys::HF_OK;
                value = computed;
            }
            Ok(Ok(None)) => status = sys::HF_NOT_FOUND,
            Ok(Err(error)) => filling.failed = Some(error),
            Err(panic) => filling.panic = Some(panic),
        }
    }
    sys::hf_cache_fill_done(fill, status, view(&value), ptr::null_mut());
}
