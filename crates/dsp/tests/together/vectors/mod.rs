//! Every vector of the files in `tests/vectors`, bit for bit. README.md there says where they come from.
mod file;
mod lte;
mod umts;
