//! Tests that run side by side, in one program, which is linked once.

mod docs;
mod experiment_file;
mod export;
mod recorded_settings;
mod run;
mod store;
mod store_full;
mod store_kill;
mod support;
