//! `futuresdr-chain KERNEL STAGES PACKET CORES MODE SECONDS`: items a second through a chain in FutureSDR, as JSON.
//!
//! NullSource, STAGES times KERNEL (`copy` or `saxpy`), a sink that counts. MODE is the scheduler: `smol` (work stealing,
//! a pinned thread a core), `flow` (blocks placed by hand, equal parts of the kernels in order) or `local` (everything in
//! one local domain: a single thread, buffers that are not shared). The cores are those this process may use: start it
//! with `taskset -c CORES`. PACKET 0: FutureSDR's own `Copy` and `Apply`, which take all there is. Otherwise blocks that
//! take at most so many items a call. SECONDS 0 prints an item that came out instead.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futuresdr::blocks::{Apply, Copy, NullSource};
use futuresdr::runtime::config;
use futuresdr::runtime::dev::prelude::*;
use futuresdr::runtime::scheduler::{FlowScheduler, SmolScheduler};

type LocalReader = DefaultLocalCpuReader<f32>;
type LocalWriter = DefaultLocalCpuWriter<f32>;

/// A kernel on at most so many items a call.
#[derive(Block)]
struct Bounded<I: CpuBufferReader<Item = f32>, O: CpuBufferWriter<Item = f32>> {
    #[input]
    input: I,
    #[output]
    output: O,
    kernel: fn(&[f32], &mut [f32]),
    packet: usize,
}

impl<I: CpuBufferReader<Item = f32>, O: CpuBufferWriter<Item = f32>> Bounded<I, O> {
    fn new(kernel: fn(&[f32], &mut [f32]), packet: usize) -> Self {
        Self { input: I::default(), output: O::default(), kernel, packet }
    }
}

impl<I: CpuBufferReader<Item = f32>, O: CpuBufferWriter<Item = f32>> Kernel for Bounded<I, O> {
    async fn work(&mut self, io: &mut WorkIo, _mo: &mut MessageOutputs, _meta: &BlockMeta) -> Result<()> {
        let (i, o) = (self.input.slice(), self.output.slice());
        let (there, room) = (i.len(), o.len());
        let items = there.min(room).min(self.packet);
        if items > 0 {
            (self.kernel)(&i[..items], &mut o[..items]);
            self.input.consume(items);
            self.output.produce(items);
        }
        io.call_again = there.min(room) > items;
        io.finished = self.input.finished() && items == there;
        Ok(())
    }
}

/// NullSink with a count that can be read from outside.
#[derive(Block)]
struct CountSink<I: CpuBufferReader<Item = f32>> {
    #[input]
    input: I,
    seen: Arc<Seen>,
    look: bool,
}

#[derive(Default)]
#[repr(align(128))]
struct Seen {
    items: AtomicU64,
    last: AtomicU32,
}

impl<I: CpuBufferReader<Item = f32>> CountSink<I> {
    fn new(seen: &Arc<Seen>, look: bool) -> Self {
        Self { input: I::default(), seen: Arc::clone(seen), look }
    }
}

impl<I: CpuBufferReader<Item = f32>> Kernel for CountSink<I> {
    async fn work(&mut self, io: &mut WorkIo, _mo: &mut MessageOutputs, _meta: &BlockMeta) -> Result<()> {
        let packet = self.input.slice();
        let items = packet.len();
        if let Some(first) = packet.first().filter(|_| self.look) {
            self.seen.last.store(first.to_bits(), Ordering::Relaxed);
        }
        if items > 0 {
            self.seen.items.store(self.seen.items.load(Ordering::Relaxed) + items as u64, Ordering::Relaxed);
            self.input.consume(items);
        }
        io.finished = self.input.finished();
        Ok(())
    }
}

fn multiply_add() -> impl FnMut(&f32) -> f32 + Send + 'static {
    let (a, b) = std::hint::black_box((1.5, 0.5));
    move |x| a * x + b
}

fn saxpy(x: &[f32], y: &mut [f32]) {
    let (a, b) = std::hint::black_box((1.5, 0.5));
    y.iter_mut().zip(x).for_each(|(y, x)| *y = a * x + b);
}

/// A chain of one kind of kernel, in a flowgraph (whose `add` may fail: `[?]`) or in a local domain (`[]`). Answers the ids
/// of source, kernels and sink.
macro_rules! chain {
    ($to:expr, [$($may_fail:tt)?], $stream:ident, $stages:expr, $source:expr, $kernel:expr, $sink:expr) => {{
        let source = $to.add($source)$($may_fail)?;
        let mut kernels = Vec::new();
        for _ in 0..$stages {
            kernels.push($to.add($kernel)$($may_fail)?);
        }
        let sink = $to.add($sink)$($may_fail)?;
        $to.$stream(&source, |block| block.output(), &kernels[0], |block| block.input())?;
        for pair in kernels.windows(2) {
            $to.$stream(&pair[0], |block| block.output(), &pair[1], |block| block.input())?;
        }
        $to.$stream(&kernels[kernels.len() - 1], |block| block.output(), &sink, |block| block.input())?;
        let mut ids = vec![source.id()];
        ids.extend(kernels.iter().map(|kernel| kernel.id()));
        ids.push(sink.id());
        ids
    }};
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [kernel, stages, packet, cores, mode, seconds] = words.as_slice() else {
        panic!("futuresdr-chain KERNEL STAGES PACKET CORES MODE SECONDS")
    };
    let number = |word: &str| word.parse::<usize>().expect("a number");
    let (stages, packet, cores) = (number(stages), number(packet), cores.split(',').count());
    let seconds: f64 = seconds.parse().expect("seconds");
    // Its own size, or twice the packet where that is more.
    config::set("buffer_size", (2 * 4 * packet).max(config::config().buffer_size) as u64);

    let seen = Arc::new(Seen::default());
    let look = seconds == 0.0;
    let mut fg = Flowgraph::new();
    let ids = match (mode.as_str(), kernel.as_str(), packet) {
        ("local", kernel, packet) => {
            let domain = fg.local_domain()?;
            let (seen, kernel) = (Arc::clone(&seen), kernel.to_owned());
            fg.with_local_domain(domain, move |ctx| {
                let source = NullSource::<f32, LocalWriter>::new;
                let sink = || CountSink::<LocalReader>::new(&seen, look);
                Ok(match (kernel.as_str(), packet) {
                    ("copy", 0) => {
                        chain!(
                            ctx,
                            [],
                            stream_local,
                            stages,
                            source(),
                            Copy::<f32, LocalReader, LocalWriter>::new(),
                            sink()
                        )
                    }
                    (_, 0) => chain!(
                        ctx,
                        [],
                        stream_local,
                        stages,
                        source(),
                        Apply::<_, f32, f32, LocalReader, LocalWriter>::with_buffers(multiply_add()),
                        sink()
                    ),
                    (kernel, _) => {
                        let bounded = || Bounded::<LocalReader, LocalWriter>::new(slices(kernel), packet);
                        chain!(ctx, [], stream_local, stages, source(), bounded(), sink())
                    }
                })
            })?
        }
        (_, kernel, packet) => {
            let source = NullSource::<f32>::new;
            let sink = || CountSink::<DefaultCpuReader<f32>>::new(&seen, look);
            match (kernel, packet) {
                ("copy", 0) => chain!(fg, [?], stream, stages, source(), Copy::<f32>::new(), sink()),
                (_, 0) => chain!(fg, [?], stream, stages, source(), Apply::new(multiply_add()), sink()),
                (kernel, _) => {
                    let bounded =
                        || Bounded::<DefaultCpuReader<f32>, DefaultCpuWriter<f32>>::new(slices(kernel), packet);
                    chain!(fg, [?], stream, stages, source(), bounded(), sink())
                }
            }
        }
    };
    match mode.as_str() {
        "smol" | "local" => run(Runtime::with_scheduler(SmolScheduler::with_config(cores, true)), fg, &seen, seconds),
        "flow" => {
            run(Runtime::with_scheduler(FlowScheduler::with_pinned_blocks(parts(&ids, cores))), fg, &seen, seconds)
        }
        other => panic!("no scheduler `{other}`"),
    }
}

fn slices(kernel: &str) -> fn(&[f32], &mut [f32]) {
    match kernel {
        "copy" => |x, y| y.copy_from_slice(x),
        "saxpy" => saxpy,
        other => panic!("no kernel `{other}`"),
    }
}

/// Blocks by worker: kernels in equal parts, the source with the first and the sink with the last.
fn parts(ids: &[BlockId], cores: usize) -> Vec<Vec<BlockId>> {
    let stages = ids.len() - 2;
    let workers = cores.min(stages);
    let mut parts = vec![Vec::new(); workers];
    for (index, &id) in ids.iter().enumerate() {
        let stage = index.saturating_sub(1).min(stages - 1);
        parts[stage * workers / stages].push(id);
    }
    parts
}

/// Counts items between two looks, behind a warm-up, and ends the process: a chain has no end of its own.
fn run<S: futuresdr::runtime::scheduler::Scheduler>(
    runtime: Runtime<S>,
    fg: Flowgraph,
    seen: &Seen,
    seconds: f64,
) -> Result<()> {
    let running = runtime.start(fg)?;
    let items = || seen.items.load(Ordering::Relaxed);
    if seconds == 0.0 {
        while items() < 1_000_000 {
            std::thread::sleep(Duration::from_millis(1));
        }
        println!("{{\"item\": {}}}", f32::from_bits(seen.last.load(Ordering::Relaxed)));
    } else {
        std::thread::sleep(Duration::from_secs_f64(0.3 * seconds));
        let (from, cpu, start) = (items(), cpu_seconds(), Instant::now());
        std::thread::sleep(Duration::from_secs_f64(seconds));
        let (to, cpu, end) = (items(), cpu_seconds() - cpu, start.elapsed());
        println!("{{\"items\": {}, \"seconds\": {}, \"cpu_seconds\": {cpu}}}", to - from, end.as_secs_f64());
    }
    std::mem::forget(running);
    std::process::exit(0)
}

/// CPU time of all threads of this process.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
