//! Stream commands.

use proptest::prelude::*;
use takt_wire::n200::{MAX_SAMPLES, StreamAction, StreamCommand};

#[test] // as UHD writes them
fn the_words_are_those_a_host_writes() {
    let table = [
        (StreamAction::Start, None, [0xE000_0001, 0, 0]),
        (StreamAction::Start, Some(0x2_0000_0003), [0x6000_0001, 2, 3]),
        (StreamAction::Stop, None, [0x9000_0000, 0, 0]),
        (StreamAction::Samples(300), None, [0x8000_012C, 0, 0]),
        (StreamAction::Samples(300), Some(7), [0x0000_012C, 0, 7]),
        (StreamAction::SamplesAndMore(400), None, [0xC000_0190, 0, 0]),
        (StreamAction::SamplesAndMore(400), Some(7), [0x4000_0190, 0, 7]),
    ];
    for (action, tick, words) in table {
        let command = StreamCommand { action, tick };
        assert_eq!(command.words(), Ok(words));
        assert_eq!(StreamCommand::from_words(words), command);
    }
}

#[test]
fn more_samples_than_28_bits_hold_are_refused() {
    for action in [StreamAction::Samples(MAX_SAMPLES + 1), StreamAction::SamplesAndMore(u32::MAX)] {
        assert!(StreamCommand { action, tick: None }.words().is_err());
    }
    assert!(StreamCommand { action: StreamAction::Samples(MAX_SAMPLES), tick: None }.words().is_ok());
}

proptest! {
    #[test]
    fn any_words_mean_a_command_that_can_be_written_again(words: [u32; 3]) {
        let command = StreamCommand::from_words(words);
        prop_assert_eq!(StreamCommand::from_words(command.words().unwrap()), command);
    }
}
