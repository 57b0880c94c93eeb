// SPDX-License-Identifier: Apache-2.0
//! Finds libholdfast: in HOLDFAST_LIB, a folder, else by pkg-config.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=HOLDFAST_LIB");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if let Ok(folder) = env::var("HOLDFAST_LIB") {
        println!("cargo:rustc-link-search=native={folder}");
    } else {
        let found = Command::new("pkg-config")
            .args(["--libs-only-L", "holdfast"])
            .output()
            .expect("pkg-config, or HOLDFAST_LIB, is needed to find libholdfast");
        assert!(
            found.status.success(),
            "no libholdfast: install it, or set HOLDFAST_LIB to its folder"
        );
        for word in String::from_utf8_lossy(&found.stdout).split_whitespace() {
            if let Some(folder) = word.strip_prefix("-L") {
                println!("cargo:rustc-link-search=native={folder}");
            }
        }
    }
    println!("cargo:rustc-link-lib=dylib=holdfast");
}
