"""Receives with UHD's Python API, knowing nothing of takt: ADDRESS SAMPLES RATE FREQUENCY -> a file of complex64."""

import sys

import numpy as np
import uhd

args, samples, rate, frequency, path = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]), sys.argv[5]
usrp = uhd.usrp.MultiUSRP(args)
received = usrp.recv_num_samps(samples, frequency, rate, [0], 10)
np.save(path, received[0])
