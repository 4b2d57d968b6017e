"""What the programs for layers share: names and values as they stand in golden files."""

import numpy as np


def camel(name):
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def tensor(array):
    """Shape and flat values, with as many digits as tell one float32 from another."""
    array = np.asarray(array)
    return {"shape": list(array.shape), "values": [float(str(v)) for v in array.ravel()]}


def numbers(rng, shape, spread=1.0):
    """Few digits make a small file."""
    return np.round(rng.normal(scale=spread, size=shape), 2).astype("float32")
