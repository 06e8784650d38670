//! Connections whose server has to be asked for the protocol first: the upgrade to WebSocket.

use std::io::{self, ErrorKind};

use plimsoll_system::Ready;
use plimsoll_tls::Failure;

use super::{Slot, Unread, Worker};
use crate::outcome::{Outcome, errno_of};
use crate::protocol::websocket::upgrade::Answer;
use crate::transport::{Read, Transport};

impl Worker<'_> {
    /// Goes on with the upgrade of a slot whose socket is ready for something.
    pub(super) fn upgrade(&mut self, index: usize, ready: Ready) {
        if let Err(error) = self.ask(index) {
            if error.kind() != ErrorKind::WouldBlock {
                return self.upgrade_broke(index, &error);
            }
        }
        loop {
            let Some(transport) = &mut self.slots[index].transport else { return };
            let count = match transport.receive(&mut self.buffer) {
                Ok(Read { count: 0, .. }) => {
                    return self.connect_failed(index, Outcome::UpgradeClosed, 0);
                }
                Ok(Read { count, .. }) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => return self.upgrade_broke(index, &error),
            };
            let now_ns = self.clock();
            match self.slots[index].connection.answered(&self.buffer[..count], now_ns) {
                Answer::Partial => {}
                Answer::Upgraded { consumed } => {
                    self.buffer.copy_within(consumed..count, 0);
                    return self.upgraded(index, ready.hung_up, count - consumed);
                }
                Answer::Refused { .. } => {
                    return self.connect_failed(index, Outcome::UpgradeRefused, 0);
                }
                Answer::Invalid { .. } => {
                    return self.connect_failed(index, Outcome::UpgradeInvalid, 0);
                }
            }
        }
    }

    /// Hands over what is left of the request for the upgrade.
    fn ask(&mut self, index: usize) -> io::Result<()> {
        let Slot { transport: Some(transport), connection, .. } = &mut self.slots[index] else {
            return Ok(());
        };
        while connection.is_sending() {
            let count = transport.send(connection.asked())?;
            connection.sent(count, 0);
        }
        transport.flush()
    }

    /// A connection is upgraded; `count` bytes that came with that are in the buffer, and more may
    /// lie in the socket, which that makes ready no more.
    fn upgraded(&mut self, index: usize, hung_up: bool, count: usize) {
        let attempt = self.slots[index].connection.attempt();
        let negotiated = self.slots[index].transport.as_ref().and_then(Transport::negotiated);
        self.connected(index, negotiated);
        self.take_in(index, hung_up, count);
        self.unread.push(Unread { index, attempt, hung_up });
    }

    fn upgrade_broke(&mut self, index: usize, error: &io::Error) {
        let alert = Failure::within(error).and_then(Failure::alert);
        self.slots[index].connection.alerted(alert);
        self.connect_failed(index, Outcome::of_upgrade(error), errno_of(error));
    }
}
