//! Errors of an experiment file, with their places.

use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use takt_base::nearest;

/// The file can't be run as it stands; nothing was run. Points at the place.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{complaint}")]
pub struct FileError {
    complaint: String,
    /// The remedy, shown at the place.
    remedy: String,
    /// Page to read more.
    help: Option<String>,
    source_code: Box<NamedSource<String>>,
    span: Range<usize>,
}

impl FileError {
    /// `name:line:column`, both from 1, of what is wrong.
    #[must_use]
    pub fn place(&self) -> String {
        let before = self.source_code.inner().get(..self.span.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}:{line}:{column}", self.source_code.name())
    }

    #[must_use]
    pub fn remedy(&self) -> &str {
        &self.remedy
    }
}

impl Diagnostic for FileError {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn std::fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&*self.source_code)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::new_with_span(Some(self.remedy.clone()), self.span.clone());
        Some(Box::new(std::iter::once(label)))
    }
}

/// A complaint about a place, before it is known which file the place is in.
#[derive(Clone, Debug)]
pub(super) struct Complaint {
    pub(super) span: Range<usize>,
    pub(super) what: String,
    pub(super) remedy: String,
    pub(super) help: Option<String>,
}

impl Complaint {
    pub(super) fn new(span: Range<usize>, what: impl Into<String>, remedy: impl Into<String>) -> Complaint {
        Complaint { span, what: what.into(), remedy: remedy.into(), help: None }
    }

    pub(super) fn help(self, help: impl Into<String>) -> Complaint {
        Complaint { help: Some(help.into()), ..self }
    }

    pub(super) fn within(self, name: &str, text: &str) -> FileError {
        FileError {
            complaint: self.what,
            remedy: self.remedy,
            help: self.help,
            source_code: Box::new(NamedSource::new(name, text.to_owned())),
            span: self.span,
        }
    }
}

/// The known word that was probably meant, or else `otherwise`.
pub(super) fn meant<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, otherwise: String) -> String {
    nearest(word, known).map_or(otherwise, |near| format!("did you mean \"{near}\"?"))
}
