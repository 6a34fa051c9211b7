//! Rows in Parquet: five required columns, a row group for each 65 536 rows.

use std::fs::File;
use std::io;

use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::schema::parser::parse_message_type;
use takt_runtime::{Execution, ExecutionRows};

use crate::columnar::{Writer, column, create, io_error};

const GROUP: usize = 65_536;

const SCHEMA: &str = "message executions {
    required int64 slot (integer(64, false));
    required binary component (utf8);
    required int32 worker (integer(32, false));
    required int64 start_ns (integer(64, false));
    required int64 execution_ns (integer(64, false));
}";

pub struct Rows {
    to: Writer,
    slot: Vec<i64>,
    component: Vec<ByteArray>,
    worker: Vec<i32>,
    start_ns: Vec<i64>,
    execution_ns: Vec<i64>,
}

impl Rows {
    pub fn new(file: File) -> io::Result<Rows> {
        let to = create(file, parse_message_type(SCHEMA).map_err(io_error)?)?;
        let (slot, component, worker, start_ns, execution_ns) = Default::default();
        Ok(Rows { to, slot, component, worker, start_ns, execution_ns })
    }

    fn flush(&mut self) -> io::Result<()> {
        let Rows { to, slot, component, worker, start_ns, execution_ns } = self;
        let mut group = to.next_row_group().map_err(io_error)?;
        column::<Int64Type>(&mut group, slot, None)?;
        column::<ByteArrayType>(&mut group, component, None)?;
        column::<Int32Type>(&mut group, worker, None)?;
        column::<Int64Type>(&mut group, start_ns, None)?;
        column::<Int64Type>(&mut group, execution_ns, None)?;
        group.close().map_err(io_error)?;
        for column in [slot, start_ns, execution_ns] {
            column.clear();
        }
        component.clear();
        worker.clear();
        Ok(())
    }
}

impl ExecutionRows for Rows {
    fn push(&mut self, row: &Execution<'_>) -> io::Result<()> {
        // Unsigned columns keep their bits in signed ones.
        self.slot.push(row.slot.cast_signed());
        self.component.push(ByteArray::from(row.component));
        self.worker.push(row.worker.cast_signed());
        self.start_ns.push(row.start_ns.cast_signed());
        self.execution_ns.push(row.execution_ns.cast_signed());
        if self.slot.len() == GROUP { self.flush() } else { Ok(()) }
    }

    /// Writes the rest and the footer, without which the file is none.
    fn finish(&mut self) -> io::Result<()> {
        self.flush()?;
        self.to.finish().map(drop).map_err(io_error)
    }
}
