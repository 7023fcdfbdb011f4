//! The functions that C++ calls. `bridge.h` says what each promises. No panic leaves them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::Duration;

use scylla::response::PagingStateResponse;
use scylla::statement::Statement as Text;
use scylla::value::CqlTimeuuid;
use tokio::time::{Instant, timeout};

use crate::abi::{Config, Counters, Kind, Outcome, Part, Request, Slice, Statement};
use crate::connect::{self, Client};
use crate::run::panicked;
use crate::{errors, run, trace};

type Done<T> = Result<(T, Outcome), Outcome>;

/// Does the work, and writes what became of it.
fn guarded<T>(otherwise: T, outcome: *mut Outcome, work: impl FnOnce() -> Done<T>) -> T {
    let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(panicked(panic)));
    let (value, said) = result.unwrap_or_else(|error| (otherwise, error));
    unsafe { outcome.write(said) };
    value
}

/// The work within the time, or the error that it took longer.
async fn within<T>(milliseconds: u32, work: impl Future<Output = T>) -> Result<T, Outcome> {
    let limit = Duration::from_millis(milliseconds.into());
    let late = |_| Outcome::with_message(Kind::Timeout, format!("no answer within {milliseconds} ms"));
    timeout(limit, work).await.map_err(late)
}

fn utf8(text: &Slice) -> Result<&str, Outcome> {
    text.text().map_err(|why| Outcome::with_message(Kind::Misuse, why))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn noam_cql_sizes(sizes: *mut u32) {
    let all = [size_of::<Config>(), size_of::<Part>(), size_of::<Request>(), size_of::<Outcome>()];
    for (index, size) in all.into_iter().enumerate() {
        unsafe { sizes.add(index).write(size as u32) };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn noam_cql_connect(config: *const Config, outcome: *mut Outcome) -> *mut Client {
    guarded(std::ptr::null_mut(), outcome, || {
        let client = connect::connect(unsafe { &*config })?;
        Ok((Box::into_raw(Box::new(client)), Outcome::new()))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn noam_cql_disconnect(client: *mut Client) {
    if !client.is_null() {
        let _ = catch_unwind(AssertUnwindSafe(|| connect::disconnect(*unsafe { Box::from_raw(client) })));
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn noam_cql_execute(client: *const Client, text: Slice, timeout_ms: u32, outcome: *mut Outcome) {
    guarded((), outcome, || {
        let client = unsafe { &*client };
        let work = client.session.query_unpaged(Text::new(utf8(&text)?), ());
        let result = client.runtime.block_on(async { within(timeout_ms, work).await })?;
        let result = result.map_err(|error| errors::of_execution(&error))?;
        Ok(((), Outcome::success(result, PagingStateResponse::NoMorePages)))
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn noam_cql_prepare(
    client: *const Client,
    text: Slice,
    timeout_ms: u32,
    outcome: *mut Outcome,
) -> *mut Statement {
    guarded(std::ptr::null_mut(), outcome, || {
        let client = unsafe { &*client };
        let work = client.session.prepare(utf8(&text)?);
        let prepared = client.runtime.block_on(async { within(timeout_ms, work).await })?;
        let prepared = prepared.map_err(|error| errors::of_prepare(&error))?;
        Ok((Box::into_raw(Box::new(Statement { prepared })), Outcome::new()))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn noam_cql_statement_free(statement: *mut Statement) {
    if !statement.is_null() {
        drop(unsafe { Box::from_raw(statement) });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn noam_cql_run(
    client: *const Client,
    requests: *const Request,
    count: usize,
    most: usize,
    microseconds: u64,
    outcomes: *mut Outcome,
) {
    // A deadline beyond a year is none.
    let left = Duration::from_micros(microseconds).min(Duration::from_secs(365 * 24 * 3600));
    if count > 0 {
        unsafe { run::run(&*client, requests, count, most, Instant::now() + left, outcomes) };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn noam_cql_trace(
    client: *const Client,
    id: *const [u8; 16],
    timeout_ms: u32,
    outcome: *mut Outcome,
) {
    guarded((), outcome, || {
        let client = unsafe { &*client };
        let id = CqlTimeuuid::from_bytes(unsafe { *id });
        let work = client.session.get_tracing_info(id.as_ref());
        let info = client.runtime.block_on(async { within(timeout_ms, work).await })?;
        let info = info.map_err(|error| Outcome::with_message(Kind::Internal, error.to_string()))?;
        Ok(((), Outcome::with_message(Kind::Ok, trace::lines(&info))))
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn noam_cql_counters(client: *const Client, counters: *mut Counters) {
    let client = unsafe { &*client };
    unsafe {
        counters.write(Counters {
            in_flight: client.in_flight.load(Ordering::Relaxed),
            retries: client.retries.load(Ordering::Relaxed),
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn noam_cql_column_name(outcome: *const Outcome, index: u32) -> Slice {
    unsafe { &*outcome }.column_name(index)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn noam_cql_column_type(outcome: *mut Outcome, index: u32) -> Slice {
    unsafe { &mut *outcome }.column_type(index)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn noam_cql_free(outcome: *mut Outcome) {
    unsafe { &mut *outcome }.release();
}
