// SPDX-License-Identifier: Apache-2.0
//! The structures and constants are those of the headers: a program of C prints
//! its own. HOLDFAST_INCLUDE is the folder of holdfast.h.

use holdfast_sys::*;
use std::mem::{offset_of, size_of};
use std::process::Command;

macro_rules! layout {
    ($($name:ident { $($member:ident),* })*) => {
        /// (C's expression, its value here)
        fn expected() -> Vec<(String, String)> {
            let mut all = Vec::new();
            $(
                all.push((format!("sizeof({})", stringify!($name)),
                          size_of::<$name>().to_string()));
                $(all.push((format!("offsetof({}, {})", stringify!($name),
                                    stringify!($member)),
                            offset_of!($name, $member).to_string()));)*
            )*
            all
        }
    };
}

macro_rules! constants {
    ($($name:ident)*) => {
        fn constants() -> Vec<(String, String)> {
            vec![$((stringify!($name).to_string(), $name.to_string())),*]
        }
    };
}

layout! {
    hf_error { struct_size, status, sys_errno, message }
    hf_bytes { data, size }
    hf_buffer { data, size }
    hf_cas_options { struct_size, ttl_ms, flags, reserved0 }
    hf_value_set_options { struct_size, flags, reserved0, ttl_ms, expires_unix_ms }
    hf_lock_options { struct_size, ttl_ms, max_hold_ms, lost_margin_ms, flags, priority, on_lost, user, replicas, gaps, replicas_ms, min_hold_ms, delay_ms }
    hf_async { struct_size, done, user, call, txn }
    hf_attribute { name, kind, number, text }
    hf_timeline_item { id, payload, at_ms, ttl_ms, attributes, attribute_count }
    hf_timeline_items { items, count, next }
    hf_timeline_add_options { struct_size, flags, reserved0, at_ms, attributes, attribute_count }
    hf_cache_options { struct_size, flags, reserved0, ttl_ms, stale_ms, error_ms, absent_ms, lease_ms, wait_ms, jitter_percent, early_percent, tags, tag_count }
    hf_set_add_options { struct_size, flags, reserved0, ttl_ms }
    hf_set_member { member, ttl_ms }
    hf_set_members { items, count, next }
    hf_rank_add_options { struct_size, flags, reserved0, ttl_ms }
    hf_rank_place { score, rank, count }
    hf_rank_member { member, score, rank, ttl_ms }
    hf_rank_members { items, count }
    hf_rank_trimmed { removed, more }
    hf_queue_options { struct_size, flags, reserved0, delay_ms, priority, attempts, remember_ms, group }
    hf_job { struct_size, id, payload, group, attempt, attempts, priority, put_ms }
    hf_queue_info { struct_size, ready, taken, delayed, behind, dead, remembered, waiters, paused }
    hf_queue_jobs { jobs, count }
    hf_once_options { struct_size, flags, reserved0, fingerprint, keep_ms, period_ms, early_ms }
    hf_once_info { struct_size, state, status, remaining_ms, waiters, tick_ms, token, owner, result }
}

constants! {
    HF_OK HF_HELD HF_CONFLICT HF_NOT_FOUND HF_LOST HF_TIMEOUT HF_EXPIRED
    HF_CANCELLED HF_UNAVAILABLE HF_FULL HF_INDETERMINATE HF_INVALID
    HF_UNSUPPORTED HF_DENIED HF_WRONG_TYPE HF_SCRIPT HF_NO_MEMORY HF_CORRUPT
    HF_SYSTEM HF_ERROR_MESSAGE_SIZE HF_FOREVER HF_SET_NX HF_SET_XX
    HF_SET_KEEPTTL HF_LOCK_NO_RENEW HF_LOCK_PRIORITY_MAX
    HF_OWNER_SIZE HF_RANK_NX HF_RANK_XX HF_RANK_KEEPTTL HF_RANK_GT HF_RANK_LT
    HF_RANK_ASCENDING HF_QUEUE_DONE HF_QUEUE_AGAIN HF_QUEUE_DEFER HF_QUEUE_FAIL
    HF_QUEUE_READY HF_QUEUE_TAKEN HF_QUEUE_DELAYED HF_QUEUE_BEHIND HF_QUEUE_DEAD
    HF_ONCE_RETRY_DOUBT HF_ONCE_CLAIMED HF_ONCE_DONE HF_ONCE_DOUBT
}

#[test]
fn layout_and_constants_are_those_of_the_headers() {
    let mut all = expected();
    all.extend(constants());
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join("layout.c"), folder.join("layout"));
    let mut text = String::from("#include <holdfast.h>\n#include <stdio.h>\nint main(void)\n{\n");
    for (expression, _) in &all {
        text += &format!("    printf(\"%lld\\n\", (long long)({expression}));\n");
    }
    text += "    return 0;\n}\n";
    std::fs::write(&source, text).unwrap();
    let mut compiler = Command::new(std::env::var("CC").unwrap_or("cc".into()));
    if let Ok(include) = std::env::var("HOLDFAST_INCLUDE") {
        compiler.arg(format!("-I{include}"));
    }
    assert!(compiler
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .status()
        .unwrap()
        .success());
    let printed = Command::new(&program).output().unwrap().stdout;
    let printed = String::from_utf8(printed).unwrap();
    let values: Vec<&str> = printed.lines().collect();
    assert_eq!(values.len(), all.len());
    for ((expression, here), there) in all.iter().zip(values) {
        assert_eq!(here, there, "{expression}");
    }
}
