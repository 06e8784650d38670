//! Any text: a specification is taken, or refused with its problems.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_engine::error::EngineError;
use plimsoll_engine::spec::Spec;

fuzz_target!(|text: &str| {
    match Spec::parse(text) {
        Ok(spec) => assert!(spec.thread_count() > 0 && spec.load.peak_connections() > 0),
        Err(EngineError::Spec(problems)) => assert!(!problems.is_empty()),
        Err(error) => panic!("{error}"),
    }
});
