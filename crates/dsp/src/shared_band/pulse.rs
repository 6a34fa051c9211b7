//! The direct way of one channel: a mixer and the filter in polyphase form, for any step.

use num_complex::Complex32;
use takt_base::Tick;

use super::filter::{REACH, impulse};
use super::unsigned;
use crate::signal::dot::{LANES, dot};
use crate::{Rotation, mix};

/// Rows of taps: one for each place that an output can have behind an input, in ticks.
struct Rows {
    taps: Box<[f32]>,
    stride: usize,
    /// Inputs of a row up to the one at or before the output, without it.
    before: i64,
    inner: i64,
}

impl Rows {
    /// For inputs every `inner` ticks and the filter of a channel of `step`.
    fn new(inner: u32, step: u32) -> Rows {
        let reach = REACH * i64::from(step);
        let after = reach / i64::from(inner) + 1;
        let stride = (2 * after as usize).next_multiple_of(LANES);
        // The taps that fill a vector lie in front, where there are inputs already.
        let before = stride as i64 - 1 - after;
        let gain = f64::from(inner) / f64::from(step);
        let mut taps = vec![0.0; stride * inner as usize].into_boxed_slice();
        for (place, row) in taps.chunks_exact_mut(stride).enumerate() {
            for (j, tap) in row.iter_mut().enumerate() {
                let ticks = place as i64 + (before - j as i64) * i64::from(inner);
                *tap = (gain * impulse(ticks as f64 / f64::from(step))) as f32;
            }
        }
        Rows { taps, stride, before, inner: i64::from(inner) }
    }

    fn row(&self, place: i64) -> &[f32] {
        &self.taps[place as usize * self.stride..][..self.stride]
    }

    /// The number of the last input that an output `ticks` behind input 0 needs.
    fn last(&self, ticks: i64) -> i64 {
        ticks.div_euclid(self.inner) - self.before + self.stride as i64 - 1
    }
}

/// Cuts a channel out of wide samples.
pub(super) struct DirectReceiver {
    rows: Rows,
    centre: Rotation,
    step: u32,
    wide_step: u32,
    offset: i64,
    /// The turned wide samples `oldest ..`, of which `held` are there.
    re: Box<[f32]>,
    im: Box<[f32]>,
    oldest: i64,
    held: usize,
    next: i64,
    staging: Box<[Complex32]>,
    out: Box<[Complex32]>,
}

impl DirectReceiver {
    pub(super) fn new(wide_step: u32, offset: i64, centre: Rotation, first: i64, step: u32) -> DirectReceiver {
        let rows = Rows::new(wide_step, step);
        let window = 2 * rows.stride + CHUNK;
        DirectReceiver {
            rows,
            centre,
            step,
            wide_step,
            offset,
            re: vec![0.0; window].into(),
            im: vec![0.0; window].into(),
            oldest: 0,
            held: 0,
            next: first,
            staging: vec![Complex32::default(); CHUNK].into(),
            out: vec![Complex32::default(); CHUNK + 1].into(),
        }
    }

    /// Goes on at wide sample `index`, after silence. The next output is the first of the channel at or after `since`.
    pub(super) fn restart(&mut self, index: i64, first: i64, since: i64) {
        self.held = self.rows.stride;
        self.re[..self.held].fill(0.0);
        self.im[..self.held].fill(0.0);
        self.oldest = index - self.held as i64;
        let step = i64::from(self.step);
        self.next = since.max(first) + (first - since.max(first)).rem_euclid(step);
    }

    pub(super) fn retune(&mut self, centre: Rotation, first: i64) {
        self.centre = centre;
        let step = i64::from(self.step);
        self.next = self.next.max(first) + (first - self.next.max(first)).rem_euclid(step);
    }

    /// Takes the wide samples from `index` on, which follow the last ones.
    pub(super) fn feed(&mut self, index: i64, wide: &[Complex32], mut put: impl FnMut(Tick, &[Complex32])) {
        let mut index = index;
        for part in wide.chunks(CHUNK) {
            let tick = unsigned(self.offset + index * i64::from(self.wide_step));
            let turned = &mut self.staging[..part.len()];
            turned.copy_from_slice(part);
            mix(-self.centre, 1.0, tick, self.wide_step, turned);
            if self.held + part.len() > self.re.len() {
                let dropped = self.held - self.rows.stride;
                self.re.copy_within(dropped..self.held, 0);
                self.im.copy_within(dropped..self.held, 0);
                (self.oldest, self.held) = (self.oldest + dropped as i64, self.rows.stride);
            }
            let places = self.re[self.held..].iter_mut().zip(&mut self.im[self.held..]);
            for ((re, im), x) in places.zip(&*turned) {
                (*re, *im) = (x.re, x.im);
            }
            self.held += part.len();
            index += part.len() as i64;
            self.put_out(index, &mut put);
        }
    }

    /// All outputs that need no wide sample from `end` on.
    fn put_out(&mut self, end: i64, put: &mut impl FnMut(Tick, &[Complex32])) {
        let (first, mut count) = (self.next, 0);
        while self.rows.last(self.next - self.offset) < end && count < self.out.len() {
            let ticks = self.next - self.offset;
            let place = ticks.rem_euclid(self.rows.inner);
            let from = (ticks.div_euclid(self.rows.inner) - self.rows.before - self.oldest) as usize;
            let span = from..from + self.rows.stride;
            self.out[count] = dot(self.rows.row(place), &self.re[span.clone()], &self.im[span]);
            self.next += i64::from(self.step);
            count += 1;
        }
        if count > 0 {
            put(unsigned(first), &self.out[..count]);
        }
    }
}

/// Places runs of a channel's samples into wide ones.
pub(super) struct DirectSender {
    rows: Rows,
    step: u32,
    re: Box<[f32]>,
    im: Box<[f32]>,
    wide: Box<[Complex32]>,
}

impl DirectSender {
    /// For blocks of `block` wide samples.
    pub(super) fn new(wide_step: u32, step: u32, block: usize) -> DirectSender {
        let rows = Rows::new(step, step);
        let inputs = block * wide_step as usize / step as usize + 2 * rows.stride + 2;
        DirectSender {
            rows,
            step,
            re: vec![0.0; inputs].into(),
            im: vec![0.0; inputs].into(),
            wide: vec![Complex32::default(); block].into(),
        }
    }

    /// Adds a run, whose sample n belongs to tick `first + n * step`, to wide samples from tick `at` on. `read` gives sample n
    /// of the run, and 0 where it has none.
    pub(super) fn place(
        &mut self,
        (centre, first): (Rotation, i64),
        (at, wide_step): (i64, u32),
        out: &mut [Complex32],
        read: impl Fn(i64) -> Complex32,
    ) {
        let step = i64::from(self.step);
        let oldest = (at - first).div_euclid(step) - self.rows.before;
        let last = self.rows.last(at + out.len() as i64 * i64::from(wide_step) - first);
        for (n, (re, im)) in (oldest..=last).zip(self.re.iter_mut().zip(&mut self.im)) {
            let x = read(n);
            (*re, *im) = (x.re, x.im);
        }
        let turned = &mut self.wide[..out.len()];
        let (mut place, mut from) = ((at - first).rem_euclid(step), 0);
        for x in turned.iter_mut() {
            let span = from..from + self.rows.stride;
            *x = dot(self.rows.row(place), &self.re[span.clone()], &self.im[span]);
            place += i64::from(wide_step);
            while place >= step {
                (place, from) = (place - step, from + 1);
            }
        }
        mix(centre, 1.0, unsigned(at), wide_step, turned);
        out.iter_mut().zip(turned).for_each(|(out, x)| *out += *x);
    }
}

/// Wide samples taken at a time.
const CHUNK: usize = 1024;
