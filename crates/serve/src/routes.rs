//! Requests that a browser may send.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, LOCATION, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use tokio::sync::Semaphore;

use crate::guard::{COOKIE_NAME, Guard};
use crate::page::PAGE;
use crate::peer::Peer;
use crate::processes::Processes;
use crate::{feed, metrics};

/// Pages that watch a process at once.
pub(crate) const PAGES: usize = 8;

/// State that all requests share.
pub(crate) struct Shared {
    pub(crate) guard: Guard,
    pub(crate) processes: Processes,
    pub(crate) pages: Arc<Semaphore>,
    pub(crate) counts: Arc<Counts>,
}

/// Counts of the server itself.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) pages: AtomicU64,
    refused: AtomicU64,
}

impl Counts {
    /// Pages and refused requests.
    pub(crate) fn read(&self) -> (u64, u64) {
        (self.pages.load(Ordering::Relaxed), self.refused.load(Ordering::Relaxed))
    }
}

pub(crate) fn router(guard: Guard, processes: Processes, counts: Arc<Counts>) -> Router {
    let shared = Arc::new(Shared { guard, processes, pages: Arc::new(Semaphore::new(PAGES)), counts });
    Router::new()
        .route("/", get(async || Html(PAGE.html.as_str())))
        .route("/api/processes", get(processes_now))
        .route("/api/live", get(feed::live))
        .route("/metrics", get(metrics_now))
        .fallback(async || (StatusCode::NOT_FOUND, "There is nothing here. The page is at /.\n"))
        .layer(from_fn_with_state(Arc::clone(&shared), guarded))
        .with_state(shared)
}

/// Refuses whoever may not see the page, and protects each answer.
async fn guarded(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<Peer>().copied().unwrap_or(Peer::Stranger);
    let offered = request.uri().query().and_then(token_in).map(str::to_owned);
    let mut answer = match shared.guard.judge(request.headers(), offered.as_deref(), peer) {
        Err(refusal) => {
            shared.counts.refused.fetch_add(1, Ordering::Relaxed);
            (refusal.status(), refusal.words()).into_response()
        }
        Ok(()) => match (&offered, request.uri().path()) {
            (Some(token), "/") if shared.guard.token.is_some() => keep_token(token),
            _ => next.run(request).await,
        },
    };
    PAGE.protect(answer.headers_mut());
    answer
}

fn token_in(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Puts the token, which is right, into a cookie and out of the address. Scripts and other sites' requests never have it.
fn keep_token(token: &str) -> Response {
    let cookie = format!("{COOKIE_NAME}={token}; Path=/; HttpOnly; SameSite=Strict");
    match HeaderValue::from_str(&cookie) {
        Ok(cookie) => {
            (StatusCode::SEE_OTHER, [(SET_COOKIE, cookie), (LOCATION, HeaderValue::from_static("/"))]).into_response()
        }
        Err(_) => StatusCode::BAD_REQUEST.into_response(),
    }
}

async fn processes_now(State(shared): State<Arc<Shared>>) -> Response {
    match shared.processes.list().await {
        Ok(listing) => match serde_json::to_string(&listing) {
            Ok(text) => ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], text).into_response(),
            Err(error) => broken("The list can't be written", &error, ""),
        },
        Err(error) => broken("The processes can't be listed", &error, &error.fix()),
    }
}

async fn metrics_now(State(shared): State<Arc<Shared>>) -> Response {
    match shared.processes.samples().await {
        Ok(samples) => match metrics::text(&samples) {
            Ok(text) => ([(CONTENT_TYPE, HeaderValue::from_static(metrics::CONTENT_TYPE))], text).into_response(),
            Err(error) => broken("The metrics can't be written", &error, ""),
        },
        Err(error) => broken("The processes can't be listed", &error, &error.fix()),
    }
}

/// Says what is wrong on this side, and the fix.
fn broken(what: &str, error: &dyn Error, fix: &str) -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, format!("{what}: {error}.\n{fix}\n")).into_response()
}
