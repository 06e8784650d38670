//! What is checked before the first request: file descriptors, ports, cores.

use std::net::{IpAddr, Ipv4Addr};

use plimsoll_system::{self as system, Address};

use crate::error::EngineError;
use crate::spec::Spec;

/// File descriptors the engine needs besides one for each connection.
const OWN_FILES: u64 = 64;

/// Ports of one source address that are used before the next address is taken: some stay free for
/// connections that are opened again while the old ones linger.
const PORTS_KEPT_FREE: usize = 256;

/// Source addresses in 127.0.0.0/8 that may be taken for connections to loopback.
const MOST_SOURCES: usize = 254;

/// First and last of the ports that a user's program may have.
const WIDEST_RANGE: (u16, u16) = (1024, u16::MAX);

/// What the checks found out for the workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Means {
    /// Source addresses that connections are spread over; empty leaves the choice to the system.
    pub sources: Vec<Ipv4Addr>,
}

/// Checks that this host can carry the load, and raises the limit of open files if necessary.
///
/// # Errors
///
/// [`EngineError::OpenFiles`], [`EngineError::Ports`] or [`EngineError::Core`], with the numbers.
pub fn check(spec: &Spec) -> Result<Means, EngineError> {
    let connections = spec.peak_connections();
    let allowed = system::allowed_cores().map_err(|source| EngineError::System {
        what: "reading the cores of this process",
        source,
    })?;
    check_cores(spec.cores.as_deref().unwrap_or_default(), &allowed)?;
    check_files(connections, system::raise_open_file_limit())?;
    let sources = sources(connections, &spec.address, ports(system::local_port_range()))?;
    Ok(Means { sources })
}

fn ports(range: Option<(u16, u16)>) -> usize {
    ports_of(range.unwrap_or((32768, 60999)))
}

fn ports_of((first, last): (u16, u16)) -> usize {
    usize::from(last.saturating_sub(first)) + 1
}

fn check_cores(asked: &[usize], allowed: &[usize]) -> Result<(), EngineError> {
    match asked.iter().find(|core| !allowed.contains(core)) {
        Some(&core) => Err(EngineError::Core { core, allowed: allowed.to_vec() }),
        None => Ok(()),
    }
}

fn check_files(connections: usize, limit: u64) -> Result<(), EngineError> {
    let needed = connections as u64 + OWN_FILES;
    if needed > limit { Err(EngineError::OpenFiles { connections, needed, limit }) } else { Ok(()) }
}

/// The source addresses that are needed for so many connections to one address and port; a Unix
/// socket has no ports.
fn sources(
    connections: usize,
    address: &Address,
    ports: usize,
) -> Result<Vec<Ipv4Addr>, EngineError> {
    let Address::Tcp(address) = address else { return Ok(Vec::new()) };
    let usable = ports.saturating_sub(PORTS_KEPT_FREE).max(1);
    if connections <= usable {
        return Ok(Vec::new());
    }
    let needed = connections.div_ceil(usable);
    let loopback = matches!(address.ip(), IpAddr::V4(ip) if ip.is_loopback());
    let most = if loopback { MOST_SOURCES } else { 1 };
    if needed > most {
        let widest = (ports_of(WIDEST_RANGE) - PORTS_KEPT_FREE) * most;
        let (address, ports) = (address.to_string(), usable * most);
        return Err(EngineError::Ports { connections, address, ports, widest });
    }
    Ok((1..=254u8).take(needed).map(|last| Ipv4Addr::new(127, 0, 0, last)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        text.parse().unwrap()
    }

    #[test]
    fn a_few_connections_need_no_source_address() {
        assert!(sources(9000, &address("127.0.0.1:80"), 28_232).unwrap().is_empty());
    }

    #[test]
    fn many_connections_to_loopback_are_spread_over_source_addresses() {
        let sources = sources(80_000, &address("127.0.0.1:80"), 28_232).unwrap();
        assert_eq!(sources.len(), 3);
        assert!(sources.iter().all(Ipv4Addr::is_loopback));
    }

    #[test]
    fn connections_to_a_unix_socket_need_no_ports() {
        assert!(sources(80_000, &address("unix:/run/app.sock"), 28_232).unwrap().is_empty());
    }

    #[test]
    fn more_connections_than_ports_are_refused_with_the_numbers() {
        let error = sources(30_000, &address("192.0.2.1:80"), 28_232).unwrap_err();
        assert!(error.to_string().contains("30000") && error.to_string().contains("27976"));
        assert!(error.hint().contains("ip_local_port_range"));
        assert!(error.hint().contains("at most 27976 connections"));
        let error = sources(70_000, &address("192.0.2.1:80"), 28_232).unwrap_err();
        assert_eq!(
            error.hint(),
            "at most 64256 connections, or several hosts that generate the load together"
        );
    }

    #[test]
    fn too_few_file_descriptors_are_refused_with_the_numbers() {
        let error = check_files(20_000, 1024).unwrap_err();
        assert_eq!(
            error.to_string(),
            "20000 connections need 20064 file descriptors, the limit is 1024"
        );
        assert!(check_files(960, 1024).is_ok());
    }

    #[test]
    fn a_core_that_is_not_there_is_refused() {
        assert!(check_cores(&[0, 1], &[0, 1]).is_ok());
        assert!(check_cores(&[2], &[0, 1]).unwrap_err().to_string().contains("core 2"));
    }
}
