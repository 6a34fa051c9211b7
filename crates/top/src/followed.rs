//! State of one process: the newest snapshot, and what only several of them tell.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};

use takt_live::{Direction, End, Hello, Line, Radio, SetAnswer, Snapshot};

/// Span over which a rate is measured, ns.
const SPAN_NS: u64 = 1_000_000_000;
/// Letters that are kept.
const LETTERS: usize = 400;
/// Letters that one snapshot adds of a kind and radio: more are one mark.
const BURST: u64 = 8;
/// Radios of which the letters are counted.
const RADIOS: usize = takt_live::limits::RADIOS;

/// A radio and direction.
type Side = (String, Direction);

/// A process that is followed.
#[derive(Clone, Debug)]
pub struct Followed {
    hello: Hello,
    newest: Option<Snapshot>,
    /// Time and samples of each radio, the oldest first.
    passed: VecDeque<(u64, Vec<(Side, u64)>)>,
    /// As they came; `+` stands for more of the letter before it.
    letters: VecDeque<char>,
    counted: HashMap<Side, [u64; 5]>,
    /// The last answer about a variable.
    said: Option<String>,
    ended: Option<String>,
}

impl Followed {
    /// A process of which nothing has come but who it is.
    #[must_use]
    pub fn new(hello: Hello) -> Followed {
        Followed {
            hello,
            newest: None,
            passed: VecDeque::new(),
            letters: VecDeque::new(),
            counted: HashMap::new(),
            said: None,
            ended: None,
        }
    }

    /// Takes the next line.
    pub fn line(&mut self, line: Line) {
        match line {
            Line::Snapshot(snapshot) => self.take(*snapshot),
            Line::End(End { why }) => self.end(&why),
            Line::Set(answer) => self.answer(answer),
            Line::Hello(_) => {}
        }
    }

    fn answer(&mut self, SetAnswer { name, refused }: SetAnswer) {
        self.said = Some(match refused {
            Some(why) => format!("{name} was not set: {why}"),
            None => format!("{name} is set"),
        });
    }

    /// The last answer about a variable that was to be set.
    #[must_use]
    pub fn said(&self) -> Option<&str> {
        self.said.as_deref()
    }

    /// Takes the next snapshot.
    pub fn take(&mut self, snapshot: Snapshot) {
        let samples = |radio: &Radio| radio.samples.map(|samples| (side(radio), samples));
        self.passed.push_back((snapshot.t_ns, snapshot.radios.iter().filter_map(samples).collect()));
        while self.passed.len() > 2 && self.passed[1].0 + SPAN_NS <= snapshot.t_ns {
            self.passed.pop_front();
        }
        snapshot.radios.iter().for_each(|radio| self.count_letters(radio));
        self.newest = Some(snapshot);
    }

    /// The process, or the connection, has ended.
    pub fn end(&mut self, why: &str) {
        self.ended.get_or_insert_with(|| why.to_owned());
    }

    /// Its introduction.
    #[must_use]
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// The newest snapshot.
    #[must_use]
    pub fn newest(&self) -> Option<&Snapshot> {
        self.newest.as_ref()
    }

    /// Why nothing comes any more.
    #[must_use]
    pub fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    /// Letters as they came, the newest last.
    #[must_use]
    pub fn letters(&self) -> String {
        self.letters.iter().collect()
    }

    /// Samples a second and channel over the last second, in the radio's time; `None`: one snapshot does not tell.
    #[must_use]
    pub fn rate_sps(&self, radio: &Radio) -> Option<f64> {
        let (from_ns, before) = self.passed.front()?;
        let (to_ns, now) = self.passed.back()?;
        let side = side(radio);
        let of = |list: &[(Side, u64)]| list.iter().find(|(one, _)| *one == side).map(|(_, samples)| *samples);
        let passed = of(now)?.checked_sub(of(before)?)?;
        let speed = self.newest.as_ref().and_then(|newest| newest.speed).unwrap_or(1.0);
        let seconds = to_ns.checked_sub(*from_ns).filter(|&ns| ns > 0)? as f64 / 1e9 * speed;
        (speed > 0.0).then(|| passed as f64 / f64::from(radio.channels.unwrap_or(1).max(1)) / seconds)
    }

    fn count_letters(&mut self, radio: &Radio) {
        let counts = radio.letters.list();
        let is_full = self.counted.len() >= RADIOS;
        let before = match self.counted.entry(side(radio)) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(_) if is_full => return,
            // Those from before the first look are in the table and did not come just now.
            Entry::Vacant(entry) => entry.insert(counts.map(|(_, count)| count.unwrap_or(0))),
        };
        let mut new = Vec::new();
        for ((letter, count), before) in counts.into_iter().zip(before) {
            let count = count.unwrap_or(*before);
            new.extend(burst(letter, count.saturating_sub(*before)));
            *before = count;
        }
        self.letters.extend(new);
        let beyond = self.letters.len().saturating_sub(LETTERS);
        self.letters.drain(..beyond);
    }
}

fn burst(letter: char, count: u64) -> impl Iterator<Item = char> {
    let shown = usize::try_from(count.min(BURST)).unwrap_or(0);
    std::iter::repeat_n(letter, shown).chain((count > BURST).then_some('+'))
}

fn side(radio: &Radio) -> Side {
    (radio.name.clone(), radio.direction)
}
