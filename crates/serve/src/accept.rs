//! Connections: each carries one request, and neither a crowd nor a slow client holds anything for long.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::peer::Peer;

/// Connections at once; more wait in the kernel's queue.
pub(crate) const CONNECTIONS: usize = 64;
/// Bytes of a request's head.
const HEAD_BYTES: usize = 16 << 10;
/// How long a client may take for the head of its request.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// How long a request may take, its answer included. One that becomes a WebSocket is over when that opens.
const REQUEST_TIME: Duration = Duration::from_secs(15);
/// How long to wait if the system gives no connection: others may give descriptors back.
const SHORTAGE: Duration = Duration::from_millis(100);

/// Serves connections until it is dropped.
pub(crate) async fn accept(listener: TcpListener, router: Router, peers_matter: bool) -> Infallible {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        // The semaphore is never closed.
        let place = Arc::clone(&places).acquire_owned().await.ok();
        match listener.accept().await {
            Ok((stream, there)) => {
                let router = router.clone();
                tokio::spawn(async move {
                    let peer = if peers_matter { peer(&stream, there) } else { Peer::Stranger };
                    // A connection's fate is its client's affair.
                    let _ = timeout(REQUEST_TIME, serve(stream, router, peer)).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::debug!("no connection: {error}");
                sleep(SHORTAGE).await;
            }
        }
    }
}

fn peer(stream: &TcpStream, there: SocketAddr) -> Peer {
    stream.local_addr().map_or(Peer::Stranger, |here| Peer::of(there, here))
}

async fn serve(stream: TcpStream, router: Router, peer: Peer) -> hyper::Result<()> {
    // Frames of a spectrum are small, and each is wanted at once. A socket that refuses this works nevertheless.
    let _ = stream.set_nodelay(true);
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(peer);
        router.call(request)
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await
}
