//! What a request became, and the memory that it points into.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use scylla::deserialize::row::ColumnIterator;
use scylla::response::PagingStateResponse;
use scylla::response::query_result::{QueryResult, QueryRowsResult};

use crate::abi::{Kind, Outcome, Slice};
use crate::types;

/// What an outcome points into. It has its address in `Outcome::owner`.
#[derive(Default)]
pub struct Owned {
    message: String,
    rows: Option<QueryRowsResult>,
    nulls: Vec<u8>,
    paging_state: Option<Arc<[u8]>>,
    types: Vec<String>,
}

impl Outcome {
    pub fn new() -> Outcome {
        Outcome {
            kind: Kind::Ok as i32,
            code: -1,
            received: 0,
            required: 0,
            row_count: 0,
            column_count: 0,
            microseconds: 0,
            message: Slice::EMPTY,
            rows: Slice::EMPTY,
            paging_state: Slice::EMPTY,
            trace_id: [0; 16],
            node: [0; 16],
            node_port: 0,
            write_type: 0,
            has_rows: 0,
            has_more: 0,
            traced: 0,
            owner: std::ptr::null_mut(),
        }
    }

    fn keep(&mut self, owned: Box<Owned>) {
        self.owner = Box::into_raw(owned).cast();
    }

    /// Frees what `owner` points to, once.
    pub fn release(&mut self) {
        let owner = std::mem::replace(&mut self.owner, std::ptr::null_mut());
        if !owner.is_null() {
            drop(unsafe { Box::from_raw(owner.cast::<Owned>()) });
        }
    }

    pub fn with_message(kind: Kind, message: impl Into<String>) -> Outcome {
        let mut outcome = Outcome::new();
        outcome.kind = kind as i32;
        let owned = Box::new(Owned { message: message.into(), ..Owned::default() });
        outcome.message = Slice::of(owned.message.as_bytes());
        outcome.keep(owned);
        outcome
    }

    pub fn success(result: QueryResult, paging: PagingStateResponse) -> Outcome {
        let mut outcome = Outcome::new();
        outcome.set_node(result.request_coordinator().connection_address());
        if let Some(id) = result.tracing_id() {
            outcome.traced = 1;
            outcome.trace_id = *id.as_bytes();
        }
        let Ok(rows) = result.into_rows_result() else { return outcome };
        outcome.has_rows = 1;
        outcome.row_count = rows.rows_num() as u32;
        outcome.column_count = rows.column_specs().len() as u32;
        let mut owned = Box::new(Owned::default());
        let rows = owned.rows.insert(rows);
        outcome.rows = Slice::of(raw_rows(rows).unwrap_or_else(|| {
            // There are only nulls, and each is four bytes of ones.
            owned.nulls = vec![0xFF; rows.rows_bytes_size()];
            &owned.nulls
        }));
        if let PagingStateResponse::HasMorePages { state } = paging {
            outcome.has_more = 1;
            owned.paging_state = state.as_bytes_slice().cloned();
            outcome.paging_state = owned.paging_state.as_deref().map_or(Slice::EMPTY, Slice::of);
        }
        outcome.keep(owned);
        outcome
    }

    /// As an IPv6 address, or an IPv4 one as ::ffff:a.b.c.d.
    fn set_node(&mut self, address: SocketAddr) {
        self.node = match address.ip() {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            IpAddr::V6(ip) => ip.octets(),
        };
        self.node_port = address.port();
    }

    fn owned(&self) -> Option<&Owned> {
        unsafe { self.owner.cast::<Owned>().as_ref() }
    }

    pub fn column_name(&self, index: u32) -> Slice {
        let specs = self.owned().and_then(|owned| owned.rows.as_ref()).map(|rows| rows.column_specs());
        let spec = specs.and_then(|specs| specs.get_by_index(index as usize));
        spec.map_or(Slice::EMPTY, |spec| Slice::of(spec.name().as_bytes()))
    }

    /// The name of the type as CQL writes it; worked out for all columns when the first is asked for.
    pub fn column_type(&mut self, index: u32) -> Slice {
        let Some(owned) = (unsafe { self.owner.cast::<Owned>().as_mut() }) else { return Slice::EMPTY };
        let Some(rows) = &owned.rows else { return Slice::EMPTY };
        if owned.types.is_empty() {
            owned.types = rows.column_specs().iter().map(|spec| types::name(spec.typ())).collect();
        }
        owned.types.get(index as usize).map_or(Slice::EMPTY, |name| Slice::of(name.as_bytes()))
    }
}

/// The rows as they came. Each cell that is not null knows the buffer in which it lies, which is that of all rows.
fn raw_rows(rows: &QueryRowsResult) -> Option<&[u8]> {
    for row in rows.rows::<ColumnIterator>().ok()? {
        for column in row.ok()? {
            if let Some(cell) = column.ok()?.slice {
                let all = cell.as_original_frame_bytes();
                assert_eq!(all.len(), rows.rows_bytes_size(), "the rows are a part of their buffer");
                return Some(all);
            }
        }
    }
    None
}
