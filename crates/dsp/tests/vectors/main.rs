//! Every vector of the files beside this one, bit for bit. README.md says where they come from.
mod file;
mod lte;
mod umts;
