// SPDX-License-Identifier: Apache-2.0
//! Queues, work that is done once, sets and ranks.

use holdfast::{
    Claim, Claimed, Client, JobState, Once, OnceOptions, OnceState, Order, Outcome, PutOptions,
    RankAddOptions, RankPlace, SetAddOptions, Status,
};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MS: Duration = Duration::from_millis(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const BRIEF: Duration = Duration::from_millis(200);

fn open() -> Client {
    Client::new().unwrap()
}

fn fresh(name: &str) -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::SeqCst);

    format!("{name}-{}-{number}", std::process::id())
}

fn ours(once: &Once) -> Claim {
    match once.claim().unwrap() {
        Claimed::Ours(claim) => claim,
        Claimed::Before(result) => panic!("it was done: {result:?}"),
    }
}

#[test]
fn a_job_is_taken_until_it_is_done() {
    let (store, name) = (open(), format!("{{{}}}", fresh("q")));
    let queue = store.queue(&name);
    let options = PutOptions {
        id: b"a".to_vec(),
        attempts: 3,
        ..PutOptions::default()
    };

    assert!(queue.put_with("first", &options).unwrap());
    assert!(!queue.put_with("first", &options).unwrap());
    queue.put(b"sec\0nd").unwrap();
    {
        let job = queue.take().unwrap();

        assert!(job.hold().is_held() && job.hold().token() > 0);
        assert!(job.id == b"a" && job.payload == b"first" && job.attempts == 3);
        assert!(SystemTime::now().duration_since(job.put).unwrap_or(MS) < HOUR);
    } // goes back as if it had not been taken
    let job = queue.take().unwrap();
    assert!(job.id == b"a" && job.attempt == 1);
    let info = queue.inspect().unwrap();
    assert!(info.taken == 1 && info.ready == 1 && !info.paused);
    let ready = queue.list(JobState::Ready, 0, 10).unwrap();
    assert!(ready.len() == 1 && ready[0].payload == b"sec\0nd");
    let txn = store.transaction().unwrap().if_held(job.hold());
    let late = store.transaction().unwrap().if_held(job.hold());
    assert!(txn.set(name.clone() + "result", "1").exec().unwrap());
    job.done().unwrap();
    assert!(!late.set(name + "result", "2").exec().unwrap());
    let job = queue.take_within(MINUTE).unwrap().unwrap();
    assert!(job.payload == b"sec\0nd" && queue.take_within(MS).unwrap().is_none());
    job.release().unwrap();
    assert!(queue.take_within(MS).unwrap().is_some());
}

#[test]
fn a_job_ends_as_it_is_said() {
    let queue = open().queue(fresh("q"));
    let options = PutOptions {
        id: b"a".to_vec(),
        attempts: 2,
        ..PutOptions::default()
    };
    let dead = || queue.list(JobState::Dead, 0, 10).unwrap().len();

    assert!(queue.put_with("x", &options).unwrap());
    queue.take().unwrap().defer(MS).unwrap();
    let job = queue.take().unwrap();
    assert_eq!(job.attempt, 1);
    job.again(MS).unwrap();
    let job = queue.take().unwrap();
    assert_eq!(job.attempt, 2);
    assert_eq!(job.backoff(MS, MINUTE), 2 * MS);
    job.again(Duration::ZERO).unwrap();
    assert_eq!(dead(), 1);
    assert!(queue.revive("a").unwrap() && !queue.revive("a").unwrap());
    queue.take().unwrap().fail().unwrap();
    assert!(dead() == 1 && queue.revive_oldest(5).unwrap() == 1);
    queue.pause().unwrap();
    assert!(queue.inspect().unwrap().paused && queue.take_within(MS).unwrap().is_none());
    queue.resume().unwrap();
    queue.take().unwrap().done().unwrap();
}

#[test]
fn jobs_have_priorities_delays_and_groups() {
    let queue = open().queue(fresh("q"));
    let first = PutOptions {
        priority: 9,
        id: b"f".to_vec(),
        remember: HOUR,
        ..PutOptions::default()
    };
    let grouped = |priority| PutOptions {
        group: b"g".to_vec(),
        priority,
        ..PutOptions::default()
    };
    let later = PutOptions {
        delay: HOUR,
        ..PutOptions::default()
    };

    assert!(queue.put_with("one", &grouped(1)).unwrap());
    assert!(queue.put_with("two", &grouped(0)).unwrap());
    assert!(queue.put_with("later", &later).unwrap());
    assert!(queue.put_with("first", &first).unwrap());
    let job = queue.take().unwrap();
    let one = queue.take().unwrap();
    assert!(job.payload == b"first" && job.priority == 9);
    assert!(one.payload == b"one" && one.group == b"g");
    assert!(queue.take_within(MS).unwrap().is_none());
    job.done().unwrap();
    assert!(!queue.put_with("first", &first).unwrap());
    let info = queue.inspect().unwrap();
    assert!(info.behind == 1 && info.delayed == 1 && info.remembered == 1);
    assert_eq!(queue.list(JobState::Behind, 0, 9).unwrap().len(), 1);
    assert_eq!(queue.list(JobState::Delayed, 0, 9).unwrap().len(), 1);
    one.done().unwrap();
    assert_eq!(queue.take().unwrap().payload, b"two");
}

#[test]
fn next_ends_a_job_and_takes_another() {
    let (store, name) = (open(), fresh("q"));
    let queue = store.queue(&name);
    let mut done: Vec<u8> = Vec::new();

    for payload in ["a", "b", "c"] {
        queue.put(payload).unwrap();
    }
    let mut job = Some(queue.take().unwrap());
    while let Some(taken) = job {
        done.extend(&taken.payload);
        job = taken.next_within(Outcome::Done, MS).unwrap();
    }
    assert_eq!(done, b"abc");
    let info = queue.inspect().unwrap();
    assert!(info.taken == 0 && info.ready == 0);

    queue.put("e").unwrap();
    queue.put("f").unwrap();
    let job = queue.take().unwrap().next(Outcome::Again(HOUR)).unwrap();
    assert!(job.payload == b"f" && queue.inspect().unwrap().delayed == 1);
    assert!(job.next_within(Outcome::Fail, MS).unwrap().is_none());
    assert_eq!(queue.inspect().unwrap().dead, 1);
    queue.put("g").unwrap();
    let job = queue.take().unwrap();
    assert!(job.next_within(Outcome::Defer(HOUR), MS).unwrap().is_none());
    assert_eq!(queue.inspect().unwrap().delayed, 2);

    queue.put("h").unwrap();
    let late = store.queue(&name).ttl(BRIEF).no_renew().take().unwrap();
    let other = queue.take().unwrap(); // once the lease has ended
    assert!(other.payload == b"h" && other.attempt == 2);
    let error = late.next(Outcome::Done).err().unwrap();
    assert_eq!(error.status, Status::EXPIRED);
    other.done().unwrap();
}

#[test]
fn work_is_done_once() {
    let (store, key) = (open(), fresh("once"));
    let options = |fingerprint: &str| OnceOptions {
        fingerprint: fingerprint.into(),
        ..OnceOptions::default()
    };
    let once = store.once_with(&key, options("body"));
    let runs = AtomicU32::new(0);

    assert_eq!(once.inspect().unwrap(), None);
    {
        let claim = ours(&once);
        let info = once.inspect().unwrap().unwrap();

        assert!(claim.hold().is_held() && info.state == OnceState::Claimed);
        assert!(info.token == claim.hold().token() && !info.owner.is_empty());
        let error = once.claim_within(MS).err().unwrap();
        assert_eq!(error.status, Status::TIMEOUT);
    } // it has failed
    scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| match once.claim().unwrap() {
                Claimed::Ours(mut claim) => {
                    runs.fetch_add(1, Ordering::SeqCst);
                    claim.complete(7, "result").unwrap();
                }
                Claimed::Before(result) => {
                    assert!(result.status == 7 && result.result == b"result");
                }
            });
        }
    });
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    let info = once.inspect().unwrap().unwrap();
    assert!(info.state == OnceState::Done && info.tick.is_none());
    assert_eq!(info.result.unwrap().result, b"result");
    let error = store.once_with(&key, options("other")).claim().err();
    assert_eq!(error.unwrap().status, Status::INVALID);
    assert!(once.delete().unwrap() && !once.delete().unwrap());
    ours(&once).release().unwrap();
}

#[test]
fn work_in_doubt_is_not_done_again() {
    let (store, key) = (open(), fresh("once"));
    let mut killed = ours(&store.once(&key).ttl(BRIEF).no_renew());

    sleep(BRIEF + 100 * MS);
    let error = store.once(&key).claim().err().unwrap();
    assert_eq!(error.status, Status::EXPIRED);
    let info = store.once(&key).inspect().unwrap().unwrap();
    assert_eq!(info.state, OnceState::Doubt);
    let again = OnceOptions {
        retry_doubt: true,
        ..OnceOptions::default()
    };
    let mut claim = ours(&store.once_with(&key, again));
    assert_eq!(killed.complete(0, "").unwrap_err().status, Status::LOST);
    claim.complete(0, "").unwrap();
}

#[test]
fn work_is_done_once_in_a_period() {
    let once = open().once_with(
        fresh("once"),
        OnceOptions {
            period: Some(24 * HOUR),
            // So it is that of the next midnight.
            early: Some(24 * HOUR - MS),
            keep: Some(720 * HOUR),
            ..OnceOptions::default()
        },
    );

    ours(&once).complete(0, "").unwrap();
    let info = once.inspect().unwrap().unwrap();
    let tick = info.tick.unwrap().duration_since(UNIX_EPOCH).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    assert!(tick + MINUTE > now && tick.as_millis() % 86_400_000 == 0);
    assert!(info.remaining > 700 * HOUR);
}

#[test]
fn members_of_a_set_expire_one_by_one() {
    let (store, key) = (open(), fresh("set"));
    let plain = SetAddOptions::default();
    let timed = SetAddOptions {
        ttl: Some(MINUTE),
        ..plain
    };
    let has = |member: &str| store.set_has(&key, member).unwrap();

    assert_eq!(store.set_add(&key, &["ann", "a\0b"], &plain).unwrap(), 2);
    assert_eq!(store.set_add(&key, &["ann", "bob"], &timed).unwrap(), 1);
    assert!(has("bob").unwrap().unwrap() > 50 * (MINUTE / 60));
    assert!(has("a\0b") == Some(None) && has("eve").is_none());
    let absent = SetAddOptions {
        if_absent: true,
        ..plain
    };
    assert_eq!(store.set_add(&key, &["bob"], &absent).unwrap(), 0);
    let present = SetAddOptions {
        if_present: true,
        ..plain
    };
    assert_eq!(store.set_add(&key, &["eve"], &present).unwrap(), 0);
    let keep = SetAddOptions {
        ttl: Some(MS),
        keep_ttl: true,
        ..plain
    };
    assert_eq!(store.set_add(&key, &["bob"], &keep).unwrap(), 0);
    let some = store.set_has_members(&key, &["eve", "bob"]).unwrap();
    assert!(some[0].is_none() && some[1].unwrap() > Some(MINUTE / 2));
    assert_eq!(store.set_expire(&key, None, &["bob", "eve"]).unwrap(), 1);
    assert_eq!(has("bob"), Some(None));
    let page = store.set_page(&key, "", 0).unwrap();
    assert!(page.members.len() == 3 && page.next.is_empty());
    assert!(page
        .members
        .iter()
        .any(|one| one.member == b"ann" && one.ttl > Some(MINUTE / 2)));
    assert_eq!(store.set_expire(&key, Some(MS), &["ann"]).unwrap(), 1);
    sleep(20 * MS);
    assert_eq!(store.set_count(&key).unwrap(), 2);
    assert_eq!(store.set_remove(&key, &["ann", "bob"]).unwrap(), 1);
    let none: [&str; 0] = [];
    let error = store.set_add(&key, &none, &plain).unwrap_err();
    assert_eq!(error.status, Status::INVALID);
}

#[test]
fn a_rank_orders_members_by_score() {
    let (store, key) = (open(), fresh("rank"));
    let plain = RankAddOptions::default();
    let add = |member: &str, score, options: RankAddOptions| {
        store.rank_add(&key, member, score, &options).unwrap()
    };
    let member_of = |order| {
        let page = store.rank_page(&key, 0, 1, order).unwrap();
        page[0].member.clone()
    };

    assert!(add("ann", 30.0, plain) && add("bob", 10.0, plain));
    let (mut greater, mut less, mut absent, mut present) = (plain, plain, plain, plain);
    greater.if_greater = true;
    less.if_less = true;
    absent.if_absent = true;
    present.if_present = true;
    assert!(!add("bob", 5.0, greater) && !add("bob", 15.0, less));
    assert!(!add("bob", 15.0, absent) && !add("eve", 15.0, present));
    let timed = RankAddOptions {
        ttl: Some(MINUTE),
        ..plain
    };
    let place = store.rank_increment(&key, "eve", 20.5, &timed).unwrap();
    let expected = RankPlace {
        score: 20.5,
        rank: 1,
        count: 3,
    };
    assert_eq!(place, Some(expected));
    assert_eq!(store.rank_get(&key, "bob").unwrap().unwrap().rank, 2);
    assert_eq!(store.rank_get(&key, "none").unwrap(), None);
    let top = store.rank_page(&key, 0, 2, Order::Descending).unwrap();
    assert!(top.len() == 2 && top[0].member == b"ann" && top[1].rank == 1);
    assert!(top[0].ttl.is_none() && top[1].ttl > Some(MINUTE / 2));
    assert_eq!(member_of(Order::Descending), b"ann");
    assert_eq!(member_of(Order::Ascending), b"bob");
    let around = |member: &str| store.rank_around(&key, member, 1, Order::Ascending);
    assert_eq!(around("eve").unwrap()[0].member, b"bob");
    assert!(around("eve").unwrap().len() == 3 && around("none").unwrap().is_empty());
    let count = |min, max| store.rank_count(&key, min, max).unwrap();
    assert_eq!(count(None, None), 3);
    assert_eq!((count(Some(20.0), None), count(None, Some(20.0))), (2, 1));
    assert!(store.rank_expire(&key, "eve", None).unwrap());
    assert!(!store.rank_expire(&key, "none", Some(HOUR)).unwrap());
    assert_eq!(store.rank_trim(&key, Some(2)).unwrap(), (1, false));
    assert_eq!(store.rank_remove(&key, &["ann", "bob"]).unwrap(), 1);
    let error = store.set_count(&key).unwrap_err();
    assert_eq!(error.status, Status::WRONG_TYPE);
}
