//! Many requests in one call.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use futures::FutureExt;
use tokio::time::Instant;

use crate::abi::{Kind, Outcome, Request};
use crate::connect::Client;
use crate::request::perform;

/// What the caller lends to the lanes. It waits until the last of them is done.
struct Lent {
    client: *const Client,
    requests: *const Request,
    outcomes: *mut Outcome,
    count: usize,
    deadline: Instant,
    next: AtomicUsize,
    lanes: Mutex<usize>,
    done: Condvar,
}

// Each request, and its outcome, is used by the one lane that took it.
unsafe impl Send for Lent {}
unsafe impl Sync for Lent {}

/// The outcome of a panic, which has most often a text.
pub fn panicked(panic: Box<dyn Any + Send>) -> Outcome {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    Outcome::with_message(Kind::Internal, format!("the driver panicked: {}", text.unwrap_or("no reason given")))
}

async fn caught(work: impl Future<Output = Outcome>) -> Outcome {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(panicked)
}

/// A lane: one request after the other.
async fn lane(lent: &Lent) {
    loop {
        let index = lent.next.fetch_add(1, Ordering::Relaxed);
        if index >= lent.count {
            return;
        }
        let (client, request) = unsafe { (&*lent.client, &*lent.requests.add(index)) };
        let outcome = caught(perform(client, request, lent.deadline)).await;
        unsafe { lent.outcomes.add(index).write(outcome) };
    }
}

/// Writes `outcomes[i]` for `requests[i]`; returns when there are all.
///
/// # Safety
/// There are `count` of both.
pub unsafe fn run(
    client: &Client,
    requests: *const Request,
    count: usize,
    most: usize,
    deadline: Instant,
    outcomes: *mut Outcome,
) {
    if count == 1 {
        // On the caller's thread, which has to wait anyway.
        let request = unsafe { &*requests };
        let work = || client.runtime.block_on(caught(perform(client, request, deadline)));
        let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked);
        unsafe { outcomes.write(outcome) };
        return;
    }
    let lanes = most.clamp(1, count);
    let lent = Arc::new(Lent {
        client,
        requests,
        outcomes,
        count,
        deadline,
        next: AtomicUsize::new(0),
        lanes: Mutex::new(lanes),
        done: Condvar::new(),
    });
    for _ in 0..lanes {
        let lent = lent.clone();
        // In a box, because a task moves its future, and this one has some thousand bytes.
        client.runtime.spawn(Box::pin(async move {
            lane(&lent).await;
            let mut left = lent.lanes.lock().unwrap();
            *left -= 1;
            if *left == 0 {
                lent.done.notify_one();
            }
        }));
    }
    let mut left = lent.lanes.lock().unwrap();
    while *left > 0 {
        left = lent.done.wait(left).unwrap();
    }
}
