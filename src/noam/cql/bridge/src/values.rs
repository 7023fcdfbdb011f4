//! Bound values, which are bytes of the protocol already: they are written into the frame from where they lie.

use std::fmt::{Display, Formatter};

use scylla::serialize::SerializationError;
use scylla::serialize::batch::{BatchValues, BatchValuesIterator};
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::RowWriter;

use crate::abi::Part;

/// The values of one statement.
pub struct Bound<'a>(pub &'a Part);

#[derive(Debug)]
struct BadValues(String);

impl Display for BadValues {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for BadValues {}

fn bad(why: impl Into<String>) -> SerializationError {
    SerializationError::new(BadValues(why.into()))
}

/// Takes the first value from `rest`; nothing: null. (Unset is -2.)
fn write_value(rest: &mut &[u8], writer: &mut RowWriter) -> Result<(), SerializationError> {
    let (size, after) = rest.split_first_chunk::<4>().ok_or_else(|| bad("a value is cut off"))?;
    let cell = writer.make_cell_writer();
    *rest = after;
    match i32::from_be_bytes(*size) {
        -1 => cell.set_null(),
        -2 => cell.set_unset(),
        size => {
            let size = usize::try_from(size).map_err(|_| bad("a value has a negative size"))?;
            let (value, after) = rest.split_at_checked(size).ok_or_else(|| bad("a value is cut off"))?;
            *rest = after;
            cell.set_value(value).map_err(SerializationError::new)?
        }
    };
    Ok(())
}

impl SerializeRow for Bound<'_> {
    fn serialize(
        &self,
        context: &RowSerializationContext<'_>,
        writer: &mut RowWriter,
    ) -> Result<(), SerializationError> {
        let (wanted, count) = (context.columns().len(), self.0.value_count as usize);
        if wanted != count {
            return Err(bad(format!("the statement has {wanted} values, the request {count}")));
        }
        let mut rest = self.0.values.bytes();
        for _ in 0..count {
            write_value(&mut rest, writer)?;
        }
        if rest.is_empty() { Ok(()) } else { Err(bad("there are bytes after the last value")) }
    }

    fn is_empty(&self) -> bool {
        self.0.value_count == 0
    }
}

/// The values of the statements of a batch.
pub struct BatchBound<'a>(pub &'a [Part]);

pub struct BatchBoundIterator<'a>(std::slice::Iter<'a, Part>);

impl BatchValues for BatchBound<'_> {
    type BatchValuesIter<'r>
        = BatchBoundIterator<'r>
    where
        Self: 'r;

    fn batch_values_iter(&self) -> Self::BatchValuesIter<'_> {
        BatchBoundIterator(self.0.iter())
    }
}

impl<'a> BatchValuesIterator<'a> for BatchBoundIterator<'a> {
    fn serialize_next(
        &mut self,
        context: &RowSerializationContext<'_>,
        writer: &mut RowWriter,
    ) -> Option<Result<(), SerializationError>> {
        self.0.next().map(|part| Bound(part).serialize(context, writer))
    }

    fn is_empty_next(&mut self) -> Option<bool> {
        self.0.next().map(|part| Bound(part).is_empty())
    }

    fn skip_next(&mut self) -> Option<()> {
        self.0.next().map(|_| ())
    }
}
