//! Histograms as a log of `HdrHistogram`, version 1.3: a line for each, which its programs in other languages read too.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use super::{Histogram, Ns};

/// A line of a log: the histogram of a span.
#[derive(Clone, Copy, Debug)]
pub struct LogLine<'a> {
    /// Name of its quantity, without commas and spaces.
    pub tag: &'a str,
    /// Begin of the span, since that of the log.
    pub start: Duration,
    /// How long it lasted.
    pub length: Duration,
    /// Values, ns.
    pub histogram: &'a Histogram<Ns>,
}

/// The log has maxima in ms, as those of other programs do.
const NS_PER_MS: f64 = 1e6;

/// Writes a log that began at `begun`; `comment` says of what. Values beyond a histogram's bound are in no line: a comment counts
/// them.
///
/// # Errors
/// `out` refuses, or a tag has a comma or a space.
pub fn write_log(out: &mut impl Write, comment: &str, begun: SystemTime, lines: &[LogLine<'_>]) -> io::Result<()> {
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    builder.add_comment("[Histogram log format version 1.3]").add_comment(&format!("{comment}; values in ns"));
    for LogLine { tag, histogram, .. } in lines.iter().filter(|line| line.histogram.beyond() > 0) {
        let (beyond, bound) = (histogram.beyond(), histogram.bound());
        builder.add_comment(&format!("{tag}: {beyond} values beyond {bound} ns are not in this log"));
    }
    builder.with_start_time(begun).with_base_time(begun).with_max_value_divisor(NS_PER_MS);
    let mut log = builder.begin_log_with(out, &mut serializer)?;
    for LogLine { tag, start, length, histogram } in lines {
        let tag =
            Tag::new(tag).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a tag has a comma or a space"))?;
        let written = log.write_histogram(&histogram.counts, *start, *length, Some(tag));
        written.map_err(|error| io::Error::other(error.to_string()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;

    fn late() -> Histogram<Ns> {
        let mut late = Histogram::with_bound(1_000_000);
        (1..=1000).for_each(|ns| late.record_saturating(ns * 700));
        late.record_saturating(2_000_000);
        late
    }

    #[test]
    fn the_fields_reader_finds_each_line_with_its_values() {
        let (late, mut text) = (late(), Vec::new());
        let second = Duration::from_secs(1);
        let lines = [("latency", Duration::ZERO), ("pacing_error", second)];
        let lines = lines.map(|(tag, start)| LogLine { tag, start, length: second, histogram: &late });
        write_log(&mut text, "takt udp", SystemTime::UNIX_EPOCH + second, &lines).expect("memory");
        let all: Vec<LogEntry<'_>> = IntervalLogIterator::new(&text).collect::<Result<_, _>>().expect("a log");
        let spans: Vec<_> = all
            .iter()
            .filter_map(|entry| match entry {
                LogEntry::Interval(one) => Some(one),
                _ => None,
            })
            .collect();
        let tags: Vec<_> = spans.iter().map(|one| one.tag().map(|tag| tag.as_str().to_owned())).collect();
        assert_eq!(tags, [Some("latency".to_owned()), Some("pacing_error".to_owned())]);
        assert_eq!((spans[1].start_timestamp(), spans[1].duration()), (second, second));
        let bytes = BASE64_STANDARD.decode(spans[0].encoded_histogram()).expect("base64");
        let read: hdrhistogram::Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).expect("a histogram");
        assert!(read.len() == 1000 && read == late.counts, "{read:?}");
        let text = String::from_utf8(text).expect("text");
        assert!(text.starts_with("#[Histogram log format version 1.3]\n#takt udp; values in ns\n"), "{text}");
        assert!(text.contains("#latency: 1 values beyond 1") && text.contains("#[StartTime: 1.000 "), "{text}");
        assert!(text.contains(",HISTFAA"), "compressed: what the log's readers expect\n{text}");
    }

    #[test]
    fn a_tag_that_would_break_its_line_is_refused() {
        let late = late();
        let line = LogLine { tag: "a,b", start: Duration::ZERO, length: Duration::ZERO, histogram: &late };
        assert!(write_log(&mut Vec::new(), "x", SystemTime::UNIX_EPOCH, &[line]).is_err());
    }
}
