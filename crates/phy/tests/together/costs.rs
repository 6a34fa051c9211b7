//! Instructions of this crate's components, as the runtime looks them up.

use takt_mapper::Counted;
use takt_runtime::costs::profile;

use crate::waveform;

#[test]
fn what_was_counted_is_itself_and_another_of_its_type_so_many_times_as_much() {
    let registry = waveform::registry();
    let counted = Counted::all().iter().find(|counted| counted.kind == "bpsk-demodulate").expect("was counted");
    let of = |items: &[u64]| profile("bpsk-demodulate", &counted.params, items, &registry).expect("of that type");
    assert_eq!(of(&counted.items), (counted.profile(), None));
    let (more, times) = of(&[counted.items[0] * 8]);
    let times = times.expect("not what was counted");
    assert_eq!(more, counted.profile().times(times));
    assert!(times.is_finite() && times > 0.0, "{times}");
    assert_eq!(profile("no-such-type", &counted.params, &[1], &registry), None);
}
