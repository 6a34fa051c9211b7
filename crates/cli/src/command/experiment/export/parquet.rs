//! The table of a run in Parquet: an optional column for each of its columns, one row group.

use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::schema::types::{Type, TypePtr};
use serde_json::Value;
use takt_lab::store::{Column, ColumnKind, Table};

use crate::columnar::{column, create, io_error};

pub fn write(file: File, table: &Table) -> io::Result<()> {
    let fields = table.columns.iter().map(field).collect::<io::Result<Vec<TypePtr>>>()?;
    let schema = Type::group_type_builder("rounds").with_fields(fields).build().map_err(io_error)?;
    let mut writer = create(file, schema)?;
    let mut group = writer.next_row_group().map_err(io_error)?;
    for Column { kind, cells, .. } in &table.columns {
        let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
        let (there, levels) = (cells.iter().flatten(), Some(levels.as_slice()));
        match kind {
            ColumnKind::Integer => column::<Int64Type>(&mut group, &each(there, Value::as_i64), levels),
            ColumnKind::Number => column::<DoubleType>(&mut group, &each(there, Value::as_f64), levels),
            ColumnKind::Flag => column::<BoolType>(&mut group, &each(there, Value::as_bool), levels),
            ColumnKind::Text => {
                let text = |value: &Value| Some(ByteArray::from(Table::text(value).into_bytes()));
                column::<ByteArrayType>(&mut group, &each(there, text), levels)
            }
        }?;
    }
    group.close().map_err(io_error)?;
    writer.close().map(drop).map_err(io_error)
}

/// The kind of a column is that of all its cells, so none is left out.
fn each<'a, T>(cells: impl Iterator<Item = &'a Value>, read: impl Fn(&Value) -> Option<T>) -> Vec<T> {
    cells.filter_map(read).collect()
}

fn field(column: &Column) -> io::Result<TypePtr> {
    let (physical, logical) = match column.kind {
        ColumnKind::Integer => (Physical::INT64, None),
        ColumnKind::Number => (Physical::DOUBLE, None),
        ColumnKind::Flag => (Physical::BOOLEAN, None),
        ColumnKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let builder = Type::primitive_type_builder(&column.name, physical).with_repetition(Repetition::OPTIONAL);
    builder.with_logical_type(logical).build().map(Arc::new).map_err(io_error)
}
