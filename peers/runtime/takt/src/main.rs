//! `takt-chain KERNEL STAGES PACKET CORES MODE SECONDS`: items a second through a chain, as JSON.
//!
//! KERNEL is `copy`, `saxpy` or `saxpy-in-place`; PACKET is items a slot; CORES as `0,1`. MODE:
//!
//! - `takt`: null-source, STAGES times KERNEL, null-sink, in a session without a clock, kernels in equal parts on CORES;
//! - `hot`: no runtime: one kernel in a loop over the same data on the first core;
//! - `line`: no runtime: the same placement, threads that hand boxes to each other through `rtrb` and watch.
//!
//! SECONDS 0 prints the first item of a packet that came out instead, to compare with others.
#![forbid(unsafe_code)]

mod chain;
mod floor;

use std::time::Duration;

/// A case to run.
pub struct Case {
    pub kernel: String,
    pub stages: usize,
    pub packet: usize,
    pub cores: Vec<usize>,
    pub seconds: f64,
}

impl Case {
    /// The worker of each kernel: equal parts, in order.
    pub fn worker_of(&self, stage: usize) -> usize {
        stage * self.workers() / self.stages
    }

    /// No more than there are kernels.
    pub fn workers(&self) -> usize {
        self.cores.len().min(self.stages)
    }

    /// Counts items between two looks at `items`, behind a warm-up.
    pub fn measure(&self, items: impl Fn() -> u64) -> String {
        std::thread::sleep(Duration::from_secs_f64(0.3 * self.seconds));
        let (from, cpu, start) = (items(), cpu_seconds(), std::time::Instant::now());
        std::thread::sleep(Duration::from_secs_f64(self.seconds));
        let (to, cpu, end) = (items(), cpu_seconds() - cpu, start.elapsed());
        format!("{{\"items\": {}, \"seconds\": {}, \"cpu_seconds\": {cpu}}}", to - from, end.as_secs_f64())
    }
}

/// CPU time of all threads of this process.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [kernel, stages, packet, cores, mode, seconds] = words.as_slice() else {
        eprintln!("takt-chain KERNEL STAGES PACKET CORES MODE SECONDS");
        std::process::exit(2);
    };
    let case = Case {
        kernel: kernel.clone(),
        stages: stages.parse().expect("a number of kernels"),
        packet: packet.parse().expect("items a packet"),
        cores: cores.split(',').map(|core| core.parse().expect("a core")).collect(),
        seconds: seconds.parse().expect("seconds"),
    };
    let answer = match mode.as_str() {
        "takt" if case.seconds == 0.0 => chain::check(&case),
        "takt" => chain::run(&case),
        "hot" => floor::hot(&case),
        "line" => floor::line(&case),
        _ => panic!("MODE is takt, hot or line"),
    };
    println!("{answer}");
}
