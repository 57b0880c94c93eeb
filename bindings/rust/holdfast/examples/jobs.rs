// SPDX-License-Identifier: Apache-2.0
// The second example of README.md, as it is there.

use holdfast::{Claimed, Client, PutOptions, Result};
use std::time::Duration;

fn main() -> Result<()> {
    let store = Client::new()?;
    let mail = store.queue("mail");
    let options = PutOptions {
        attempts: 5,
        ..PutOptions::default()
    };

    mail.put_with("to: ann", &options)?;
    while let Some(job) = mail.take_within(Duration::from_millis(100))? {
        // The job may be done again; its mail is sent once.
        let sent = store.once([b"sent:", &job.id[..]].concat());

        if let Claimed::Ours(mut claim) = sent.claim()? {
            println!("sending {}", String::from_utf8_lossy(&job.payload));
            claim.complete(0, "")?;
        }
        job.done()?;
    }
    Ok(())
}
