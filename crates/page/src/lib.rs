//! Figures and reports as data, and what makes them readable: a page, a terminal, files.
//!
//! Values ([`Report`], [`Figure`]) decide what is shown; back ends decide what it looks like, each a pure function of
//! those values. So the page, the terminal and the JSON can never say different things.
//!
//! ```text
//!   records --> Figure --+--> SVG (in the page, or a file)      to_svg, to_print_svg
//!                        +--> PNG for print (feature png)       to_print_png
//!                        +--> terminal (braille or ASCII)       to_text
//!                        '--> CSV (every estimate, every round) to_csv
//!   outcome --> Report --+--> one HTML file, no script          to_html
//!                        +--> terminal, as wide as it is        to_text
//!                        +--> JSON                              to_json
//!                        '--> beside another report             Beside
//! ```
//!
//! Every back end keeps these rules:
//! - a number in a page links to the rounds it comes from; the page carries them;
//! - an interval is drawn where there is one, and every round is drawn, also those that do not count;
//! - colour never carries meaning alone: words, markers and names say the same;
//! - text from outside is text: escaped in HTML, XML and CSV, control characters never reach a terminal.
//!
//! ```
//! use takt_page::{Axis, Figure, Look, Point, Reading, Series, TextStyle, Unit};
//!
//! let lost = takt_stats::mean(&[0.0030, 0.0034, 0.0028], 0.95).map(Reading::from);
//! let point = Point { x: 25e6, y: lost, rounds: Vec::new() };
//! let figure = Figure {
//!     id: "lost".into(),
//!     finding: "Duplex loses 0.3 % at 25 MS/s".into(),
//!     how_to_read: "Means over rounds with 95 % intervals.".into(),
//!     x: Axis::linear("rate", Unit::SAMPLES_PER_S),
//!     y: Axis::log_and_zero("samples lost", Unit::SHARE),
//!     series: vec![Series { name: "duplex".into(), look: Look::Line, slot: 0, points: vec![point] }],
//!     ..Figure::default()
//! };
//! assert!(figure.to_text(&TextStyle::default()).contains("25"));
//! assert!(figure.to_csv().starts_with("series,kind,rate (S/s),samples lost (share)"));
//! ```
#![forbid(unsafe_code)]

mod beside;
mod csv;
mod document;
mod figure;
mod html;
mod palette;
mod png_error;
mod quantity;
pub mod screen;
mod svg;
mod text;
pub mod topology;
mod xml;

pub use beside::Beside;
pub use document::{
    Cell, Column, Drawing, Finding, Fix, Provenance, Report, ReportAnswer, Row, Section, Table, Verdict,
};
pub use figure::{Axis, Dot, Figure, Interval, Look, Point, Reading, Reference, Scale, Series, Source};
pub use palette::SLOTS;
pub use png_error::PngError;
pub use quantity::{Unit, count, duration, significant};
pub use text::{Depth, Screen, TextStyle};
