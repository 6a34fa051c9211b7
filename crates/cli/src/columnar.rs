//! Parquet, where the build has it: what all files of that kind have in common, and the error where it has not.

#[cfg(feature = "parquet")]
mod files {
    use std::fs::File;
    use std::io::{self, BufWriter};
    use std::sync::Arc;

    use parquet::basic::Compression;
    use parquet::data_type::DataType;
    use parquet::errors::ParquetError;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
    use parquet::schema::types::Type;

    /// A file that grows by row groups; without its footer it is none.
    pub type Writer = SerializedFileWriter<BufWriter<File>>;

    pub fn create(file: File, schema: Type) -> io::Result<Writer> {
        // Dictionary and run lengths do most of it: names repeat, numbers count up.
        let properties = WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).build();
        SerializedFileWriter::new(BufWriter::new(file), Arc::new(schema), Arc::new(properties)).map_err(io_error)
    }

    /// Writes the next column of a group. `levels`: 1 for each row that has a value and 0 for the others; `None`: all have.
    pub fn column<T: DataType>(
        group: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
        values: &[T::T],
        levels: Option<&[i16]>,
    ) -> io::Result<()> {
        if let Some(mut column) = group.next_column().map_err(io_error)? {
            column.typed::<T>().write_batch(values, levels, None).map_err(io_error)?;
            column.close().map_err(io_error)?;
        }
        Ok(())
    }

    pub fn io_error(error: ParquetError) -> io::Error {
        match error {
            ParquetError::External(cause) => io::Error::other(cause),
            other => io::Error::other(other),
        }
    }
}

#[cfg(feature = "parquet")]
pub use files::{Writer, column, create, io_error};

/// The error about a file that this build can't write; `instead`: the option that gives text.
#[cfg(not(feature = "parquet"))]
pub fn not_built(path: &std::path::Path, instead: &str) -> crate::problem::Problem {
    let why = "this build of takt has no Parquet, which is heavy";
    let fix = format!("{instead}\ncargo build --release --features parquet");
    crate::problem::Problem::new(format!("can't write {}", path.display())).why(why).fix(fix)
}
