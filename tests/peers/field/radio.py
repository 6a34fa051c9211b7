"""What the programs in this folder have in common: one channel each way of a radio, in integers, over UHD's Python API."""

import os

import uhd

# Seconds of the radio in a second of this host. A host's work between two times takes as long at any speed, so programs scale
# the times that they leave for it.
SPEED = float(os.environ.get("SPEED") or 1.0)
RF_HZ = 900e6
# For a call of UHD that waits.
TIMEOUT_S = 10.0

Policy = uhd.types.TuneRequestPolicy


def fail(text):
    raise RuntimeError(text)


def opened(addr):
    """A radio both sides of which are tuned alike."""
    usrp = uhd.usrp.MultiUSRP("addr=" + addr)
    wanted = dsp(0.0)
    wanted.rf_freq_policy, wanted.rf_freq = Policy.manual, RF_HZ
    sent, received = [tune(wanted).actual_rf_freq for tune in (usrp.set_tx_freq, usrp.set_rx_freq)]
    if sent != received:
        fail(f"the oscillators are at {sent} and {received} Hz")
    return usrp


def dsp(hz):
    """A request that moves nothing but the frequency of a DSP."""
    wanted = uhd.types.TuneRequest(RF_HZ)
    wanted.rf_freq_policy = Policy.none
    wanted.dsp_freq_policy, wanted.dsp_freq = Policy.manual, hz
    return wanted


def integers():
    """A stream of 16-bit integers, as they are on the wire: UHD scales none of them."""
    args = uhd.usrp.StreamArgs("sc16", "sc16")
    args.channels = [0]
    return args


def receiver(usrp, rate):
    usrp.set_rx_rate(rate, 0)
    return usrp.get_rx_stream(integers())


def transmitter(usrp, rate):
    usrp.set_tx_rate(rate, 0)
    return usrp.get_tx_stream(integers())


def finite(samples, begin=None):
    """The command to receive a number of samples, at a time or at once."""
    command = uhd.types.StreamCMD(uhd.types.StreamMode.num_done)
    command.num_samps = samples
    command.stream_now = begin is None
    if begin is not None:
        command.time_spec = begin
    return command


def burst(begin):
    """Of a single call of `send`: it begins at this time, and ends with the last sample."""
    metadata = uhd.types.TXMetadata()
    metadata.has_time_spec, metadata.time_spec = True, begin
    metadata.start_of_burst = metadata.end_of_burst = True
    return metadata


def received(rx, words):
    """Fills an array of samples in one call, and returns the metadata of the first; the samples are one after the other."""
    metadata = uhd.types.RXMetadata()
    came = rx.recv(words, metadata, TIMEOUT_S)
    if came != len(words) or metadata.error_code != uhd.types.RXMetadataErrorCode.none:
        fail(f"{came} of {len(words)} samples came: {metadata.strerror()}")
    return metadata


def acknowledge(tx):
    """Waits until a burst is over: the radio has nothing to say of it but that."""
    event = uhd.types.TXAsyncMetadata()
    if not tx.recv_async_msg(event, TIMEOUT_S):
        fail("the burst was not acknowledged")
    if event.event_code != uhd.types.TXMetadataEventCode.burst_ack:
        fail(f"the burst ended with {event.event_code}")
