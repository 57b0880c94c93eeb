// SPDX-License-Identifier: Apache-2.0
//! Declarations of libholdfast, of the part that the crate `holdfast` uses. The
//! headers of C are their manual. `tests/layout.rs` compares the structures and
//! constants with the headers.
//!
//! A structure is started by [`cleared()`]: all bytes 0, but its size.
#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_int, c_uint, c_void};

/// Opaque.
#[repr(C)]
pub struct hf_client {
    _private: [u8; 0],
}

/// Opaque.
#[repr(C)]
pub struct hf_lock {
    _private: [u8; 0],
}

/// Opaque.
#[repr(C)]
pub struct hf_call {
    _private: [u8; 0],
}

/// Opaque.
#[repr(C)]
pub struct hf_txn {
    _private: [u8; 0],
}

/// Opaque.
#[repr(C)]
pub struct hf_cache_fill {
    _private: [u8; 0],
}

/// A number, as a library that is newer may return others.
pub type hf_status = c_int;

pub const HF_OK: hf_status = 0;
pub const HF_HELD: hf_status = 100;
pub const HF_CONFLICT: hf_status = 101;
pub const HF_NOT_FOUND: hf_status = 102;
pub const HF_LOST: hf_status = 103;
pub const HF_TIMEOUT: hf_status = 104;
pub const HF_EXPIRED: hf_status = 105;
pub const HF_CANCELLED: hf_status = 106;
pub const HF_UNAVAILABLE: hf_status = 200;
pub const HF_FULL: hf_status = 201;
pub const HF_INDETERMINATE: hf_status = 300;
pub const HF_INVALID: hf_status = 400;
pub const HF_UNSUPPORTED: hf_status = 401;
pub const HF_DENIED: hf_status = 402;
pub const HF_WRONG_TYPE: hf_status = 403;
pub const HF_SCRIPT: hf_status = 404;
pub const HF_NO_MEMORY: hf_status = 500;
pub const HF_CORRUPT: hf_status = 501;
pub const HF_SYSTEM: hf_status = 502;

pub const HF_ERROR_MESSAGE_SIZE: usize = 240;
pub const HF_FOREVER: i64 = 9223372036854775807;
pub const HF_SET_NX: u32 = 1 << 0;
pub const HF_SET_XX: u32 = 1 << 1;
pub const HF_SET_KEEPTTL: u32 = 1 << 2;
pub const HF_LOCK_NO_RENEW: u32 = 1 << 0;
pub const HF_LOCK_PRIORITY_MAX: u32 = 4;

pub const HF_OWNER_SIZE: usize = 33;
pub const HF_RANK_NX: u32 = 1 << 0;
pub const HF_RANK_XX: u32 = 1 << 1;
pub const HF_RANK_KEEPTTL: u32 = 1 << 2;
pub const HF_RANK_GT: u32 = 1 << 3;
pub const HF_RANK_LT: u32 = 1 << 4;
pub const HF_RANK_ASCENDING: u32 = 1 << 0;
pub const HF_QUEUE_DONE: c_uint = 0;
pub const HF_QUEUE_AGAIN: c_uint = 1;
pub const HF_QUEUE_DEFER: c_uint = 2;
pub const HF_QUEUE_FAIL: c_uint = 3;
pub const HF_QUEUE_READY: c_uint = 0;
pub const HF_QUEUE_TAKEN: c_uint = 1;
pub const HF_QUEUE_DELAYED: c_uint = 2;
pub const HF_QUEUE_BEHIND: c_uint = 3;
pub const HF_QUEUE_DEAD: c_uint = 4;
pub const HF_ONCE_RETRY_DOUBT: u32 = 1 << 0;
pub const HF_ONCE_CLAIMED: c_uint = 1;
pub const HF_ONCE_DONE: c_uint = 2;
pub const HF_ONCE_DOUBT: c_uint = 3;

pub type hf_lock_lost_fn =
    Option<unsafe extern "C" fn(lock: *mut hf_lock, reason: hf_status, user: *mut c_void)>;
pub type hf_done_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, status: hf_status, err: *const hf_error)>;
pub type hf_cache_fill_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, fill: *mut hf_cache_fill)>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_error {
    pub struct_size: usize,
    pub status: hf_status,
    pub sys_errno: c_int,
    pub message: [c_char; HF_ERROR_MESSAGE_SIZE],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_bytes {
    pub data: *const c_void,
    pub size: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_buffer {
    pub data: *mut c_void,
    pub size: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_cas_options {
    pub struct_size: usize,
    pub ttl_ms: i64,
    pub flags: u32,
    pub reserved0: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_value_set_options {
    pub struct_size: usize,
    pub flags: u32,
    pub reserved0: u32,
    pub ttl_ms: i64,
    pub expires_unix_ms: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_lock_options {
    pub struct_size: usize,
    pub ttl_ms: i64,
    pub max_hold_ms: i64,
    pub lost_margin_ms: i64,
    pub flags: u32,
    pub priority: u32,
    pub on_lost: hf_lock_lost_fn,
    pub user: *mut c_void,
    pub replicas: i32,
    pub gaps: u32,
    pub replicas_ms: i64,
    pub min_hold_ms: i64,
    pub delay_ms: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_async {
    pub struct_size: usize,
    pub done: hf_done_fn,
    pub user: *mut c_void,
    pub call: *mut *mut hf_call,
    pub txn: *mut hf_txn,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_attribute {
    pub name: hf_bytes,
    pub kind: c_uint,
    pub number: f64,
    pub text: hf_bytes,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_timeline_item {
    pub id: hf_bytes,
    pub payload: hf_bytes,
    pub at_ms: i64,
    pub ttl_ms: i64,
    pub attributes: *const hf_attribute,
    pub attribute_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_timeline_items {
    pub items: *mut hf_timeline_item,
    pub count: usize,
    pub next: hf_bytes,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_timeline_add_options {
    pub struct_size: usize,
    pub flags: u32,
    pub reserved0: u32,
    pub at_ms: i64,
    pub attributes: *const hf_attribute,
    pub attribute_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_cache_options {
    pub struct_size: usize,
    pub flags: u32,
    pub reserved0: u32,
    pub ttl_ms: i64,
    pub stale_ms: i64,
    pub error_ms: i64,
    pub absent_ms: i64,
    pub lease_ms: i64,
    pub wait_ms: i64,
    pub jitter_percent: i32,
    pub early_percent: i32,
    pub tags: *const hf_bytes,
    pub tag_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_set_add_options {
    pub struct_size: usize,
    pub flags: u32,
    pub reserved0: u32,
    pub ttl_ms: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_set_member {
    pub member: hf_bytes,
    pub ttl_ms: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_set_members {
    pub items: *mut hf_set_member,
    pub count: usize,
    pub next: hf_bytes,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_rank_add_options {
    pub struct_size: usize,
    pub flags: u32,
    pub reserved0: u32,
    pub ttl_ms: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_rank_place {
    pub score: f64,
    pub rank: usize,
    pub count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_rank_member {
    pub member: hf_bytes,
    pub score: f64,
    pub rank: usize,
    pub ttl_ms: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_rank_members {
    pub items: *mut hf_rank_member,
    pub count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_rank_trimmed {
    pub removed: usize,
    pub more: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_queue_options {
    pub struct_size: usize,
    pub flags: u32,
    pub reserved0: u32,
    pub delay_ms: i64,
    pub priority: i64,
    pub attempts: i64,
    pub remember_ms: i64,
    pub group: hf_bytes,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_job {
    pub struct_size: usize,
    pub id: hf_bytes,
    pub payload: hf_bytes,
    pub group: hf_bytes,
    pub attempt: i64,
    pub attempts: i64,
    pub priority: i64,
    pub put_ms: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_queue_info {
    pub struct_size: usize,
    pub ready: i64,
    pub taken: i64,
    pub delayed: i64,
    pub behind: i64,
    pub dead: i64,
    pub remembered: i64,
    pub waiters: i64,
    pub paused: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_queue_jobs {
    pub jobs: *mut hf_job,
    pub count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_once_options {
    pub struct_size: usize,
    pub flags: u32,
    pub reserved0: u32,
    pub fingerprint: hf_bytes,
    pub keep_ms: i64,
    pub period_ms: i64,
    pub early_ms: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hf_once_info {
    pub struct_size: usize,
    pub state: c_uint,
    pub status: i32,
    pub remaining_ms: i64,
    pub waiters: i64,
    pub tick_ms: i64,
    pub token: u64,
    pub owner: [c_char; HF_OWNER_SIZE],
    pub result: hf_buffer,
}

/// Structures that begin with their size.
///
/// # Safety
/// All bytes 0 must be a value, and the first member a size.
pub unsafe trait Options: Copy {}
unsafe impl Options for hf_error {}
unsafe impl Options for hf_cas_options {}
unsafe impl Options for hf_value_set_options {}
unsafe impl Options for hf_lock_options {}
unsafe impl Options for hf_async {}
unsafe impl Options for hf_timeline_add_options {}
unsafe impl Options for hf_cache_options {}
unsafe impl Options for hf_set_add_options {}
unsafe impl Options for hf_rank_add_options {}
unsafe impl Options for hf_queue_options {}
unsafe impl Options for hf_job {}
unsafe impl Options for hf_queue_info {}
unsafe impl Options for hf_once_options {}
unsafe impl Options for hf_once_info {}

/// What the `_INIT` macro of a structure makes.
pub fn cleared<T: Options>() -> T {
    let mut made = std::mem::MaybeUninit::<T>::zeroed();

    // Safe by the promise of the trait.
    unsafe {
        *made.as_mut_ptr().cast::<usize>() = std::mem::size_of::<T>();
        made.assume_init()
    }
}

extern "C" {
    pub fn hf_status_kind(status: hf_status) -> c_uint;
    pub fn hf_status_name(status: hf_status) -> *const c_char;
    pub fn hf_status_text(status: hf_status) -> *const c_char;
    pub fn hf_version() -> *const c_char;
    pub fn hf_buffer_free(buffer: *mut hf_buffer);
    pub fn hf_client_open(
        url: *const c_char,
        opts: *const c_void,
        client: *mut *mut hf_client,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_client_close(client: *mut hf_client);
    pub fn hf_client_interrupt(client: *mut hf_client, err: *mut hf_error) -> hf_status;
    pub fn hf_value_set(
        client: *mut hf_client,
        key: hf_bytes,
        value: hf_bytes,
        opts: *const hf_value_set_options,
        previous: *mut hf_buffer,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_value_get(
        client: *mut hf_client,
        key: hf_bytes,
        value: *mut hf_buffer,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_value_delete(client: *mut hf_client, key: hf_bytes, err: *mut hf_error) -> hf_status;
    pub fn hf_value_cas(
        client: *mut hf_client,
        key: hf_bytes,
        expected: *const hf_bytes,
        value: hf_bytes,
        opts: *const hf_cas_options,
        current: *mut hf_buffer,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_value_add(
        client: *mut hf_client,
        key: hf_bytes,
        delta: i64,
        opts: *const c_void,
        value: *mut i64,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_value_put_fenced(
        client: *mut hf_client,
        key: hf_bytes,
        value: hf_bytes,
        token: u64,
        opts: *const hf_value_set_options,
        highest: *mut u64,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_value_get_revised(
        client: *mut hf_client,
        key: hf_bytes,
        value: *mut hf_buffer,
        revision: *mut u64,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_value_put_revised(
        client: *mut hf_client,
        key: hf_bytes,
        value: hf_bytes,
        expected: u64,
        opts: *const hf_value_set_options,
        revision: *mut u64,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_value_delete_revised(
        client: *mut hf_client,
        key: hf_bytes,
        expected: u64,
        revision: *mut u64,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_value_set_start(
        client: *mut hf_client,
        key: hf_bytes,
        value: hf_bytes,
        opts: *const hf_value_set_options,
        previous: *mut hf_buffer,
        async_: *const hf_async,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_value_add_start(
        client: *mut hf_client,
        key: hf_bytes,
        delta: i64,
        opts: *const c_void,
        value: *mut i64,
        async_: *const hf_async,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_value_put_fenced_start(
        client: *mut hf_client,
        key: hf_bytes,
        value: hf_bytes,
        token: u64,
        opts: *const hf_value_set_options,
        highest: *mut u64,
        async_: *const hf_async,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_timeline_add(
        client: *mut hf_client,
        key: hf_bytes,
        id: hf_bytes,
        payload: hf_bytes,
        ttl_ms: i64,
        opts: *const hf_timeline_add_options,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_timeline_get(
        client: *mut hf_client,
        key: hf_bytes,
        id: hf_bytes,
        found: *mut hf_timeline_items,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_timeline_range(
        client: *mut hf_client,
        key: hf_bytes,
        from_ms: i64,
        to_ms: i64,
        limit: usize,
        page: *mut hf_timeline_items,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_timeline_remove_start(
        client: *mut hf_client,
        key: hf_bytes,
        id: hf_bytes,
        async_: *const hf_async,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_timeline_items_free(items: *mut hf_timeline_items);
    pub fn hf_lock_new(
        client: *mut hf_client,
        name: hf_bytes,
        opts: *const hf_lock_options,
        lock: *mut *mut hf_lock,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_rwlock_new(
        client: *mut hf_client,
        name: hf_bytes,
        flags: u32,
        opts: *const hf_lock_options,
        read: *mut *mut hf_lock,
        write: *mut *mut hf_lock,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_semaphore_new(
        client: *mut hf_client,
        name: hf_bytes,
        permits: i64,
        opts: *const hf_lock_options,
        lock: *mut *mut hf_lock,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_lock_free(lock: *mut hf_lock);
    pub fn hf_lock_acquire(lock: *mut hf_lock, wait_ms: i64, err: *mut hf_error) -> hf_status;
    pub fn hf_lock_release(lock: *mut hf_lock, err: *mut hf_error) -> hf_status;
    pub fn hf_lock_renew(lock: *mut hf_lock, err: *mut hf_error) -> hf_status;
    pub fn hf_lock_is_held(lock: *const hf_lock) -> bool;
    pub fn hf_lock_remaining_ms(lock: *const hf_lock) -> i64;
    pub fn hf_lock_token(lock: *const hf_lock) -> u64;
    pub fn hf_set_add(
        client: *mut hf_client,
        key: hf_bytes,
        members: *const hf_bytes,
        count: usize,
        opts: *const hf_set_add_options,
        added: *mut usize,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_set_remove(
        client: *mut hf_client,
        key: hf_bytes,
        members: *const hf_bytes,
        count: usize,
        removed: *mut usize,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_set_has(
        client: *mut hf_client,
        key: hf_bytes,
        member: hf_bytes,
        ttl_ms: *mut i64,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_set_has_members(
        client: *mut hf_client,
        key: hf_bytes,
        members: *const hf_bytes,
        count: usize,
        ttls_ms: *mut i64,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_set_count(
        client: *mut hf_client,
        key: hf_bytes,
        count: *mut usize,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_set_expire(
        client: *mut hf_client,
        key: hf_bytes,
        ttl_ms: i64,
        members: *const hf_bytes,
        count: usize,
        found: *mut usize,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_set_page(
        client: *mut hf_client,
        key: hf_bytes,
        cursor: hf_bytes,
        limit: usize,
        page: *mut hf_set_members,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_set_members_free(members: *mut hf_set_members);
    pub fn hf_rank_add(
        client: *mut hf_client,
        key: hf_bytes,
        member: hf_bytes,
        score: f64,
        opts: *const hf_rank_add_options,
        place: *mut hf_rank_place,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_rank_increment(
        client: *mut hf_client,
        key: hf_bytes,
        member: hf_bytes,
        delta: f64,
        opts: *const hf_rank_add_options,
        place: *mut hf_rank_place,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_rank_get(
        client: *mut hf_client,
        key: hf_bytes,
        member: hf_bytes,
        place: *mut hf_rank_place,
        ttl_ms: *mut i64,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_rank_page(
        client: *mut hf_client,
        key: hf_bytes,
        offset: usize,
        limit: usize,
        flags: u32,
        page: *mut hf_rank_members,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_rank_around(
        client: *mut hf_client,
        key: hf_bytes,
        member: hf_bytes,
        each: usize,
        flags: u32,
        page: *mut hf_rank_members,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_rank_count(
        client: *mut hf_client,
        key: hf_bytes,
        min: *const f64,
        max: *const f64,
        count: *mut usize,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_rank_remove(
        client: *mut hf_client,
        key: hf_bytes,
        members: *const hf_bytes,
        count: usize,
        removed: *mut usize,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_rank_trim(
        client: *mut hf_client,
        key: hf_bytes,
        keep: i64,
        trimmed: *mut hf_rank_trimmed,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_rank_expire(
        client: *mut hf_client,
        key: hf_bytes,
        member: hf_bytes,
        ttl_ms: i64,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_rank_members_free(members: *mut hf_rank_members);
    pub fn hf_queue_put(
        client: *mut hf_client,
        queue: hf_bytes,
        id: hf_bytes,
        payload: hf_bytes,
        opts: *const hf_queue_options,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_queue_new(
        client: *mut hf_client,
        name: hf_bytes,
        opts: *const hf_lock_options,
        lock: *mut *mut hf_lock,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_queue_job(lock: *const hf_lock, job: *mut hf_job, err: *mut hf_error) -> hf_status;
    pub fn hf_queue_backoff(job: *const hf_job, first_ms: i64, most_ms: i64) -> i64;
    pub fn hf_queue_done(lock: *mut hf_lock, err: *mut hf_error) -> hf_status;
    pub fn hf_queue_again(lock: *mut hf_lock, delay_ms: i64, err: *mut hf_error) -> hf_status;
    pub fn hf_queue_defer(lock: *mut hf_lock, delay_ms: i64, err: *mut hf_error) -> hf_status;
    pub fn hf_queue_fail(lock: *mut hf_lock, err: *mut hf_error) -> hf_status;
    pub fn hf_queue_next(
        lock: *mut hf_lock,
        outcome: c_uint,
        delay_ms: i64,
        wait_ms: i64,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_queue_inspect(
        client: *mut hf_client,
        queue: hf_bytes,
        info: *mut hf_queue_info,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_queue_list(
        client: *mut hf_client,
        queue: hf_bytes,
        state: c_uint,
        offset: i64,
        count: i64,
        jobs: *mut hf_queue_jobs,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_queue_jobs_free(jobs: *mut hf_queue_jobs);
    pub fn hf_queue_pause(
        client: *mut hf_client,
        queue: hf_bytes,
        paused: bool,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_queue_revive(
        client: *mut hf_client,
        queue: hf_bytes,
        id: hf_bytes,
        count: i64,
        moved: *mut i64,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_once_new(
        client: *mut hf_client,
        key: hf_bytes,
        once: *const hf_once_options,
        opts: *const hf_lock_options,
        lock: *mut *mut hf_lock,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_once_complete(
        lock: *mut hf_lock,
        status: i32,
        result: hf_bytes,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_once_result(
        lock: *const hf_lock,
        status: *mut i32,
        result: *mut hf_bytes,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_once_inspect(
        client: *mut hf_client,
        key: hf_bytes,
        info: *mut hf_once_info,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_once_info_free(info: *mut hf_once_info);
    pub fn hf_once_delete(client: *mut hf_client, key: hf_bytes, err: *mut hf_error) -> hf_status;
    pub fn hf_cache_get_or_fill(
        client: *mut hf_client,
        key: hf_bytes,
        fill: hf_cache_fill_fn,
        user: *mut c_void,
        opts: *const hf_cache_options,
        value: *mut hf_buffer,
        info: *mut c_void,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_cache_fill_done(
        fill: *mut hf_cache_fill,
        status: hf_status,
        value: hf_bytes,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_cache_invalidate(
        client: *mut hf_client,
        tag: hf_bytes,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_txn_new(
        client: *mut hf_client,
        opts: *const c_void,
        txn: *mut *mut hf_txn,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_txn_free(txn: *mut hf_txn);
    pub fn hf_txn_if_exists(txn: *mut hf_txn, key: hf_bytes, err: *mut hf_error) -> hf_status;
    pub fn hf_txn_if_value(
        txn: *mut hf_txn,
        key: hf_bytes,
        value: hf_bytes,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_txn_if_held(txn: *mut hf_txn, lock: *const hf_lock, err: *mut hf_error) -> hf_status;
    pub fn hf_txn_if_token(
        txn: *mut hf_txn,
        name: hf_bytes,
        token: u64,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_txn_if_fence(
        txn: *mut hf_txn,
        key: hf_bytes,
        token: u64,
        err: *mut hf_error,
    ) -> hf_status;
    pub fn hf_txn_exec(txn: *mut hf_txn, err: *mut hf_error) -> hf_status;
}
