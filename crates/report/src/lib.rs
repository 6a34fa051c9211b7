//! Figures, HTML report, terminal view, verdict
