// SPDX-License-Identifier: Apache-2.0
//! Sets and ranks, whose members expire one by one.

use crate::{millis, owned, run, sys, view, Client, Result, Status};
use std::ptr;
use std::time::Duration;

/// A time to live; `None`: it does not expire.
pub type Ttl = Option<Duration>;

fn ttl_of(ms: i64) -> Ttl {
    u64::try_from(ms).ok().map(Duration::from_millis)
}

fn views<M: AsRef<[u8]>>(members: &[M]) -> Vec<sys::hf_bytes> {
    members.iter().map(|one| view(one.as_ref())).collect()
}

/// Of [`Client::set_add()`].
#[derive(Clone, Copy, Default)]
pub struct SetAddOptions {
    /// `None`: a member that is there keeps its own, a new one does not expire.
    pub ttl: Ttl,
    /// Only members that are not there.
    pub if_absent: bool,
    /// Only those that are.
    pub if_present: bool,
    /// Only new members get `ttl`.
    pub keep_ttl: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetMember {
    pub member: Vec<u8>,
    pub ttl: Ttl,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetPage {
    pub members: Vec<SetMember>,
    /// The cursor of the page that follows; empty: none does.
    pub next: Vec<u8>,
}

/// Of [`Client::rank_add()`] and [`Client::rank_increment()`].
#[derive(Clone, Copy, Default)]
pub struct RankAddOptions {
    /// As of [`SetAddOptions`].
    pub ttl: Ttl,
    /// NX: only if it is not there.
    pub if_absent: bool,
    /// XX: only if it is.
    pub if_present: bool,
    /// GT: only if its score becomes greater, or it is new.
    pub if_greater: bool,
    /// LT: only if its score becomes less, or it is new.
    pub if_less: bool,
    /// Only a new member gets `ttl`.
    pub keep_ttl: bool,
}

impl RankAddOptions {
    fn raw(&self) -> sys::hf_rank_add_options {
        let mut raw: sys::hf_rank_add_options = sys::cleared();

        raw.ttl_ms = self.ttl.map_or(0, millis);
        raw.flags = u32::from(self.if_absent) * sys::HF_RANK_NX
            | u32::from(self.if_present) * sys::HF_RANK_XX
            | u32::from(self.if_greater) * sys::HF_RANK_GT
            | u32::from(self.if_less) * sys::HF_RANK_LT
            | u32::from(self.keep_ttl) * sys::HF_RANK_KEEPTTL;
        raw
    }
}

/// Where a member of a rank is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankPlace {
    pub score: f64,
    /// 0: the top.
    pub rank: usize,
    /// Of all members.
    pub count: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RankMember {
    pub member: Vec<u8>,
    pub score: f64,
    /// In the order of the page.
    pub rank: usize,
    pub ttl: Ttl,
}

/// Of a page of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// From the top.
    #[default]
    Descending,
    /// From the least score.
    Ascending,
}

fn flags_of(order: Order) -> u32 {
    u32::from(order == Order::Ascending) * sys::HF_RANK_ASCENDING
}

const NO_PLACE: sys::hf_rank_place = sys::hf_rank_place {
    score: 0.0,
    rank: 0,
    count: 0,
};

fn place_of(status: Status, raw: sys::hf_rank_place) -> Option<RankPlace> {
    (status == Status::OK).then_some(RankPlace {
        score: raw.score,
        rank: raw.rank,
        count: raw.count,
    })
}

/// Call `read`, which allocates members.
fn ranked(
    outcomes: &[Status],
    read: impl FnOnce(*mut sys::hf_rank_members, *mut sys::hf_error) -> sys::hf_status,
) -> Result<Vec<RankMember>> {
    let mut raw = sys::hf_rank_members {
        items: ptr::null_mut(),
        count: 0,
    };

    run(outcomes, |err| read(&mut raw, err))?;
    let members = (0..raw.count)
        .map(|i| {
            let one = unsafe { &*raw.items.add(i) };
            RankMember {
                member: owned(one.member),
                score: one.score,
                rank: one.rank,
                ttl: ttl_of(one.ttl_ms),
            }
        })
        .collect();
    unsafe { sys::hf_rank_members_free(&mut raw) };
    Ok(members)
}

impl Client {
    /// Add members to a set; how many of them are new.
    pub fn set_add<M: AsRef<[u8]>>(
        &self,
        key: impl AsRef<[u8]>,
        members: &[M],
        options: &SetAddOptions,
    ) -> Result<usize> {
        let list = views(members);
        let mut raw: sys::hf_set_add_options = sys::cleared();
        let mut added = 0;

        raw.ttl_ms = options.ttl.map_or(0, millis);
        raw.flags = u32::from(options.if_absent) * sys::HF_SET_NX
            | u32::from(options.if_present) * sys::HF_SET_XX
            | u32::from(options.keep_ttl) * sys::HF_SET_KEEPTTL;
        run(&[], |err| unsafe {
            sys::hf_set_add(
                self.raw(),
                view(key.as_ref()),
                list.as_ptr(),
                list.len(),
                &raw,
                &mut added,
                err,
            )
        })?;
        Ok(added)
    }

    /// Remove members; how many of them were there.
    pub fn set_remove<M: AsRef<[u8]>>(
        &self,
        key: impl AsRef<[u8]>,
        members: &[M],
    ) -> Result<usize> {
        let list = views(members);
        let mut removed = 0;

        run(&[], |err| unsafe {
            sys::hf_set_remove(
                self.raw(),
                view(key.as_ref()),
                list.as_ptr(),
                list.len(),
                &mut removed,
                err,
            )
        })?;
        Ok(removed)
    }

    /// The time to live of a member; `None`: there is no such member.
    pub fn set_has(&self, key: impl AsRef<[u8]>, member: impl AsRef<[u8]>) -> Result<Option<Ttl>> {
        let mut ms = 0;

        run(&[Status::NOT_FOUND], |err| unsafe {
            sys::hf_set_has(
                self.raw(),
                view(key.as_ref()),
                view(member.as_ref()),
                &mut ms,
                err,
            )
        })
        .map(|status| (status == Status::OK).then_some(ttl_of(ms)))
    }

    /// The same of some members, at one instant.
    pub fn set_has_members<M: AsRef<[u8]>>(
        &self,
        key: impl AsRef<[u8]>,
        members: &[M],
    ) -> Result<Vec<Option<Ttl>>> {
        let list = views(members);
        let mut ttls = vec![-2; list.len()];

        run(&[], |err| unsafe {
            sys::hf_set_has_members(
                self.raw(),
                view(key.as_ref()),
                list.as_ptr(),
                list.len(),
                ttls.as_mut_ptr(),
                err,
            )
        })?;
        Ok(ttls
            .into_iter()
            .map(|ms| (ms != -2).then_some(ttl_of(ms)))
            .collect())
    }

    /// Count the members that have not expired.
    pub fn set_count(&self, key: impl AsRef<[u8]>) -> Result<usize> {
        let mut count = 0;

        run(&[], |err| unsafe {
            sys::hf_set_count(self.raw(), view(key.as_ref()), &mut count, err)
        })?;
        Ok(count)
    }

    /// Set the time to live of members; how many of them are there.
    pub fn set_expire<M: AsRef<[u8]>>(
        &self,
        key: impl AsRef<[u8]>,
        ttl: Ttl,
        members: &[M],
    ) -> Result<usize> {
        let list = views(members);
        let mut found = 0;

        run(&[], |err| unsafe {
            sys::hf_set_expire(
                self.raw(),
                view(key.as_ref()),
                ttl.map_or(-1, millis),
                list.as_ptr(),
                list.len(),
                &mut found,
                err,
            )
        })?;
        Ok(found)
    }

    /// About `limit` members (0: 100). `cursor`: [`SetPage::next`] of the page
    /// before, or empty.
    pub fn set_page(
        &self,
        key: impl AsRef<[u8]>,
        cursor: impl AsRef<[u8]>,
        limit: usize,
    ) -> Result<SetPage> {
        let mut raw = sys::hf_set_members {
            items: ptr::null_mut(),
            count: 0,
            next: view(&[]),
        };

        run(&[], |err| unsafe {
            sys::hf_set_page(
                self.raw(),
                view(key.as_ref()),
                view(cursor.as_ref()),
                limit,
                &mut raw,
                err,
            )
        })?;
        let members = (0..raw.count)
            .map(|i| {
                let one = unsafe { &*raw.items.add(i) };
                SetMember {
                    member: owned(one.member),
                    ttl: ttl_of(one.ttl_ms),
                }
            })
            .collect();
        let next = owned(raw.next);
        unsafe { sys::hf_set_members_free(&mut raw) };
        Ok(SetPage { members, next })
    }

    /// Give a member of a rank a score. `false`: an option refused it.
    pub fn rank_add(
        &self,
        key: impl AsRef<[u8]>,
        member: impl AsRef<[u8]>,
        score: f64,
        options: &RankAddOptions,
    ) -> Result<bool> {
        run(&[Status::CONFLICT, Status::NOT_FOUND], |err| unsafe {
            sys::hf_rank_add(
                self.raw(),
                view(key.as_ref()),
                view(member.as_ref()),
                score,
                &options.raw(),
                ptr::null_mut(),
                err,
            )
        })
        .map(|status| status == Status::OK)
    }

    /// Add to the score of a member, 0 of a new one; where it is then. `None`:
    /// an option refused it.
    pub fn rank_increment(
        &self,
        key: impl AsRef<[u8]>,
        member: impl AsRef<[u8]>,
        delta: f64,
        options: &RankAddOptions,
    ) -> Result<Option<RankPlace>> {
        let mut place = NO_PLACE;

        run(&[Status::CONFLICT, Status::NOT_FOUND], |err| unsafe {
            sys::hf_rank_increment(
                self.raw(),
                view(key.as_ref()),
                view(member.as_ref()),
                delta,
                &options.raw(),
                &mut place,
                err,
            )
        })
        .map(|status| place_of(status, place))
    }

    /// Where a member is; `None`: there is no such member.
    pub fn rank_get(
        &self,
        key: impl AsRef<[u8]>,
        member: impl AsRef<[u8]>,
    ) -> Result<Option<RankPlace>> {
        let mut place = NO_PLACE;

        run(&[Status::NOT_FOUND], |err| unsafe {
            sys::hf_rank_get(
                self.raw(),
                view(key.as_ref()),
                view(member.as_ref()),
                &mut place,
                ptr::null_mut(),
                err,
            )
        })
        .map(|status| place_of(status, place))
    }

    /// At most `limit` members (0: 20), behind `offset` others.
    pub fn rank_page(
        &self,
        key: impl AsRef<[u8]>,
        offset: usize,
        limit: usize,
        order: Order,
    ) -> Result<Vec<RankMember>> {
        ranked(&[], |page, err| unsafe {
            sys::hf_rank_page(
                self.raw(),
                view(key.as_ref()),
                offset,
                limit,
                flags_of(order),
                page,
                err,
            )
        })
    }

    /// A member, and at most `each` on each side of it. Empty: there is no such
    /// member.
    pub fn rank_around(
        &self,
        key: impl AsRef<[u8]>,
        member: impl AsRef<[u8]>,
        each: usize,
        order: Order,
    ) -> Result<Vec<RankMember>> {
        ranked(&[Status::NOT_FOUND], |page, err| unsafe {
            sys::hf_rank_around(
                self.raw(),
                view(key.as_ref()),
                view(member.as_ref()),
                each,
                flags_of(order),
                page,
                err,
            )
        })
    }

    /// Count the members, or those whose score is from `min` to `max`.
    pub fn rank_count(
        &self,
        key: impl AsRef<[u8]>,
        min: Option<f64>,
        max: Option<f64>,
    ) -> Result<usize> {
        let bound = |given: &Option<f64>| given.as_ref().map_or(ptr::null(), ptr::from_ref);
        let mut count = 0;

        run(&[], |err| unsafe {
            sys::hf_rank_count(
                self.raw(),
                view(key.as_ref()),
                bound(&min),
                bound(&max),
                &mut count,
                err,
            )
        })?;
        Ok(count)
    }

    /// Remove members; how many of them were there.
    pub fn rank_remove<M: AsRef<[u8]>>(
        &self,
        key: impl AsRef<[u8]>,
        members: &[M],
    ) -> Result<usize> {
        let list = views(members);
        let mut removed = 0;

        run(&[], |err| unsafe {
            sys::hf_rank_remove(
                self.raw(),
                view(key.as_ref()),
                list.as_ptr(),
                list.len(),
                &mut removed,
                err,
            )
        })?;
        Ok(removed)
    }

    /// Remove members that have expired, and all but the top `keep`; `None`: all
    /// may stay. How many, and whether there are more, for another call.
    pub fn rank_trim(&self, key: impl AsRef<[u8]>, keep: Option<u32>) -> Result<(usize, bool)> {
        let mut trimmed = sys::hf_rank_trimmed {
            removed: 0,
            more: false,
        };

        run(&[], |err| unsafe {
            sys::hf_rank_trim(
                self.raw(),
                view(key.as_ref()),
                keep.map_or(-1, i64::from),
                &mut trimmed,
                err,
            )
        })?;
        Ok((trimmed.removed, trimmed.more))
    }

    /// Set the time to live of a member. `false`: there is no such member.
    pub fn rank_expire(
        &self,
        key: impl AsRef<[u8]>,
        member: impl AsRef<[u8]>,
        ttl: Ttl,
    ) -> Result<bool> {
        run(&[Status::NOT_FOUND], |err| unsafe {
            sys::hf_rank_expire(
                self.raw(),
                view(key.as_ref()),
                view(member.as_ref()),
                ttl.map_or(-1, millis),
                err,
            )
        })
        .map(|status| status == Status::OK)
    }
}
