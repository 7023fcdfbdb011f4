//! Requests that say that they are idempotent are sent again; others never.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use scylla::errors::{DbError, RequestAttemptError};
use scylla::policies::retry::{RequestInfo, RetryDecision, RetryPolicy, RetrySession};

/// At most so many times.
const RETRIES: u32 = 3;

#[derive(Debug)]
pub struct RetryIdempotent {
    pub count: Arc<AtomicU64>,
}

struct Attempts {
    left: u32,
    count: Arc<AtomicU64>,
}

impl RetryPolicy for RetryIdempotent {
    fn new_session(&self) -> Box<dyn RetrySession> {
        Box::new(Attempts { left: RETRIES, count: self.count.clone() })
    }
}

/// The driver's default policy does not retry write timeouts, which is what a SERIAL read gets that competes with
/// conditional writes. Its coordinator is alive, so it is asked again.
fn decide(error: &RequestAttemptError) -> RetryDecision {
    match error {
        RequestAttemptError::DbError(error, _) => match error {
            DbError::WriteTimeout { .. } | DbError::ReadTimeout { .. } => RetryDecision::RetrySameTarget(None),
            DbError::Unavailable { .. }
            | DbError::Overloaded
            | DbError::IsBootstrapping
            | DbError::ServerError
            | DbError::TruncateError => RetryDecision::RetryNextTarget(None),
            _ => RetryDecision::DontRetry,
        },
        RequestAttemptError::BrokenConnectionError(_) | RequestAttemptError::UnableToAllocStreamId => {
            RetryDecision::RetryNextTarget(None)
        }
        _ => RetryDecision::DontRetry,
    }
}

impl RetrySession for Attempts {
    fn decide_should_retry(&mut self, request: RequestInfo) -> RetryDecision {
        if !request.is_idempotent || self.left == 0 {
            return RetryDecision::DontRetry;
        }
        let decision = decide(request.error);
        if decision != RetryDecision::DontRetry {
            self.left -= 1;
            self.count.fetch_add(1, Ordering::Relaxed);
        }
        decision
    }

    fn reset(&mut self) {
        self.left = RETRIES;
    }
}
