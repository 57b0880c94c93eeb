// SPDX-License-Identifier: Apache-2.0
//! On the store that HOLDFAST_STORE names.

use holdfast::{
    CacheOptions, Cas, Client, FillError, Revised, SetOptions, Status, REVISION_ANY, REVISION_NONE,
};
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{mpsc, Arc};
use std::thread::{scope, sleep};
use std::time::{Duration, SystemTime};

fn open() -> Client {
    Client::new().unwrap()
}

fn fresh(name: &str) -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::SeqCst);

    format!("{name}-{}-{number}", std::process::id())
}

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn values() {
    let (store, key) = (open(), fresh("key"));

    assert_eq!(store.get(&key).unwrap(), None);
    store.set(&key, b"a\0b").unwrap();
    assert_eq!(store.get(&key).unwrap().unwrap(), b"a\0b");
    let mut options = SetOptions {
        if_absent: true,
        ..SetOptions::default()
    };
    assert!(!store.set_with(&key, "x", &options).unwrap());
    options = SetOptions {
        if_present: true,
        keep_ttl: true,
        ..SetOptions::default()
    };
    assert!(store.set_with(&key, "", &options).unwrap());
    assert_eq!(store.get(&key).unwrap().unwrap(), b"");
    options = SetOptions {
        expires_at: Some(SystemTime::now() - MINUTE),
        ..SetOptions::default()
    };
    assert!(store.set_with(&key, "gone", &options).unwrap());
    assert!(!store.delete(&key).unwrap());
    assert_eq!(store.add(&key, -5).unwrap(), -5);
    assert!(store.delete(&key).unwrap());
    assert!(store.put_fenced(&key, "new", 7).unwrap());
    assert!(!store.put_fenced(&key, "late", 6).unwrap());
}

#[test]
fn compare_and_set() {
    let (store, key) = (open(), fresh("test:String:cas"));

    assert_eq!(store.cas(&key, None, "1", None).unwrap(), Cas::Done);
    assert_eq!(
        store.cas(&key, Some(b"2"), "3", None).unwrap(),
        Cas::Refused(Some(b"1".to_vec()))
    );
    assert_eq!(
        store.cas(&key, Some(b"1"), "4", Some(MINUTE)).unwrap(),
        Cas::Done
    );
    assert_eq!(
        store.cas(fresh("none"), Some(b""), "4", None).unwrap(),
        Cas::Refused(None)
    );
}

#[test]
fn errors() {
    let (store, key) = (open(), fresh("text"));

    store.set(&key, "x").unwrap();
    let error = store.add(&key, 1).unwrap_err();
    assert_eq!(error.status, Status::WRONG_TYPE);
    assert!(!error.message.is_empty() && error.status.name() == "WRONG_TYPE");
    let error = Client::open("no-such-scheme:").err().unwrap();
    assert_eq!(error.status, Status::INVALID);
}

#[test]
fn a_lock() {
    let store = open();
    let lock = store.lock(fresh("lock")).ttl(MINUTE);
    let hold = lock.acquire().unwrap();

    assert!(hold.is_held() && hold.token() > 0);
    assert!(hold.remaining() > MINUTE / 2);
    assert!(lock.try_acquire().unwrap().is_none());
    let error = lock
        .acquire_within(Duration::from_millis(20))
        .err()
        .unwrap();
    assert_eq!(error.status, Status::TIMEOUT);
    let token = hold.token();
    hold.renew().unwrap();
    hold.release().unwrap();
    {
        let hold = lock.acquire().unwrap();
        assert!(hold.token() > token);
    }
    assert!(lock.try_acquire().unwrap().is_some()); // dropped: released
}

#[test]
fn threads_exclude_each_other() {
    let lock = open().lock(fresh("lock"));
    let (inside, worst) = (AtomicI64::new(0), AtomicI64::new(0));

    scope(|all| {
        for _ in 0..8 {
            all.spawn(|| {
                for _ in 0..10 {
                    let hold = lock.acquire().unwrap();
                    let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
                    worst.fetch_max(now, Ordering::SeqCst);
                    inside.fetch_sub(1, Ordering::SeqCst);
                    hold.release().unwrap();
                }
            });
        }
    });
    assert_eq!(worst.load(Ordering::SeqCst), 1);
}

#[test]
fn an_interrupt_ends_waits() {
    let store = open();
    let lock = store.lock(fresh("lock"));
    let held = lock.acquire().unwrap();

    scope(|all| {
        let waiter = all.spawn(|| lock.acquire().err().unwrap().status);
        while !waiter.is_finished() {
            store.interrupt().unwrap();
            sleep(Duration::from_millis(10));
        }
        assert_eq!(waiter.join().unwrap(), Status::CANCELLED);
    });
    held.release().unwrap();
}

#[test]
fn a_lost_lock() {
    let (to, from) = mpsc::channel();
    let store = open();
    let lock = store
        .lock(fresh("lock"))
        .ttl(Duration::from_millis(300))
        .no_renew()
        .on_lost(move |reason| to.send(reason).unwrap());
    let hold = lock.acquire().unwrap();

    // Reported before the validity ends.
    let reason = from.recv_timeout(MINUTE).unwrap();
    assert_eq!(reason, Status::EXPIRED);
    sleep(Duration::from_millis(100)); // until it has ended in the store too
    assert!(!hold.is_held());
    let refused = store.transaction().unwrap().if_held(&hold).exec();
    assert_eq!(refused.unwrap_err().status, Status::LOST);
    assert_eq!(hold.release().unwrap_err().status, Status::EXPIRED);
}

#[test]
fn other_locks() {
    let (store, name) = (open(), fresh("rw"));
    let writer = store.write_lock(&name);

    {
        let _one = store.read_lock(&name).acquire().unwrap();
        let _two = store.read_lock(&name).acquire().unwrap();
        assert!(writer.try_acquire().unwrap().is_none());
    }
    let hold = writer.acquire_within(MINUTE).unwrap();
    assert!(store.read_lock(&name).try_acquire().unwrap().is_none());
    hold.release().unwrap();

    let permit = store.semaphore(fresh("s"), 2);
    let _one = permit.acquire().unwrap();
    let _two = permit.acquire().unwrap();
    assert!(permit.try_acquire().unwrap().is_none());
}

#[test]
fn one_thread_fills_a_cache_entry() {
    let (store, key, tag) = (open(), fresh("c"), fresh("tag"));
    let fills = Arc::new(AtomicU32::new(0));
    let options = CacheOptions {
        ttl: MINUTE,
        tags: vec![tag.clone().into_bytes()],
        ..CacheOptions::default()
    };

    scope(|all| {
        for _ in 0..8 {
            all.spawn(|| {
                let value = store.get_or_fill(&key, &options, || {
                    fills.fetch_add(1, Ordering::SeqCst);
                    sleep(Duration::from_millis(30));
                    Ok::<_, String>(Some(b"row".to_vec()))
                });
                assert_eq!(value.unwrap().unwrap(), b"row");
            });
        }
    });
    assert_eq!(fills.load(Ordering::SeqCst), 1);
    assert!(store.invalidate(&tag).unwrap());
    let failed = store.get_or_fill(&key, &options, || Err("the database is down"));
    assert!(matches!(
        failed,
        Err(FillError::Fill("the database is down"))
    ));
    let panicked = std::panic::catch_unwind(|| {
        store.get_or_fill(fresh("p"), &options, || -> Result<_, String> {
            panic!("in a fill")
        })
    });
    assert!(panicked.is_err());
    let none = store.get_or_fill(fresh("n"), &options, || Ok::<_, String>(None));
    assert_eq!(none.unwrap(), None);
}

#[test]
fn a_transaction() {
    let (store, tag) = (open(), fresh("{t") + "}");
    let (a, n, line) = (tag.clone() + "a", tag.clone() + "n", tag + "line");

    let refused = store.transaction().unwrap().if_exists(&a).set(&n, "x");
    assert!(!refused.exec().unwrap());
    store.set(&a, "1").unwrap();
    store.timeline_add(&line, "id", "p", MINUTE, None).unwrap();
    let due = store.timeline_due(&line, SystemTime::now() + MINUTE, 10);
    assert_eq!(due.unwrap()[0].payload, b"p");
    let done = store
        .transaction()
        .unwrap()
        .if_value(&a, "1")
        .add(&n, 3)
        .put_fenced(&a, "2", 1)
        .timeline_remove(&line, "id")
        .exec();
    assert!(done.unwrap());
    assert_eq!(store.get(&n).unwrap().unwrap(), b"3");
    assert_eq!(store.timeline_get(&line, "id").unwrap(), None);
    let invalid = store.transaction().unwrap().set("", "x").exec();
    assert_eq!(invalid.unwrap_err().status, Status::INVALID);
}

#[test]
fn a_transaction_needs_a_lease() {
    let (store, tag) = (open(), fresh("{t") + "}");
    let key = tag.clone() + "k";

    for lock in [
        store.lock(tag.clone() + "lock"),
        store.read_lock(tag.clone() + "read"),
        store.write_lock(tag.clone() + "write"),
        store.semaphore(tag.clone() + "permits", 2),
    ] {
        let hold = lock.acquire().unwrap();
        let now = store.transaction().unwrap().if_held(&hold).set(&key, "1");
        let late = store.transaction().unwrap().if_held(&hold).set(&key, "2");
        assert!(now.exec().unwrap());
        hold.release().unwrap();
        assert!(!late.exec().unwrap());
        assert_eq!(store.get(&key).unwrap().unwrap(), b"1");
        assert!(store.delete(&key).unwrap());
    }
}

#[test]
fn a_transaction_needs_a_token() {
    let (store, tag) = (open(), fresh("{t") + "}");
    let (name, key) = (tag.clone() + "lock", tag + "k");
    let hold = store.lock(&name).acquire().unwrap();
    let token = hold.token();
    let set = |token, value| {
        let txn = store.transaction().unwrap().if_token(&name, token);
        txn.set(&key, value).exec()
    };

    assert!(!set(token + 1, "1").unwrap());
    assert_eq!(store.get(&key).unwrap(), None);
    assert!(set(token, "2").unwrap());
    hold.release().unwrap();
    assert!(!set(token, "3").unwrap());
    assert_eq!(set(0, "4").unwrap_err().status, Status::INVALID);
    assert_eq!(store.get(&key).unwrap().unwrap(), b"2");
}

#[test]
fn a_revision_is_used_once() {
    let (store, key) = (open(), fresh("revised"));
    let put = |value, expected| {
        store
            .put_revised(&key, value, expected, &SetOptions::default())
            .unwrap()
    };
    let Revised::Done(first) = put("a", REVISION_NONE) else {
        panic!("there is none");
    };
    let read = store.get_revised(&key).unwrap().unwrap();

    assert_eq!(read, (b"a".to_vec(), first));
    let Revised::Done(second) = put("b", first) else {
        panic!("it has that revision");
    };
    assert!(second > first);
    assert_eq!(put("c", first), Revised::Refused(Some(second)));
    assert_eq!(
        store.delete_revised(&key, first).unwrap(),
        Revised::Refused(Some(second))
    );
    assert!(matches!(
        store.delete_revised(&key, REVISION_ANY).unwrap(),
        Revised::Done(_)
    ));
    assert_eq!(store.get_revised(&key).unwrap(), None);
    assert_eq!(put("d", 7), Revised::Refused(None));
}

#[test]
fn a_transaction_needs_a_fence() {
    let (store, tag) = (open(), fresh("{t") + "}");
    let (fenced, key) = (tag.clone() + "f", tag + "k");
    let set = |token| {
        let txn = store.transaction().unwrap().if_fence(&fenced, token);
        txn.set(&key, [token as u8])
            .put_fenced(&fenced, "1", token)
            .exec()
    };

    assert!(set(7).unwrap());
    assert!(!set(6).unwrap());
    assert_eq!(store.get(&key).unwrap().unwrap(), [7]);
}
