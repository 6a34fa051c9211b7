//! Once its channels are open, a splitter or combiner allocates nothing.

use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::Rotation;
use takt_dsp::shared_band::{BandCombiner, BandPlan, BandSplitter, NarrowBand, WideBand};

use crate::allocations;

#[test]
fn channels_that_are_open_allocate_nothing() {
    let plan = BandPlan::new(WideBand { first: Tick(0), step: 4 }, &[100; 4], Ticks(100_000)).unwrap();
    assert!(plan.transform_len().is_some());
    let centre = Rotation::from_turns(0.03);
    // The first two share the transform, the third has its own filter.
    let steps = [100, 50, 77];
    let mut splitter = BandSplitter::new(&plan);
    let mut combiner = BandCombiner::new(&plan, Tick(0)).unwrap();
    let bands = steps.map(|step| NarrowBand { centre, first: Tick(17), step });
    let heard = bands.map(|band| splitter.open(band).unwrap());
    let sent = steps.map(|step| combiner.open(step, Ticks(10_000)).unwrap());
    let samples = vec![Complex32::new(0.1, 0.0); 2000];
    let mut block = vec![Complex32::default(); combiner.block_len()];
    let mut outputs = 0;

    let before = allocations::count();
    for round in 0..4 {
        for (key, step) in sent.into_iter().zip(steps) {
            let first = Tick(combiner.earliest(key).unwrap().0 + 13 * round);
            combiner.place(key, centre, first, &samples[..100]).unwrap();
            let gap = Tick(first.0 + 150 * u64::from(step) + 1);
            combiner.place(key, centre, gap, &samples).unwrap();
        }
        let tick = combiner.take(&mut block).unwrap();
        splitter.feed(tick, &block, |_, _, samples| outputs += samples.len()).unwrap();
        sent.into_iter().for_each(|key| combiner.clear(key).unwrap());
        for (key, band) in heard.into_iter().zip(bands) {
            splitter.retune(key, NarrowBand { centre: -centre, first: Tick(18 + round), ..band }).unwrap();
        }
    }
    // A gap, and a step back.
    splitter.feed(Tick(1 << 40), &block, |_, _, samples| outputs += samples.len()).unwrap();
    splitter.feed(Tick(0), &block, |_, _, samples| outputs += samples.len()).unwrap();
    combiner.skip_to(Tick(1 << 40)).unwrap();
    assert_eq!(allocations::count(), before);
    assert!(outputs > 0);
}
