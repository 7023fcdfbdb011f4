//! The driver's errors as kinds. Whether a failed request may have been applied follows from the kind and from the
//! request; `failure.cpp` has that table.

use scylla::errors::{
    ConnectionError, ConnectionPoolError, ConnectionSetupRequestErrorKind, DbError, ExecutionError, MetadataError,
    NewSessionError, PrepareError, RequestAttemptError, WriteType,
};
use scylla::frame::protocol_features::ProtocolFeatures;

use crate::abi::{Kind, Outcome};

/// An error of the server, with its own words.
fn of_server(error: &DbError, text: &str) -> Outcome {
    let (kind, received, required, write_type) = match error {
        DbError::Unavailable { required, alive, .. } => (Kind::Unavailable, *alive, *required, 0),
        DbError::WriteTimeout { received, required, write_type, .. } => {
            (Kind::WriteTimeout, *received, *required, number_of(write_type))
        }
        DbError::WriteFailure { received, required, write_type, .. } => {
            (Kind::WriteFailure, *received, *required, number_of(write_type))
        }
        DbError::ReadTimeout { received, required, .. } => (Kind::ReadTimeout, *received, *required, 0),
        DbError::ReadFailure { received, required, .. } => (Kind::ReadFailure, *received, *required, 0),
        DbError::Overloaded | DbError::IsBootstrapping => (Kind::Overloaded, 0, 0, 0),
        DbError::AuthenticationError | DbError::Unauthorized => (Kind::NotAllowed, 0, 0, 0),
        DbError::SyntaxError
        | DbError::Invalid
        | DbError::AlreadyExists { .. }
        | DbError::FunctionFailure { .. }
        | DbError::ConfigError
        | DbError::ProtocolError => (Kind::Refused, 0, 0, 0),
        _ => (Kind::Internal, 0, 0, 0),
    };
    let mut outcome = Outcome::with_message(kind, text);
    outcome.code = error.code(&ProtocolFeatures::default());
    (outcome.received, outcome.required, outcome.write_type) = (received, required, write_type);
    outcome
}

fn number_of(write_type: &WriteType) -> u8 {
    match write_type {
        WriteType::Simple => 1,
        WriteType::Batch => 2,
        WriteType::UnloggedBatch => 3,
        WriteType::Counter => 4,
        WriteType::BatchLog => 5,
        WriteType::Cas => 6,
        WriteType::View => 7,
        _ => 8,
    }
}

fn of_attempt(error: &RequestAttemptError) -> Outcome {
    let kind = match error {
        RequestAttemptError::DbError(error, text) => return of_server(error, text),
        RequestAttemptError::BrokenConnectionError(_) => Kind::Broken,
        RequestAttemptError::UnableToAllocStreamId => Kind::Overloaded,
        RequestAttemptError::SerializationError(_) | RequestAttemptError::CqlRequestSerialization(_) => Kind::Misuse,
        _ => Kind::Internal,
    };
    Outcome::with_message(kind, error.to_string())
}

fn of_connection(error: &ConnectionError) -> Outcome {
    if let ConnectionError::ConnectionSetupRequestError(setup) = error {
        match setup.get_error() {
            ConnectionSetupRequestErrorKind::DbError(error, text) => return of_server(error, text),
            ConnectionSetupRequestErrorKind::MissingAuthentication => {
                return Outcome::with_message(Kind::NotAllowed, "the server requires a user and a password");
            }
            _ => {}
        }
    }
    let text = error.to_string();
    // OpenSSL's errors arrive as texts of an input or output error.
    let tls = matches!(error, ConnectionError::IoError(_)) && text.contains("SSL routines");
    Outcome::with_message(if tls { Kind::Tls } else { Kind::NotConnected }, text)
}

fn of_pool(error: &ConnectionPoolError) -> Outcome {
    match error {
        ConnectionPoolError::Broken { last_connection_error } => of_connection(last_connection_error),
        _ => Outcome::with_message(Kind::NotConnected, error.to_string()),
    }
}

pub fn of_prepare(error: &PrepareError) -> Outcome {
    match error {
        PrepareError::ConnectionPoolError(error) => of_pool(error),
        PrepareError::AllAttemptsFailed { first_attempt } => of_attempt(first_attempt),
        _ => Outcome::with_message(Kind::Internal, error.to_string()),
    }
}

pub fn of_execution(error: &ExecutionError) -> Outcome {
    let kind = match error {
        ExecutionError::LastAttemptError(error) => return of_attempt(error),
        ExecutionError::ConnectionPoolError(error) => return of_pool(error),
        ExecutionError::PrepareError(error) => return of_prepare(error),
        ExecutionError::RequestTimeout(_) => Kind::Timeout,
        ExecutionError::BadQuery(_) => Kind::Misuse,
        ExecutionError::EmptyPlan => Kind::NotConnected,
        _ => Kind::Internal,
    };
    Outcome::with_message(kind, error.to_string())
}

pub fn of_session(error: &NewSessionError) -> Outcome {
    match error {
        NewSessionError::MetadataError(MetadataError::ConnectionPoolError(error)) => of_pool(error),
        NewSessionError::FailedToResolveAnyHostname(names) => {
            Outcome::with_message(Kind::NotConnected, format!("unknown host: {}", names.join(", ")))
        }
        _ => Outcome::with_message(Kind::NotConnected, error.to_string()),
    }
}
