//! Tests that need a process of their own, or a network of their own: they start themselves again.

use std::io::Write;
use std::net::SocketAddr;
use std::process::{Command, Output};

/// Set in the process that a test starts for itself; its value is the address of a server, or empty.
const INSIDE: &str = "PLIMSOLL_TEST_INSIDE";

/// What a test that runs in a process of its own says to the one that started it, one line.
const SAYS: &str = "says: ";

/// The address that was given to this process; nothing in a process that nobody started for a test.
pub fn given() -> Option<String> {
    std::env::var(INSIDE).ok()
}

/// Runs the test `name` of this binary again, in a process of its own that is given the address of
/// a server; returns what it says.
pub fn again(name: &str, server: SocketAddr) -> String {
    let output = itself(&[], name, &server.to_string());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = text.lines().find_map(|line| Some(line.split_once(SAYS)?.1.to_owned()));
    said.unwrap_or_else(|| panic!("{name} says nothing:\n{text}"))
}

/// Says something to the process that started this one.
pub fn say(text: &str) {
    println!("\n{SAYS}{text}");
}

/// Whether the test `name` now runs in a network of its own, with nothing but loopback and what
/// `setup` makes there. If it does not, it is run again in one; where that is not allowed, it is
/// left out, and that is said.
pub fn has_own_network(name: &str, setup: &str) -> bool {
    if given().is_some() {
        return true;
    }
    let setup = format!("ip link set lo up && {setup}");
    let tried = Command::new("unshare").args(["-rn", "sh", "-ec", &setup]).output();
    let problem = match tried {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Some(error.to_string()),
    };
    match problem {
        None => {
            itself(
                &["unshare", "-rn", "sh", "-ec", &format!("{setup} && exec \"$@\""), "sh"],
                name,
                "",
            );
        }
        Some(problem) => skip(name, &format!("no network of its own: {problem}")),
    }
    false
}

/// Says that a test is left out, past the harness, which keeps what is printed to itself.
pub fn skip(name: &str, reason: &str) {
    let mut terminal = std::io::stderr().lock();
    writeln!(terminal, "test {name} ... LEFT OUT, {reason}").unwrap();
}

fn itself(before: &[&str], name: &str, given: &str) -> Output {
    let this = std::env::current_exe().unwrap();
    let this = this.to_str().unwrap();
    let command = [before, &[this, name, "--exact", "--nocapture", "--test-threads=1"]].concat();
    let output = Command::new(command[0]).args(&command[1..]).env(INSIDE, given).output().unwrap();
    let streams = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{name}: {}\n{}{}", output.status, streams[0], streams[1]);
    assert!(streams[0].contains("1 passed"), "{name} is no test:\n{}", streams[0]);
    output
}
