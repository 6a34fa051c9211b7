"""Sends bursts at fixed times with UHD's Python API, knowing nothing of takt. With a fault as argument, as a faulty program does."""

import argparse

import numpy as np
import uhd

parser = argparse.ArgumentParser()
parser.add_argument("--args", required=True)
parser.add_argument("--bursts", type=int, default=3)
parser.add_argument("--fault", choices=["time", "burst"])
options = parser.parse_args()

RATE, FREQUENCY, PERIOD_S, SAMPLES = 1e6, 915e6, 0.1, 2000

usrp = uhd.usrp.MultiUSRP(options.args)
usrp.set_tx_rate(RATE)
usrp.set_tx_freq(uhd.types.TuneRequest(FREQUENCY), 0)
usrp.set_time_now(uhd.types.TimeSpec(0.0))
streamer = usrp.get_tx_stream(uhd.usrp.StreamArgs("fc32", "sc16"))
tone = 0.5 * np.exp(2j * np.pi * 0.1 * np.arange(SAMPLES)).astype(np.complex64)

for number in range(options.bursts):
    if options.fault == "burst" and number == 1:
        continue
    metadata = uhd.types.TXMetadata()
    metadata.has_time_spec = True
    metadata.time_spec = uhd.types.TimeSpec(1.0 + number * PERIOD_S)
    if options.fault == "time" and number == 2:
        # Somebody computed it from a rate that was not exact.
        metadata.time_spec = uhd.types.TimeSpec(1.0 + number * PERIOD_S + 1e-6)
    metadata.start_of_burst = True
    metadata.end_of_burst = True
    streamer.send(tone.reshape(1, -1), metadata, 5.0)

# Until all have left: UHD acknowledges each burst.
message = uhd.types.TXAsyncMetadata()
acknowledged = 0
while acknowledged < options.bursts - (options.fault == "burst") and streamer.recv_async_msg(message, 5.0):
    acknowledged += message.event_code == uhd.types.TXMetadataEventCode.burst_ack
