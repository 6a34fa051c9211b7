//! Rows in Parquet: five required columns, a row group for each 65 536 rows.

use std::fs::File;
use std::io::{self, BufWriter};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::Row;

/// Rows that are written together.
const GROUP: usize = 65_536;

const SCHEMA: &str = "message executions {
    required int64 slot (integer(64, false));
    required binary component (utf8);
    required int32 worker (integer(32, false));
    required int64 start_ns (integer(64, false));
    required int64 execution_ns (integer(64, false));
}";

/// Rows on their way into a file.
pub struct Rows {
    to: SerializedFileWriter<BufWriter<File>>,
    slot: Vec<i64>,
    component: Vec<ByteArray>,
    worker: Vec<i32>,
    start_ns: Vec<i64>,
    execution_ns: Vec<i64>,
}

impl Rows {
    /// Into this file.
    pub fn new(file: File) -> io::Result<Rows> {
        let schema = Arc::new(parse_message_type(SCHEMA).map_err(told)?);
        // Dictionary and run lengths do most of it: names repeat, slots count up.
        let properties = WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).build();
        let to = SerializedFileWriter::new(BufWriter::new(file), schema, Arc::new(properties)).map_err(told)?;
        let (slot, component, worker, start_ns, execution_ns) = Default::default();
        Ok(Rows { to, slot, component, worker, start_ns, execution_ns })
    }

    /// One row more.
    pub fn push(&mut self, row: &Row<'_>) -> io::Result<()> {
        // Unsigned columns keep their bits in signed ones.
        self.slot.push(row.slot.cast_signed());
        self.component.push(ByteArray::from(row.component));
        self.worker.push(row.worker.cast_signed());
        self.start_ns.push(row.start_ns.cast_signed());
        self.execution_ns.push(row.execution_ns.cast_signed());
        if self.slot.len() == GROUP { self.flush() } else { Ok(()) }
    }

    /// Writes the rest and the footer, without which the file is none.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.to.close().map(drop).map_err(told)
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut group = self.to.next_row_group().map_err(told)?;
        column::<Int64Type>(&mut group, &mut self.slot)?;
        column::<ByteArrayType>(&mut group, &mut self.component)?;
        column::<Int32Type>(&mut group, &mut self.worker)?;
        column::<Int64Type>(&mut group, &mut self.start_ns)?;
        column::<Int64Type>(&mut group, &mut self.execution_ns)?;
        group.close().map(drop).map_err(told)
    }
}

/// Writes the next column of a group.
fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    values: &mut Vec<T::T>,
) -> io::Result<()> {
    if let Some(mut column) = group.next_column().map_err(told)? {
        column.typed::<T>().write_batch(values, None, None).map_err(told)?;
        column.close().map_err(told)?;
    }
    values.clear();
    Ok(())
}

fn told(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => io::Error::other(cause),
        other => io::Error::other(other),
    }
}
