//! Items dealt in turn to F streams, and F streams taken in turn. Both are written so that the compiler turns them into
//! shuffles: all streams in one loop, their lengths known equal.

/// Item k of the input goes to stream k modulo F.
///
/// # Panics
/// If a stream is shorter than its share.
#[inline(always)]
pub(crate) fn split<const F: usize>(input: &[u8], streams: [&mut [u8]; F]) {
    let rows = input.as_chunks::<F>().0;
    let streams = streams.map(|stream| &mut stream[..rows.len()]);
    for (r, row) in rows.iter().enumerate() {
        for f in 0..F {
            streams[f][r] = row[f];
        }
    }
}

/// Item k of the output comes from stream k modulo F.
///
/// # Panics
/// If a stream is shorter than its share.
#[inline(always)]
pub(crate) fn join<const F: usize>(streams: &[&[u8]; F], out: &mut [u8]) {
    let rows = out.as_chunks_mut::<F>().0;
    let streams = streams.map(|stream| &stream[..rows.len()]);
    for (r, row) in rows.iter_mut().enumerate() {
        for f in 0..F {
            row[f] = streams[f][r];
        }
    }
}
