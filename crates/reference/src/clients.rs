//! The clients of one worker, each under a token that is never given twice.

use crate::client::Client;

/// One place; its generation counts the clients that have had it.
#[derive(Default)]
struct Place {
    generation: u32,
    client: Option<Client>,
}

/// Clients by token. The token of a client that is gone finds none, even when its place is taken.
#[derive(Default)]
pub(super) struct Clients {
    places: Vec<Place>,
    free: Vec<u32>,
}

impl Clients {
    /// Takes a client in; returns its token.
    pub fn insert(&mut self, client: Client) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| self.new_place());
        let place = &mut self.places[index as usize];
        place.client = Some(client);
        u64::from(place.generation) << 32 | u64::from(index)
    }

    /// The client with a token, if it is still there.
    pub fn get(&mut self, token: u64) -> Option<&mut Client> {
        self.place(token)?.client.as_mut()
    }

    /// Takes a client out.
    pub fn remove(&mut self, token: u64) -> Option<Client> {
        let place = self.place(token)?;
        let client = place.client.take()?;
        place.generation = place.generation.wrapping_add(1) & GENERATION_MASK;
        self.free.push(index_of(token));
        Some(client)
    }

    fn place(&mut self, token: u64) -> Option<&mut Place> {
        let place = self.places.get_mut(index_of(token) as usize)?;
        (u64::from(place.generation) == token >> 32).then_some(place)
    }

    #[allow(clippy::cast_possible_truncation)]
    fn new_place(&mut self) -> u32 {
        self.places.push(Place::default());
        // More places than file descriptors, of which there are far fewer than 2³², can't be.
        (self.places.len() - 1) as u32
    }
}

/// Leaves the highest bit of tokens to those that are no client's.
const GENERATION_MASK: u32 = u32::MAX >> 1;

#[allow(clippy::cast_possible_truncation)]
fn index_of(token: u64) -> u32 {
    token as u32
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;
    use crate::Streams;
    use crate::channel::Channel;

    fn client() -> Client {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        Client::new(Channel::new(socket.into(), None).unwrap(), Streams::default())
    }

    #[test]
    fn a_client_is_found_by_its_token_until_it_is_removed() {
        let mut clients = Clients::default();
        let tokens = [clients.insert(client()), clients.insert(client())];
        assert!(tokens.iter().all(|&token| clients.get(token).is_some()));
        assert!(clients.remove(tokens[0]).is_some());
        assert!(clients.get(tokens[0]).is_none());
        assert!(clients.remove(tokens[0]).is_none());
        assert!(clients.get(tokens[1]).is_some());
    }

    #[test]
    fn a_token_does_not_find_the_next_client_in_the_same_place() {
        let mut clients = Clients::default();
        let before = clients.insert(client());
        clients.remove(before);
        let after = clients.insert(client());
        assert_eq!(index_of(before), index_of(after));
        assert!(clients.get(before).is_none());
        assert!(clients.get(after).is_some());
    }

    #[test]
    fn a_token_that_was_never_given_finds_nobody() {
        assert!(Clients::default().get(7).is_none());
    }
}
