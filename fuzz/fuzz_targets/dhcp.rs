#![no_main]
//! A DHCP message of any bytes is read or refused; what is read is written so that it is read again as the same, and
//! neither a client nor a server is led astray by it. Never a panic.

use takt_path::dhcp::{Client, Message, Pool, Server};

const POOL: Pool = Pool {
    server: std::net::Ipv4Addr::new(10, 0, 1, 1),
    prefix_len: 24,
    first: std::net::Ipv4Addr::new(10, 0, 1, 2),
    count: 1,
    router: None,
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(message) = Message::parse(bytes) else { return };
    assert_eq!(Message::parse(&message.to_bytes()), Ok(message));
    let mut server = Server::new(POOL);
    if let Some(answer) = server.answer(&message) {
        assert_eq!((answer.transaction, answer.client), (message.transaction, message.client));
        assert!(answer.yours.is_unspecified() || answer.yours == POOL.first);
    }
    let mut client = Client::new(message.client, message.transaction);
    assert_eq!(client.receive(&message), None, "no lease without an offer");
});
