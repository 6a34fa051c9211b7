//! Cases that engine `uring` meets in particular: other threads, and kernels that refuse it.

use takt_packet::{Config, EngineError, EngineKind, Missing, Wait, open};

use crate::refusing;
use crate::support::{self, P0, addr, connected, numbered, numbers, recv_some, send_all, unconnected, uring};

#[test]
fn an_engine_goes_on_in_every_thread_it_is_sent_to() {
    let mut server = uring(&unconnected(2));
    let mut client = uring(&connected(addr(&*server, 0)));
    for round in 0..20_u32 {
        // Some are read here, some have been put into buffers for this thread, some still wait in the socket.
        send_all(&mut *client, None, &numbered(round * 100..round * 100 + 60));
        let first = server.recv(support::soon()).unwrap().len();
        send_all(&mut *client, None, &numbered(round * 100 + 60..round * 100 + 100));
        let read = std::thread::spawn(move || {
            let seen = recv_some(&mut *server, 100 - first);
            (server, numbers(&seen))
        });
        let seen;
        (server, seen) = read.join().unwrap();
        assert_eq!(seen, (round * 100 + first as u32..round * 100 + 100).collect::<Vec<_>>());
        let to = addr(&*server, 0);
        client = std::thread::spawn(move || {
            send_all(&mut *client, None, &[b"here".to_vec()]);
            assert_eq!(client.local(P0).map(|at| at.ip()), Some(to.ip()));
            client
        })
        .join()
        .unwrap();
        assert_eq!(recv_some(&mut *server, 1)[0].bytes, b"here");
    }
    assert!(server.recv(Wait::Poll).unwrap().is_empty());
    assert_eq!(server.counters().receive_buffer_drops, Some(0));
}

#[test]
fn a_batch_is_full_or_nothing_is_left() {
    let mut server = uring(&Config { batch: 128, ..unconnected(1) });
    let mut client = uring(&connected(addr(&*server, 0)));
    // One look brings 32 datagrams of a socket at most (MULTISHOT_MAX_RETRY in Linux's io_uring/net.c).
    send_all(&mut *client, None, &numbered(0..100));
    assert_eq!(server.recv(support::soon()).unwrap().len(), 100);
}

#[test]
fn a_kernel_without_it_and_a_filter_are_told_apart() {
    let of = |errno| {
        refusing::io_uring_answers(errno, || match open(EngineKind::Uring, &unconnected(1)) {
            Err(EngineError::Missing { engine: EngineKind::Uring, missing }) => missing,
            Err(error) => panic!("{error:?}"),
            Ok(_) => panic!("it opened"),
        })
    };
    let Some(without) = of(libc::ENOSYS) else { return };
    assert_eq!(without, Missing::Uring);
    let switch = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
    let filtered = match switch.trim() {
        "1" | "2" => Missing::UringSwitchedOff { value: switch.trim().parse().unwrap() },
        _ => Missing::UringFiltered,
    };
    assert_eq!(of(libc::EPERM), Some(filtered));
    assert_eq!(of(libc::EINVAL), Some(Missing::NewerUring));
    assert_eq!(of(libc::ENOMEM), Some(Missing::LockedMemory));
    // Nothing is left behind: the ports are free, and the thread without a filter has its ring.
    drop(uring(&unconnected(1)));
}
