//! One request.

use std::sync::atomic::Ordering;
use std::time::Duration;

use scylla::response::{PagingState, PagingStateResponse};
use scylla::statement::batch::{Batch, BatchStatement, BatchType};
use tokio::time::{Instant, timeout_at};

use crate::abi::{Kind, OF_SESSION, Outcome, Request};
use crate::connect::{Client, consistency, serial_consistency};
use crate::errors;
use crate::values::{BatchBound, Bound};

const SERIAL: u16 = 8;
const LOCAL_SERIAL: u16 = 9;

/// Counts a request as long as it is under way.
struct InFlight<'a>(&'a Client);

impl<'a> InFlight<'a> {
    fn new(client: &'a Client) -> InFlight<'a> {
        client.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(client)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends the request and waits for the answer: until its own timeout, or the one of all of the call.
pub async fn perform(client: &Client, request: &Request, deadline: Instant) -> Outcome {
    let start = Instant::now();
    if start >= deadline {
        return Outcome::with_message(Kind::NotSent, "the deadline passed before the request was sent");
    }
    let timeout = match request.timeout_ms {
        0 => client.request_timeout,
        own => Duration::from_millis(own.into()),
    };
    let until = deadline.min(start + timeout);
    let _counted = InFlight::new(client);
    let mut outcome = timeout_at(until, attempt(client, request)).await.unwrap_or_else(|_| {
        let text = format!("no answer within {} ms", (until - start).as_millis());
        Outcome::with_message(Kind::Timeout, text)
    });
    outcome.microseconds = start.elapsed().as_micros() as u64;
    outcome
}

async fn attempt(client: &Client, request: &Request) -> Outcome {
    let result = match request.parts() {
        [] => Err(Outcome::with_message(Kind::Misuse, "a request without a statement")),
        [_] => one(client, request).await,
        _ => batch(client, request).await,
    };
    match result {
        Ok(outcome) | Err(outcome) => outcome,
    }
}

/// The options that statements and batches have under the same names.
macro_rules! set_options {
    ($target:expr, $request:expr, $client:expr) => {
        if $request.consistency != OF_SESSION {
            $target.set_consistency(consistency($request.consistency)?);
        }
        if $request.serial_consistency != OF_SESSION {
            $target.set_serial_consistency(Some(serial_consistency($request.serial_consistency)?));
        }
        if $request.conditional != 0 || matches!($request.consistency, SERIAL | LOCAL_SERIAL) {
            $target.set_load_balancing_policy(Some($client.first_replica.clone()));
        }
        if $request.idempotent != 0 {
            $target.set_is_idempotent(true);
            $target.set_retry_policy(Some($client.retry.clone()));
        }
        if $request.trace != 0 {
            $target.set_tracing(true);
        }
    };
}

async fn one(client: &Client, request: &Request) -> Result<Outcome, Outcome> {
    let part = &request.parts()[0];
    let bound = part.statement().prepared.clone().bind(&Bound(part));
    let mut bound = bound.map_err(|error| Outcome::with_message(Kind::Misuse, error.to_string()))?;
    set_options!(bound, request, client);
    let result = if request.page_size == 0 {
        client.session.execute_bound_unpaged(&bound).await.map(|result| (result, PagingStateResponse::NoMorePages))
    } else {
        bound.set_page_size(request.page_size.min(i32::MAX as u32) as i32);
        let state = match request.paging_state.bytes() {
            [] => PagingState::start(),
            state => PagingState::new_from_raw_bytes(state),
        };
        client.session.execute_bound_single_page(&bound, state).await
    };
    let (result, paging) = result.map_err(|error| errors::of_execution(&error))?;
    Ok(Outcome::success(result, paging))
}

async fn batch(client: &Client, request: &Request) -> Result<Outcome, Outcome> {
    let parts = request.parts();
    // A prepared statement consists of pointers and options, so its copies are cheap.
    let statements = parts.iter().map(|part| BatchStatement::from(part.statement().prepared.clone())).collect();
    let kind = if request.logged != 0 { BatchType::Logged } else { BatchType::Unlogged };
    let mut batch = Batch::new_with_statements(kind, statements);
    set_options!(batch, request, client);
    let result = client.session.batch(&batch, BatchBound(parts)).await.map_err(|error| errors::of_execution(&error))?;
    Ok(Outcome::success(result, PagingStateResponse::NoMorePages))
}
