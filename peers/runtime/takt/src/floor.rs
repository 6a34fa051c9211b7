//! Times of the same kernels without a runtime: the floors that stand beside.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rtrb::{Consumer, Producer, RingBuffer};
use takt_host::affinity::pin_self;

use crate::Case;

/// From one buffer into another; in place, the second is not touched.
type Kernel = fn(&mut Box<[f32]>, &mut Box<[f32]>);

fn kernel(case: &Case) -> Kernel {
    match case.kernel.as_str() {
        "copy" => |x, y| {
            y.copy_from_slice(x);
            std::mem::swap(x, y);
        },
        "saxpy" => |x, y| {
            let (a, b) = black_box((1.5, 0.5));
            y.iter_mut().zip(x.iter()).for_each(|(y, x)| *y = a * x + b);
            std::mem::swap(x, y);
        },
        "saxpy-in-place" => |x, _| {
            let (a, b) = black_box((1.5, 0.5));
            x.iter_mut().for_each(|x| *x = a * *x + b);
        },
        other => panic!("no kernel `{other}`"),
    }
}

fn buffer(case: &Case) -> Box<[f32]> {
    vec![0.0; case.packet].into_boxed_slice()
}

/// Counts on a cache line of its own.
#[repr(align(128))]
struct Count(AtomicU64);

/// One kernel over the same data, again and again.
pub fn hot(case: &Case) -> String {
    counted(case, |count, stop| {
        let (core, apply) = (case.cores[0], kernel(case));
        let (mut x, mut y) = (buffer(case), buffer(case));
        let packet = case.packet as u64;
        vec![Box::new(move || {
            pin_self(&[core]).expect("a core of ours");
            while !stop.load(Ordering::Relaxed) {
                apply(black_box(&mut x), black_box(&mut y));
                count.0.store(count.0.load(Ordering::Relaxed) + packet, Ordering::Relaxed);
            }
        })]
    })
}

/// Threads in a circle, each with its part of the kernels; boxes go round, four for each thread.
pub fn line(case: &Case) -> String {
    const BOXES: usize = 4;
    counted(case, |count, stop| {
        let workers = case.workers();
        let mut ways: Vec<(Option<Producer<_>>, Option<Consumer<_>>)> =
            (0..workers).map(|_| RingBuffer::new(BOXES * workers)).map(|(tx, rx)| (Some(tx), Some(rx))).collect();
        // All boxes start on the way to the first thread.
        if let Some(tx) = &mut ways[workers - 1].0 {
            (0..BOXES * workers).for_each(|_| tx.push(buffer(case)).expect("room"));
        }
        let mut threads: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
        for worker in 0..workers {
            let mut input = ways[(worker + workers - 1) % workers].1.take().expect("one end each");
            let mut output = ways[worker].0.take().expect("one end each");
            let (count, stop, apply, core) = (Arc::clone(&count), Arc::clone(&stop), kernel(case), case.cores[worker]);
            let mine = (0..case.stages).filter(|&stage| case.worker_of(stage) == worker);
            let mut spare: Vec<Box<[f32]>> = mine.map(|_| buffer(case)).collect();
            let (first, last, packet) = (worker == 0, worker == workers - 1, case.packet as u64);
            threads.push(Box::new(move || {
                pin_self(&[core]).expect("a core of ours");
                while !stop.load(Ordering::Relaxed) {
                    let Ok(mut x) = input.pop() else {
                        std::hint::spin_loop();
                        continue;
                    };
                    if first {
                        x.fill(0.0);
                    }
                    spare.iter_mut().for_each(|y| apply(&mut x, y));
                    if last {
                        count.0.store(count.0.load(Ordering::Relaxed) + packet, Ordering::Relaxed);
                    }
                    output.push(black_box(x)).expect("room for all boxes");
                }
            }));
        }
        threads
    })
}

fn counted<'a>(
    case: &Case,
    threads: impl FnOnce(Arc<Count>, Arc<AtomicBool>) -> Vec<Box<dyn FnOnce() + Send + 'a>>,
) -> String {
    let (count, stop) = (Arc::new(Count(AtomicU64::new(0))), Arc::new(AtomicBool::new(false)));
    let threads = threads(Arc::clone(&count), Arc::clone(&stop));
    std::thread::scope(|scope| {
        threads.into_iter().for_each(|thread| _ = scope.spawn(thread));
        let answer = case.measure(|| count.0.load(Ordering::Relaxed));
        stop.store(true, Ordering::Relaxed);
        answer
    })
}
