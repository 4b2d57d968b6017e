"""Writes packages/cli/golden/kinds.h5: a data set of each kind that `eagre inspect` may meet.

    pip install h5py==3.14.0 numpy==2.4.6 && python tools/golden/hdf5_kinds.py
"""

import pathlib

import h5py
import numpy as np

OUT = pathlib.Path(__file__).parents[2] / 'packages/cli/golden/kinds.h5'

with h5py.File(OUT, 'w', track_order=False) as f:
    f['text'] = 'hello'
    f['bytes'] = np.array([b'ab', b'cd'])
    f['group/int64'] = np.arange(10)
    f['big_endian'] = np.ones(3, '>f4')
    f['flags'] = np.array([True, False])
    f['fields'] = np.zeros(2, dtype=[('a', 'f4'), ('b', 'i4')])
    f['half'] = np.ones((2, 2), 'f2')
