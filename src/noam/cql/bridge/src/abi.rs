//! The structs that both sides share, field by field as in `bridge.h`.

use std::ffi::c_void;

/// Bytes of the other side. `data` may be null if `size` is 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Slice {
    pub data: *const u8,
    pub size: usize,
}

#[repr(C)]
pub struct Config {
    pub contact_points: Slice,
    pub user: Slice,
    pub password: Slice,
    pub datacenter: Slice,
    pub ca_file: Slice,
    pub certificate_file: Slice,
    pub key_file: Slice,
    pub certificate_name: Slice,
    pub tls: u8,
    pub verify: u8,
    pub compression: u8,
    pub consistency: u16,
    pub serial_consistency: u16,
    pub connections_per_node: u32,
    pub threads: u32,
    pub connect_timeout_ms: u32,
    pub request_timeout_ms: u32,
}

/// `Config::verify`: what is verified besides the chain of certificates.
pub const VERIFY_ADDRESS: u8 = 1;
pub const VERIFY_NAME: u8 = 2;

/// A statement and its values.
#[repr(C)]
pub struct Part {
    pub statement: *const Statement,
    pub values: Slice,
    pub value_count: u32,
}

#[repr(C)]
pub struct Request {
    pub parts: *const Part,
    pub part_count: u32,
    pub timeout_ms: u32,
    pub page_size: u32,
    pub consistency: u16,
    pub serial_consistency: u16,
    pub logged: u8,
    pub idempotent: u8,
    pub conditional: u8,
    pub trace: u8,
    pub paging_state: Slice,
}

/// As a consistency: that of the session.
pub const OF_SESSION: u16 = 0xFFFF;

#[repr(C)]
pub struct Outcome {
    pub kind: i32,
    pub code: i32,
    pub received: i32,
    pub required: i32,
    pub row_count: u32,
    pub column_count: u32,
    pub microseconds: u64,
    pub message: Slice,
    pub rows: Slice,
    pub paging_state: Slice,
    pub trace_id: [u8; 16],
    pub node: [u8; 16],
    pub node_port: u16,
    pub write_type: u8,
    pub has_rows: u8,
    pub has_more: u8,
    pub traced: u8,
    pub owner: *mut c_void,
}

#[repr(C)]
pub struct Counters {
    pub in_flight: u64,
    pub retries: u64,
}

/// The values of `Outcome::kind`.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Kind {
    Ok = 0,
    NotConnected = 1,
    NotAllowed = 2,
    Tls = 3,
    Refused = 4,
    Unavailable = 5,
    WriteTimeout = 6,
    ReadTimeout = 7,
    WriteFailure = 8,
    ReadFailure = 9,
    Overloaded = 10,
    Timeout = 11,
    Broken = 12,
    Misuse = 13,
    Internal = 14,
    NotSent = 15,
}

/// A prepared statement.
pub struct Statement {
    pub prepared: scylla::statement::prepared::PreparedStatement,
}

// The other side lends what these point to until the call that got them returns, and changes none of it meanwhile.
unsafe impl Send for Slice {}
unsafe impl Sync for Slice {}
unsafe impl Send for Part {}
unsafe impl Sync for Part {}
unsafe impl Send for Request {}
unsafe impl Sync for Request {}
// Of an outcome only the owner is used again, and it has one holder at a time.
unsafe impl Send for Outcome {}

impl Slice {
    pub const EMPTY: Slice = Slice { data: std::ptr::null(), size: 0 };

    pub fn of(bytes: &[u8]) -> Slice {
        Slice { data: bytes.as_ptr(), size: bytes.len() }
    }

    /// The bytes, for as long as the struct is borrowed that they were lent with.
    pub fn bytes(&self) -> &[u8] {
        if self.size == 0 { &[] } else { unsafe { std::slice::from_raw_parts(self.data, self.size) } }
    }

    /// A text that C functions can read, too.
    pub fn text(&self) -> Result<&str, String> {
        let text = std::str::from_utf8(self.bytes()).map_err(|_| "a text is not UTF-8".to_owned())?;
        if text.contains('\0') { Err("a text has a zero byte".to_owned()) } else { Ok(text) }
    }
}

impl Request {
    pub fn parts(&self) -> &[Part] {
        if self.part_count == 0 {
            return &[];
        }
        unsafe { std::slice::from_raw_parts(self.parts, self.part_count as usize) }
    }
}

impl Part {
    pub fn statement(&self) -> &Statement {
        unsafe { &*self.statement }
    }
}
