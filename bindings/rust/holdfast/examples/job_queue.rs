// SPDX-License-Identifier: Apache-2.0
//! A queue of jobs that several programs work on.
//!
//!     job_queue put JOB PAYLOAD
//!     job_queue work [SECONDS]
//!
//! Jobs are items of a timeline, due at their times. A worker takes the first
//! that is due and that it can lock; a lock that ends with its worker gives the
//! job back. The job and its result change in one transaction, and the fencing
//! token lets no worker that was paused replace the result of a newer one.

use holdfast::{Client, Result};
use std::time::{Duration, Instant, SystemTime};

const JOBS: &str = "{jobs}";

/// `true`: the job was done here.
fn work_on(store: &Client, job: &str) -> Result<bool> {
    let name = format!("{JOBS}:lock:{job}");
    let lock = store.lock(&name).ttl(Duration::from_secs(10));
    let Some(hold) = lock.try_acquire()? else {
        return Ok(false); // another worker has it
    };
    let Some(item) = store.timeline_get(JOBS, job)? else {
        return Ok(false); // finished between the look and the lock
    };
    let mut result = item.payload; // what a job is: its text backwards
    result.reverse();

    let done = store
        .transaction()?
        .if_token(&name, hold.token())
        .set(format!("{JOBS}:result:{job}"), &result)
        .timeline_remove(JOBS, job)
        .add(format!("{JOBS}:runs:{job}"), 1)
        .exec()?;
    if done {
        println!("{job} {}", String::from_utf8_lossy(&result));
    }
    Ok(done) // false: the lock was lost, another worker does it
}

/// One job that is due; `false`: there is none, or others have them all.
fn work(store: &Client) -> Result<bool> {
    for item in store.timeline_due(JOBS, SystemTime::now(), 100)? {
        if work_on(store, &String::from_utf8_lossy(&item.id))? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let store = Client::new()?;

    match words[..] {
        ["put", job, payload] => {
            let day = Duration::from_secs(86400);
            store.timeline_add(JOBS, job, payload, day, Some(SystemTime::now()))
        }
        ["work", ref rest @ ..] => {
            let seconds = rest.first().and_then(|s| s.parse().ok()).unwrap_or(60);
            let until = Instant::now() + Duration::from_secs(seconds);
            while Instant::now() < until {
                if !work(&store)? {
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
            Ok(())
        }
        _ => {
            eprintln!("usage: job_queue put JOB PAYLOAD | work [SECONDS]");
            std::process::exit(2);
        }
    }
}
