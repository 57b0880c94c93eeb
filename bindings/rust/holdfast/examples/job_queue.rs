// SPDX-License-Identifier: Apache-2.0
//! A queue of jobs that several programs work on.
//!
//!     job_queue put JOB PAYLOAD
//!     job_queue work [SECONDS]
//!
//! The job of a worker that was killed is taken by another when its lease ends,
//! so it may be done twice. Its result is stored only while the worker has the
//! job: one that was paused does not replace the result of a newer one.

use holdfast::{Client, Job, PutOptions, Result, Status};
use std::thread::sleep;
use std::time::{Duration, Instant};

const JOBS: &str = "{jobs}";

/// What a job is: here, its text backwards, which takes a while.
fn run(payload: &[u8]) -> Vec<u8> {
    sleep(Duration::from_millis(20));
    payload.iter().rev().copied().collect()
}

fn work_on(store: &Client, job: Job) -> Result<()> {
    let (id, result) = (
        String::from_utf8_lossy(&job.id).into_owned(),
        run(&job.payload),
    );
    let written = store
        .transaction()?
        .if_held(job.hold())
        .set(format!("{JOBS}:result:{id}"), &result)
        .add(format!("{JOBS}:runs:{id}"), 1)
        .exec()?;

    if written {
        job.done()?;
        println!("{id} {}", String::from_utf8_lossy(&result));
    }
    Ok(())
}

fn work(store: &Client, seconds: u64) -> Result<()> {
    // Renewed; what a killed worker delays its job for.
    let queue = store.queue(JOBS).ttl(Duration::from_secs(5));
    let until = Instant::now() + Duration::from_secs(seconds);

    while Instant::now() < until {
        if let Some(job) = queue.take_within(Duration::from_secs(1))? {
            match work_on(store, job) {
                // Another worker has the job.
                Err(error) if [Status::LOST, Status::EXPIRED].contains(&error.status) => {}
                done => done?,
            }
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let store = Client::new()?;

    match words[..] {
        ["put", job, payload] => {
            let options = PutOptions {
                id: job.into(),
                ..PutOptions::default()
            };
            if !store.queue(JOBS).put_with(payload, &options)? {
                eprintln!("the queue has {job} already");
                std::process::exit(1);
            }
            Ok(())
        }
        ["work", ref rest @ ..] => work(
            &store,
            rest.first().and_then(|s| s.parse().ok()).unwrap_or(60),
        ),
        _ => {
            eprintln!("usage: job_queue put JOB PAYLOAD | work [SECONDS]");
            std::process::exit(2);
        }
    }
}
