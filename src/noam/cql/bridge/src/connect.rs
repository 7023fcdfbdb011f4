//! Opening and closing a session.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::client::{Compression, PoolSize};
use scylla::policies::load_balancing::{DefaultPolicy, LoadBalancingPolicy};
use scylla::policies::retry::{FallthroughRetryPolicy, RetryPolicy};
use scylla::statement::{Consistency, SerialConsistency};

use crate::abi::{Config, Kind, Outcome};
use crate::errors;
use crate::first_replica::FirstReplica;
use crate::retry::RetryIdempotent;
use crate::tls;

pub struct Client {
    pub runtime: tokio::runtime::Runtime,
    pub session: Session,
    pub retry: Arc<dyn RetryPolicy>,
    pub first_replica: Arc<dyn LoadBalancingPolicy>,
    pub request_timeout: Duration,
    pub in_flight: AtomicU64,
    pub retries: Arc<AtomicU64>,
}

fn misuse(text: impl Into<String>) -> Outcome {
    Outcome::with_message(Kind::Misuse, text)
}

pub fn consistency(number: u16) -> Result<Consistency, Outcome> {
    Consistency::try_from(number).map_err(|_| misuse(format!("unknown consistency {number}")))
}

pub fn serial_consistency(number: u16) -> Result<SerialConsistency, Outcome> {
    match number {
        8 => Ok(SerialConsistency::Serial),
        9 => Ok(SerialConsistency::LocalSerial),
        _ => Err(misuse(format!("unknown serial consistency {number}"))),
    }
}

pub fn connect(config: &Config) -> Result<Client, Outcome> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(config.threads.max(1) as usize)
        .thread_name("noam-cql")
        .enable_all()
        .build()
        .map_err(|error| Outcome::with_message(Kind::Internal, error.to_string()))?;
    let plain = DefaultPolicy::builder().token_aware(true).permit_dc_failover(true).build();
    let reason = tls::Reason::default();
    let builder = builder(config, plain.clone(), reason.clone())?;

    // The driver's own timeout is for the connection; a server may accept that and never answer.
    let within = Duration::from_millis(config.connect_timeout_ms.into());
    let connected = runtime.block_on(async { tokio::time::timeout(within, builder.build()).await });
    let session = match connected {
        Err(_) => {
            let text = format!("no node answered within {} ms", within.as_millis());
            return Err(Outcome::with_message(Kind::NotConnected, text));
        }
        Ok(Err(error)) => return Err(with_reason(errors::of_session(&error), &error.to_string(), &reason)),
        Ok(Ok(session)) => session,
    };
    check_datacenter(&session, config.datacenter.text().map_err(misuse)?)?;
    let retries = Arc::new(AtomicU64::new(0));
    Ok(Client {
        runtime,
        session,
        retry: Arc::new(RetryIdempotent { count: retries.clone() }),
        first_replica: Arc::new(FirstReplica { rest: plain }),
        request_timeout: Duration::from_millis(config.request_timeout_ms.into()),
        in_flight: AtomicU64::new(0),
        retries,
    })
}

fn builder(
    config: &Config,
    policy: Arc<dyn LoadBalancingPolicy>,
    reason: tls::Reason,
) -> Result<SessionBuilder, Outcome> {
    let profile = ExecutionProfile::builder()
        .request_timeout(None) // each request has its own, see request.rs
        .retry_policy(Arc::new(FallthroughRetryPolicy::new()))
        .load_balancing_policy(policy)
        .consistency(consistency(config.consistency)?)
        .serial_consistency(Some(serial_consistency(config.serial_consistency)?));
    let points: Vec<&str> = config.contact_points.text().map_err(misuse)?.split(',').collect();
    // So that a contact point that does not answer leaves time for the others.
    let each = Duration::from_millis(config.connect_timeout_ms.into()) / points.len() as u32;
    let connections = NonZeroUsize::new(config.connections_per_node.max(1) as usize).unwrap();
    let mut builder = SessionBuilder::new()
        .known_nodes(points)
        .default_execution_profile_handle(profile.build().into_handle())
        .pool_size(PoolSize::PerHost(connections))
        .connection_timeout(each)
        // A connection that is cut without a reset is noticed after both.
        .keepalive_interval(Duration::from_secs(5))
        .keepalive_timeout(Duration::from_secs(5))
        .compression((config.compression == 1).then_some(Compression::Lz4));
    if config.user.size > 0 {
        builder = builder.user(config.user.text().map_err(misuse)?, config.password.text().map_err(misuse)?);
    }
    if config.datacenter.size > 0 {
        builder = builder.prefer_datacenter(config.datacenter.text().map_err(misuse)?.to_owned());
    }
    if config.tls != 0 {
        let context = tls::context(config, reason).map_err(|text| Outcome::with_message(Kind::Tls, text))?;
        builder = builder.tls_context(Some(context));
    }
    Ok(builder)
}

/// The driver would accept a name that does not exist, and prefer no node.
fn check_datacenter(session: &Session, wanted: &str) -> Result<(), Outcome> {
    let state = session.get_cluster_state();
    let seen: BTreeSet<&str> = state.get_nodes_info().iter().filter_map(|node| node.datacenter.as_deref()).collect();
    if wanted.is_empty() || seen.contains(wanted) {
        return Ok(());
    }
    let seen = seen.into_iter().collect::<Vec<_>>().join(", ");
    Err(misuse(format!("unknown datacenter `{wanted}`; the cluster has: {seen}")))
}

/// A refused certificate, with what OpenSSL had against it.
fn with_reason(outcome: Outcome, text: &str, reason: &tls::Reason) -> Outcome {
    let reason = reason.lock().unwrap();
    if reason.is_empty() || !text.contains("certificate verify failed") {
        return outcome;
    }
    let mut outcome = outcome;
    outcome.release();
    Outcome::with_message(Kind::Tls, format!("the server's certificate was refused: {reason}"))
}

pub fn disconnect(client: Client) {
    let Client { runtime, session, .. } = client;
    drop(session);
    runtime.shutdown_timeout(Duration::from_secs(5));
}
