//! Names of types, as CQL writes them.

use scylla::frame::response::result::{CollectionType, ColumnType, NativeType};

pub fn name(column: &ColumnType) -> String {
    match column {
        ColumnType::Native(native) => native_name(native).to_owned(),
        ColumnType::Collection { frozen, typ } => freeze(
            *frozen,
            match typ {
                CollectionType::List(element) => format!("list<{}>", name(element)),
                CollectionType::Set(element) => format!("set<{}>", name(element)),
                CollectionType::Map(key, value) => format!("map<{}, {}>", name(key), name(value)),
                _ => "unknown".to_owned(),
            },
        ),
        ColumnType::Vector { typ, dimensions } => format!("vector<{}, {dimensions}>", name(typ)),
        ColumnType::UserDefinedType { frozen, definition } => freeze(*frozen, definition.name.clone().into_owned()),
        ColumnType::Tuple(parts) => {
            format!("tuple<{}>", parts.iter().map(name).collect::<Vec<_>>().join(", "))
        }
        _ => "unknown".to_owned(),
    }
}

fn freeze(frozen: bool, text: String) -> String {
    if frozen { format!("frozen<{text}>") } else { text }
}

fn native_name(native: &NativeType) -> &'static str {
    match native {
        NativeType::Ascii => "ascii",
        NativeType::Boolean => "boolean",
        NativeType::Blob => "blob",
        NativeType::Counter => "counter",
        NativeType::Date => "date",
        NativeType::Decimal => "decimal",
        NativeType::Double => "double",
        NativeType::Duration => "duration",
        NativeType::Float => "float",
        NativeType::Int => "int",
        NativeType::BigInt => "bigint",
        NativeType::Text => "text",
        NativeType::Timestamp => "timestamp",
        NativeType::Inet => "inet",
        NativeType::SmallInt => "smallint",
        NativeType::TinyInt => "tinyint",
        NativeType::Time => "time",
        NativeType::Timeuuid => "timeuuid",
        NativeType::Uuid => "uuid",
        NativeType::Varint => "varint",
        _ => "unknown",
    }
}
