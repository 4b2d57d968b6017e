"""Makes the golden files of @eagre/datasets: small files in the formats of Keras's data sets, and what Keras loads from them.

    python tools/golden/datasets.py

writes packages/datasets/golden: the files, and golden.json with the tools' versions, the seed, and the results of
load_data under several options.
"""

import json
import pathlib
import pickle
from unittest import mock

import keras
import numpy as np
from keras.src.datasets import california_housing, imdb, reuters

SEED = 20240601
OUT = pathlib.Path(__file__).parents[2] / 'packages' / 'datasets' / 'golden'
OUT.mkdir(exist_ok=True)
rng = np.random.default_rng(SEED)


def ragged(count, words, longest):
    out = np.empty(count, dtype=object)
    out[:] = [[int(w) for w in rng.integers(1, words, rng.integers(1, longest))] for _ in range(count)]
    return out


def save(name, protocol, **arrays):
    """np.savez, with pickles of another protocol than this version of NumPy chooses."""
    with mock.patch('pickle.dump', lambda obj, fp, **_: fp.write(pickle.dumps(obj, protocol=protocol))):
        np.savez(OUT / name, **arrays)


def load(module, name, **options):
    with mock.patch.object(module, 'get_file', lambda *a, **k: str(OUT / name)):
        (x, y), (x2, y2) = module.load_data(**options)
    plain = lambda rows: [row if isinstance(row, list) else row.tolist() for row in rows]
    return [plain(x), y.tolist(), plain(x2), y2.tolist()]


imdb_arrays = dict(
    x_train=ragged(12, 400, 9), y_train=rng.integers(0, 2, 12), x_test=ragged(9, 70_000, 7), y_test=rng.integers(0, 2, 9)
)
for protocol in (3, 4):
    save(f'imdb-{protocol}.npz', protocol, **imdb_arrays)
save('reuters.npz', 3, x=ragged(20, 300, 12), y=rng.integers(0, 46, 20))
np.savez(OUT / 'housing.npz', x=rng.normal(size=(25, 8)).astype('float32'), y=(rng.uniform(1, 5, 25) * 1e5).astype('float32'))

IMDB = [
    {}, {'num_words': 200}, {'num_words': 300, 'skip_top': 20}, {'maxlen': 5}, {'start_char': None},
    {'oov_char': None, 'num_words': 100}, {'index_from': 0, 'start_char': None}, {'seed': 7, 'start_char': 9, 'oov_char': 8, 'index_from': 10},
]
REUTERS = [{}, {'test_split': 0.35, 'num_words': 150}, {'maxlen': 8, 'test_split': 0}]
HOUSING = [{}, {'test_split': 0.5, 'seed': 3}, {'version': 'small'}]

sequences = [[1], [2, 3], [4, 5, 6], []]
PAD = [{}, {'maxlen': 2}, {'maxlen': 2, 'truncating': 'post'}, {'padding': 'post', 'value': -1}, {'maxlen': 5, 'padding': 'post'}]

golden = {
    'versions': {'keras': keras.__version__, 'numpy': np.__version__},
    'seed': SEED,
    'imdb': [[options, load(imdb, 'imdb-3.npz', **options)] for options in IMDB],
    'reuters': [[options, load(reuters, 'reuters.npz', **options)] for options in REUTERS],
    'housing': [[options, load(california_housing, 'housing.npz', **options)] for options in HOUSING],
    'pad': [[options, keras.utils.pad_sequences(sequences, **options).tolist()] for options in PAD],
    'shuffled': [
        [count, seed, np.random.RandomState(seed).permutation(count).tolist()]
        for count, seed in [(1, 0), (2, 113), (37, 113), (700, 4294967295)]
    ],
    'labels': list(reuters.get_label_names()),
}
(OUT / 'golden.json').write_text(json.dumps(golden) + '\n')
