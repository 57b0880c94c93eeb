// SPDX-License-Identifier: Apache-2.0

//! driver_rslock PORT - rslock's driver; driver.py has the protocol.

use std::io::{stdin, BufRead};
use std::thread::sleep;
use std::time::{Duration, Instant};

use redis::Commands;
use rslock::{Lock, LockError, LockManager};
use tokio::runtime::{Builder, Runtime};

const POLL: Duration = Duration::from_millis(20);
const COUNT_WAIT: Duration = Duration::from_secs(1);
const COUNT_LEASE: Duration = Duration::from_secs(30);
const CARGO_LOCK: &str = include_str!("../Cargo.lock");

struct Driver {
    runtime: Runtime,
    connection: redis::Connection,
    manager: LockManager,
    lock: Option<Lock>,
    lease: Duration,
}

fn version() -> &'static str {
    let after = CARGO_LOCK.split("name = \"rslock\"\nversion = \"").nth(1);
    after.and_then(|text| text.split('"').next()).unwrap_or("unknown")
}

fn milliseconds(word: &str) -> Duration {
    Duration::from_millis(word.parse().expect("a number"))
}

fn microseconds(word: &str) -> Duration {
    Duration::from_micros(word.parse().expect("a number"))
}

impl Driver {
    fn new(port: &str) -> Driver {
        let url = format!("redis://127.0.0.1:{port}/");
        let client = redis::Client::open(url.as_str()).expect("a client");
        Driver {
            runtime: Builder::new_current_thread().enable_all().build().unwrap(),
            connection: client.get_connection().expect("a connection"),
            manager: LockManager::new(vec![url]),
            lock: None,
            lease: Duration::ZERO,
        }
    }

    // It waits for at most POLL, half of that on average.
    fn acquire(&mut self, name: &str, wait: Duration, lease: Duration) -> bool {
        let end = Instant::now() + wait;
        self.lease = lease;
        loop {
            let tries = if wait.is_zero() { 1 } else { 2 };
            self.manager.set_retry(tries, POLL * 2);
            match self.runtime.block_on(self.manager.lock(name, lease)) {
                Ok(lock) => {
                    self.lock = Some(lock);
                    return true;
                }
                Err(LockError::Unavailable) if Instant::now() < end => (),
                Err(LockError::Unavailable) => return false,
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn keep(&mut self, duration: Duration) -> bool {
        let end = Instant::now() + duration;
        self.manager.set_retry(1, POLL);
        while Instant::now() < end {
            sleep(std::cmp::min(self.lease / 3, end - Instant::now()));
            let lock = self.lock.as_ref().expect("a lock");
            match self.runtime.block_on(self.manager.extend(lock, self.lease)) {
                Ok(_) => (),
                Err(LockError::Unavailable) => return false,
                Err(error) => panic!("{error}"),
            }
        }
        true
    }

    fn release(&mut self) {
        let lock = self.lock.take().expect("a lock");
        self.runtime.block_on(self.manager.unlock(&lock));
    }

    fn count(
        &mut self,
        name: &str,
        key: &str,
        last: u64,
        hold: Duration,
        pause: Duration,
    ) -> u64 {
        let (mut times, mut value) = (0, 0);
        while value < last {
            if !self.acquire(name, COUNT_WAIT, COUNT_LEASE) {
                continue;
            }
            value = self.connection.get(key).expect("a counter");
            if value < last {
                sleep(hold);
                let _: () = self.connection.set(key, value + 1).expect("OK");
                times += 1;
            }
            self.release();
            sleep(pause);
        }
        times
    }

    fn pairs(&mut self, name: &str, duration: Duration) -> u128 {
        let (began, mut pairs) = (Instant::now(), 0);
        while began.elapsed() < duration {
            self.acquire(name, COUNT_WAIT, COUNT_LEASE);
            self.release();
            pairs += 1;
        }
        began.elapsed().as_nanos() / pairs
    }

    fn obey(&mut self, words: &[&str]) -> String {
        let choose = |yes, one: &str, other: &str| {
            String::from(if yes { one } else { other })
        };
        match words {
            ["acquire", name, wait, lease] => {
                let held =
                    self.acquire(name, milliseconds(wait), milliseconds(lease));
                choose(held, "held", "refused")
            }
            ["keep", duration] => {
                choose(self.keep(milliseconds(duration)), "kept", "lost")
            }
            ["release"] => {
                self.release();
                String::from("unknown") // it does not say
            }
            ["break", name] => {
                let deleted: u64 = self.connection.del(name).expect("a number");
                choose(deleted == 1, "broken", "free")
            }
            ["count", name, key, last, hold, pause] => {
                let last = last.parse().expect("a number");
                let (hold, pause) = (microseconds(hold), microseconds(pause));
                self.count(name, key, last, hold, pause).to_string()
            }
            ["pairs", name, duration] => {
                self.pairs(name, milliseconds(duration)).to_string()
            }
            _ => String::from("error no such command"),
        }
    }
}

fn main() {
    let port = std::env::args().nth(1).expect("PORT");
    let mut driver = Driver::new(&port);
    println!("ready {}", version());
    for line in stdin().lock().lines() {
        let line = line.expect("a line");
        let words: Vec<&str> = line.split_whitespace().collect();
        println!("{}", driver.obey(&words));
    }
}
