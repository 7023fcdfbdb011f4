//! The events of a traced request, as lines of text.

use std::fmt::Write;

use scylla::observability::tracing::{TracingEvent, TracingInfo};

pub fn lines(info: &TracingInfo) -> String {
    let mut out = String::new();
    let request = info.request.as_deref().unwrap_or("request");
    let duration = info.duration.map_or_else(|| "unknown time".to_owned(), |micros| format!("{micros} µs"));
    let _ = writeln!(out, "{request}: {duration}");
    // Events of different nodes have different clocks; their ids are in the order of time.
    let mut events: Vec<&TracingEvent> = info.events.iter().collect();
    events.sort_by_key(|event| event.event_id);
    for event in events {
        let elapsed = event.source_elapsed.map_or_else(String::new, |micros| micros.to_string());
        let source = event.source.map_or_else(String::new, |address| address.to_string());
        let _ = writeln!(out, "{elapsed:>8} µs  {source:<15}  {}", event.activity.as_deref().unwrap_or(""));
    }
    out
}
