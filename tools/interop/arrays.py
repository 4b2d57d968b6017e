"""Checks that the real NumPy and safetensors open what Eagre writes, and find the values of the golden files.

    pnpm build
    python tools/interop/arrays.py
"""

import json
import pathlib
import subprocess
import tempfile
import zipfile

# NumPy knows bfloat16 by it.
import ml_dtypes  # noqa: F401
import numpy as np
from safetensors import safe_open

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parents[1] / 'packages' / 'formats' / 'golden'


def check(where, array, expected):
    values = [int(v) if isinstance(v, str) and expected['dtype'] == 'int64' else v for v in expected['values']]
    if expected['dtype'] == 'bfloat16':
        values = [float(v) for v in values]
    if expected['dtype'].startswith('complex'):
        values = [complex(*values[i:i + 2]) for i in range(0, len(values), 2)]
    wanted = np.array(values, dtype=expected['dtype']).reshape(expected['shape'])
    assert array.dtype == wanted.dtype and array.shape == wanted.shape, (where, array.dtype, array.shape)
    if expected['dtype'] == 'bfloat16':
        # NumPy does not find its NaNs alike.
        array, wanted = array.astype(np.float32), wanted.astype(np.float32)
    # Bit for bit but for the payload of NaNs.
    np.testing.assert_array_equal(array, wanted, err_msg=where)
    if array.dtype.kind == 'f':
        np.testing.assert_array_equal(np.signbit(array), np.signbit(wanted), err_msg=where)


def main():
    files = json.loads((GOLDEN / 'golden.json').read_text())['files']
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(['node', HERE / 'arrays.mjs', folder], check=True)
        for path in sorted(pathlib.Path(folder).iterdir()):
            expected = files[path.name]
            if path.suffix == '.npy':
                check(path.name, np.load(path, allow_pickle=False), expected['array'])
            elif path.suffix == '.npz':
                with zipfile.ZipFile(path) as archive:
                    assert archive.testzip() is None
                with np.load(path, allow_pickle=False) as archive:
                    assert sorted(archive.files) == sorted(expected['arrays'])
                    for key in archive.files:
                        check(f'{path.name}/{key}', archive[key], expected['arrays'][key])
            else:
                with safe_open(path, framework='numpy') as tensors:
                    assert (tensors.metadata() or {}) == expected['metadata']
                    assert sorted(tensors.keys()) == sorted(expected['arrays'])
                    for key in tensors.keys():
                        check(f'{path.name}/{key}', tensors.get_tensor(key), expected['arrays'][key])
            count += 1
    print(f'{count} files agree')


if __name__ == '__main__':
    main()
