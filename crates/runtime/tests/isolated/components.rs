//! Components that do harm, remember, talk or count.

use std::io::{Seek, SeekFrom, Write};
use std::time::Duration;

use takt_graph::Value;
use takt_runtime::{Message, component};

use super::allocations;

/// Does harm in one slot; otherwise it passes on.
#[component]
fn harm(
    slot: u64,
    input: In<f32>,
    mut output: Out<f32>,
    #[param(choice = ["none", "abort", "hang", "late", "block", "garbage", "exit"], default = "none")] how: String,
    #[param(default = 0)] at: u64,
) {
    output.copy_from_slice(&input);
    if how == "block" && slot >= at {
        takt_testing::wait_for("the release", || release(std::os::unix::process::parent_id()).exists().then_some(()));
    }
    if slot == at {
        match how.as_str() {
            "abort" => std::process::abort(),
            "exit" => std::process::exit(0),
            "hang" => std::thread::sleep(Duration::from_secs(3600)),
            "late" => std::thread::sleep(Duration::from_millis(50)),
            "garbage" => garbage(),
            _ => {}
        }
    }
}

/// The file that releases a blocked component of the program with this number.
pub(super) fn release(program: u32) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("takt-isolated-release-{program}"))
}

/// Writes over everything that is shared with the program.
fn garbage() {
    let mut shared = std::fs::OpenOptions::new().write(true).open("/proc/self/fd/0").expect("the shared memory");
    let size = shared.metadata().expect("a file").len();
    let mut state = 0x1234_5678_9abc_def1_u64;
    // All but the counters of requests first, then those as well.
    for start in [384, 0] {
        shared.seek(SeekFrom::Start(start)).expect("a place in it");
        for _ in 0..(size - start) / 8 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let word = if state >> 61 == 0 { u64::MAX } else { state >> (state >> 58) };
            shared.write_all(&word.to_le_bytes()).expect("writable");
        }
    }
}

/// Ends its process when it is made.
struct Stillborn;

#[component(name = "stillborn")]
impl Stillborn {
    fn new() -> Stillborn {
        // In the program itself it is made, in a process of its own it is not.
        if std::env::args().nth(1).is_some_and(|argument| argument == "--takt-isolated-component") {
            std::process::abort();
        }
        Stillborn
    }
    fn tick(&mut self, input: In<f32>) {
        let _ = input;
    }
}

#[derive(Default)]
struct Meter {
    sum: f32,
    factor: f32,
    received: i64,
}

/// Sums up what it reads and receives, passes on its input times a variable plus the sum, and sends the sum.
#[component]
impl Meter {
    fn new(#[param(default = 1.0, variable)] factor: f32) -> Meter {
        Meter { factor, ..Meter::default() }
    }
    fn tick(&mut self, input: In<f32>, mut output: Out<f32>, outbox: &mut Outbox<'_>) {
        self.sum += input.iter().sum::<f32>() % 17.0;
        output.iter_mut().zip(input).for_each(|(y, x)| *y = x * self.factor + self.sum);
        outbox.send(Message { tag: 0, words: [self.sum.to_bits().into(); 7] });
    }
    fn set_factor(&mut self, factor: f32) {
        self.factor = factor;
    }
    fn factor(&self) -> f32 {
        self.factor
    }
    fn message(&mut self, message: &Message) {
        self.received += 1;
        self.sum = (self.sum + f32::from_bits(message.words[0] as u32)) % 1000.0;
    }
    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("received", self.received.into()), ("factor", f64::from(self.factor).into())]
    }
}

/// Counts what its worker's thread allocates and releases between its tenth slot and its last.
#[derive(Default)]
struct Witness {
    first: Option<u64>,
    last: u64,
}

#[component]
impl Witness {
    fn new() -> Witness {
        Witness::default()
    }
    fn tick(&mut self, slot: u64, input: In<f32>) {
        let _ = input;
        self.last = allocations::count();
        if slot >= 10 {
            self.first.get_or_insert(self.last);
        }
    }
    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("allocations", ((self.last - self.first.unwrap_or(0)) as i64).into())]
    }
}
