//! Tests that run side by side, in one program, which is linked once.

mod aloe_text;
mod check_agrees;
mod check_page;
mod check_text;
#[path = "../../../../tests/support/golden.rs"]
mod golden;
mod link_tables;
mod paper_parts;
mod rules;
#[path = "../support/mod.rs"]
mod support;
