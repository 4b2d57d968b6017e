"""Makes the golden files of @eagre/formats with the real NumPy, PyTorch and safetensors.

    python tools/golden/formats.py

writes packages/formats/golden: the files, and golden.json with the tools' versions, the seed and what a reader
must find in each file.
"""

import json
import pathlib
import zipfile
from unittest import mock

import numpy as np
import safetensors
import safetensors.numpy
import safetensors.torch
import torch

SEED = 20240501
OUT = pathlib.Path(__file__).parents[2] / 'packages' / 'formats' / 'golden'
rng = np.random.default_rng(SEED)
expected = {}

# The dtype that Eagre reads each dtype as; all without loss.
READ_AS = {
    'bool': 'bool', 'uint8': 'uint8', 'int8': 'int8', 'int16': 'int16', 'uint16': 'uint16', 'uint32': 'uint32', 'uint64': 'uint64', 'int32': 'int32',
    'int64': 'int64', 'float16': 'float16', 'bfloat16': 'bfloat16', 'float32': 'float32', 'float64': 'float64',
    'complex64': 'complex64', 'complex128': 'complex128',
}


def dtype_name(array):
    return str(array.dtype).removeprefix('torch.') if isinstance(array, torch.Tensor) else array.dtype.name


def describe(array):
    """Shape, dtype and values as JSON that loses nothing: 64-bit integers and non-finite numbers are text, complex numbers two."""
    name = dtype_name(array)
    if isinstance(array, torch.Tensor):
        array = array.to(torch.float32).numpy() if name == 'bfloat16' else array.numpy()
    shape = array.shape
    if array.dtype.kind == 'c':
        array = array.view(array.real.dtype)
    values = [str(v) if name == 'int64' or isinstance(v, float) and not np.isfinite(v) else v for v in array.ravel().tolist()]
    return {'dtype': READ_AS[name], 'shape': list(shape), 'values': values}


def npy(name, array, version=None):
    with open(OUT / name, 'wb') as file:
        np.lib.format.write_array(file, array, version=version)
    unsupported = dtype_name(array) not in READ_AS
    expected[name] = {'format': 'npy', **({'unsupported': True} if unsupported else {'array': describe(array)})}


def npz(name, write, arrays):
    write(OUT / name, **arrays)
    expected[name] = {'format': 'npz', 'arrays': {key: describe(value) for key, value in arrays.items()}}


def tensors(name, save, arrays, metadata=None):
    save(arrays, OUT / name, metadata=metadata)
    unsupported = [key for key, value in arrays.items() if dtype_name(value) not in READ_AS]
    expected[name] = {
        'format': 'safetensors',
        'metadata': metadata or {},
        'unsupported': unsupported,
        'arrays': {key: describe(value) for key, value in arrays.items() if key not in unsupported},
    }


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    normal = rng.standard_normal((2, 3))
    edges = np.array([0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan, 6e-8, 6.0e-5, 65504.0])

    npy('f4.npy', normal.astype('<f4'))
    npy('f8-big-endian.npy', normal.astype('>f8'))
    npy('f2.npy', edges.astype('<f2'))
    npy('f4-scalar.npy', np.array(2.5, '<f4'))
    npy('f4-empty.npy', np.zeros((0, 3), '<f4'))
    npy('f4-fortran.npy', np.asfortranarray(rng.standard_normal((2, 3, 4)).astype('<f4')))
    npy('i8.npy', np.array([-(2**63), -1, 0, 2**63 - 1], '<i8'))
    npy('i4-big-endian-fortran.npy', np.asfortranarray(np.arange(6, dtype='>i4').reshape(2, 3)))
    npy('i2-version-2.npy', np.array([-32768, 32767], '<i2'), (2, 0))
    npy('u2-version-3.npy', np.array([[0], [65535]], '<u2'), (3, 0))
    npy('i1.npy', np.array([-128, 127], 'i1'))
    npy('u1.npy', rng.integers(0, 256, (2, 2, 2, 2), 'u1'))
    npy('bool.npy', np.array([[True, False, True]]))
    npy('u4.npy', np.array([2**32 - 1], '<u4'))
    npy('c8.npy', np.array([1 + 2j], '<c8'))
    npy('text.npy', np.array(['a', 'bc']))
    npy('structured.npy', np.array([(1, 2.0)], dtype=[('a', '<i4'), ('ü', '<f8')]), (3, 0))
    npy('pickled.npy', np.array([{'never': 'run'}], dtype=object))

    arrays = {
        'x_train': rng.integers(0, 256, (4, 3, 3), 'u1'),
        'y_train': np.array([3, 1, 4, 1], 'u1'),
        'kernel:0': np.asfortranarray(rng.standard_normal((3, 2)).astype('f4')),
        'scalar': np.array(-7, 'i8'),
    }
    npz('stored.npz', np.savez, arrays)
    npz('deflated.npz', np.savez_compressed, arrays)
    npz('empty.npz', np.savez, {})
    # The records that files beyond 4 GiB have.
    with mock.patch.multiple(zipfile, ZIP64_LIMIT=0, ZIP_FILECOUNT_LIMIT=0):
        npz('zip64.npz', np.savez_compressed, arrays)

    mixed = {
        'z/kernel': rng.standard_normal((2, 3)).astype('f4'),
        'a': np.array([True, False, True]),
        'b/ü "quoted"\n': np.array(9, 'i8'),
        '10': rng.standard_normal(3),
        '9': np.arange(4, dtype='i4').reshape(2, 2),
        'c': np.arange(5, dtype='u1'),
        'a0': np.zeros((0, 4), 'f4'),
        '\U0001d538': np.ones(1, 'f4'),
        '\uffee': np.ones(1, 'f4'),
    }
    tensors('mixed.safetensors', safetensors.numpy.save_file, mixed, {'format': 'np'})
    tensors('plain.safetensors', safetensors.numpy.save_file, {'w': normal.astype('f4')})
    tensors('empty.safetensors', safetensors.numpy.save_file, {})
    torched = {
        'half': torch.tensor(edges).to(torch.float16),
        'brain': torch.tensor(edges).to(torch.bfloat16),
        'i1': torch.tensor([-128, 127], dtype=torch.int8),
        'i2': torch.tensor([-32768, 32767], dtype=torch.int16),
        'u2': torch.tensor([0, 65535], dtype=torch.uint16),
        'u4': torch.tensor([1], dtype=torch.uint32),
        'f1': torch.tensor([1.0]).to(torch.float8_e4m3fn),
    }
    tensors('torch.safetensors', safetensors.torch.save_file, torched, {'format': 'pt'})

    versions = {'numpy': np.__version__, 'torch': torch.__version__, 'safetensors': safetensors.__version__}
    files = ',\n'.join(f'{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}' for name, value in expected.items())
    (OUT / 'golden.json').write_text(f'{{"versions": {json.dumps(versions)}, "seed": {SEED}, "files": {{\n{files}\n}}}}\n')
    for file in OUT.iterdir():
        file.chmod(0o644)
    print(versions)


if __name__ == '__main__':
    main()
