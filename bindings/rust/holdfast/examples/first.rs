// SPDX-License-Identifier: Apache-2.0
// The first example of README.md, as it is there.

use std::time::Duration;

fn main() -> holdfast::Result<()> {
    let store = holdfast::Client::new()?; // $HOLDFAST_STORE, else this user's memory
    let backup = store.lock("backup");
    let hold = backup.acquire_within(Duration::from_secs(5))?; // TIMEOUT after 5 s

    let count = store.add("backup:count", 1)?;
    store.put_fenced("backup:last", format!("number {count}"), hold.token())?;
    println!("backup {count}");
    Ok(())
} // releases the lock
