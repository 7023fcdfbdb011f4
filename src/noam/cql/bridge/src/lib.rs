//! The driver `scylla` behind a C interface. `src/noam/cql/bridge.h` has the C++ side of it and says what each function
//! promises.
//!
//! Values and rows pass through as bytes of the protocol: nothing here encodes or decodes a value.

mod abi;
mod connect;
mod errors;
mod exports;
mod first_replica;
mod outcome;
mod request;
mod retry;
mod run;
mod tls;
mod trace;
mod types;
mod values;
