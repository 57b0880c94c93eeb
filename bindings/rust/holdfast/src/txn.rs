// SPDX-License-Identifier: Apache-2.0
//! Transactions.

use crate::{run, sys, view, Client, Error, Hold, Result, Status};
use std::ptr;

/// Operations that run together, all of them or none, if all conditions hold.
/// The first error of a method is returned by [`Transaction::exec()`].
pub struct Transaction {
    client: Client,
    raw: *mut sys::hf_txn,
    queue: sys::hf_async,
    failed: Option<Error>,
}

unsafe impl Send for Transaction {}

impl Client {
    /// Begin a transaction. Nothing is sent before it is executed.
    pub fn transaction(&self) -> Result<Transaction> {
        let mut raw = ptr::null_mut();
        let mut queue: sys::hf_async = sys::cleared();

        run(&[], |err| unsafe {
            sys::hf_txn_new(self.raw(), ptr::null(), &mut raw, err)
        })?;
        queue.txn = raw;
        Ok(Transaction {
            client: self.clone(),
            raw,
            queue,
            failed: None,
        })
    }
}

impl Transaction {
    fn note(mut self, call: impl FnOnce(&Self, *mut sys::hf_error) -> sys::hf_status) -> Self {
        let noted = run(&[], |err| call(&self, err));

        if let (Err(error), None) = (noted, &self.failed) {
            self.failed = Some(error);
        }
        self
    }

    /// A condition: the key exists.
    pub fn if_exists(self, key: impl AsRef<[u8]>) -> Self {
        self.note(|txn, err| unsafe { sys::hf_txn_if_exists(txn.raw, view(key.as_ref()), err) })
    }

    /// A condition: the key holds this value.
    pub fn if_value(self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Self {
        self.note(|txn, err| unsafe {
            sys::hf_txn_if_value(txn.raw, view(key.as_ref()), view(value.as_ref()), err)
        })
    }

    /// A condition: the lease is held when the transaction is executed. The
    /// hold may be dropped before. If it was lost already, `exec()` returns
    /// `LOST`.
    pub fn if_held(self, hold: &Hold) -> Self {
        self.note(|txn, err| unsafe { sys::hf_txn_if_held(txn.raw, hold.raw, err) })
    }

    /// A condition: the lock is held with this token, which its holder has
    /// passed on.
    pub fn if_token(self, name: impl AsRef<[u8]>, token: u64) -> Self {
        self.note(|txn, err| unsafe {
            sys::hf_txn_if_token(txn.raw, view(name.as_ref()), token, err)
        })
    }

    /// A condition: no fenced write of the key with a higher token came before.
    pub fn if_fence(self, key: impl AsRef<[u8]>, token: u64) -> Self {
        self.note(|txn, err| unsafe {
            sys::hf_txn_if_fence(txn.raw, view(key.as_ref()), token, err)
        })
    }

    pub fn set(self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Self {
        self.note(|txn, err| unsafe {
            sys::hf_value_set_start(
                txn.client.raw(),
                view(key.as_ref()),
                view(value.as_ref()),
                ptr::null(),
                ptr::null_mut(),
                &txn.queue,
                err,
            )
        })
    }

    pub fn put_fenced(self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>, token: u64) -> Self {
        self.note(|txn, err| unsafe {
            sys::hf_value_put_fenced_start(
                txn.client.raw(),
                view(key.as_ref()),
                view(value.as_ref()),
                token,
                ptr::null(),
                ptr::null_mut(),
                &txn.queue,
                err,
            )
        })
    }

    pub fn add(self, key: impl AsRef<[u8]>, delta: i64) -> Self {
        self.note(|txn, err| unsafe {
            sys::hf_value_add_start(
                txn.client.raw(),
                view(key.as_ref()),
                delta,
                ptr::null(),
                ptr::null_mut(),
                &txn.queue,
                err,
            )
        })
    }

    pub fn timeline_remove(self, key: impl AsRef<[u8]>, id: impl AsRef<[u8]>) -> Self {
        self.note(|txn, err| unsafe {
            sys::hf_timeline_remove_start(
                txn.client.raw(),
                view(key.as_ref()),
                view(id.as_ref()),
                &txn.queue,
                err,
            )
        })
    }

    /// Execute it. `false`: a condition does not hold, and nothing was changed.
    pub fn exec(mut self) -> Result<bool> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        run(&[Status::CONFLICT], |err| unsafe {
            sys::hf_txn_exec(self.raw, err)
        })
        .map(|status| status == Status::OK)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        unsafe { sys::hf_txn_free(self.raw) }
    }
}
