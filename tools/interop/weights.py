"""Checks that the real safetensors reads the weights that a model saves.

    pnpm build
    python tools/interop/weights.py
"""

import json
import pathlib
import subprocess
import tempfile

import numpy as np
from safetensors.numpy import load_file

HERE = pathlib.Path(__file__).parent


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/weights.safetensors"
        written = subprocess.run(
            ["node", HERE / "weights.mjs", path], check=True, capture_output=True, text=True
        ).stdout
        found = load_file(path)
    expected = json.loads(written)
    assert sorted(found) == sorted(expected), (sorted(found), sorted(expected))
    for name, array in expected.items():
        wanted = np.array(array["values"], dtype=array["dtype"]).reshape(array["shape"])
        assert found[name].dtype == wanted.dtype, (name, found[name].dtype)
        np.testing.assert_array_equal(found[name], wanted, err_msg=name)
    print(f"{len(expected)} weights agree: {', '.join(sorted(expected))}")


if __name__ == "__main__":
    main()
