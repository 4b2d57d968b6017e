"""What `saved-model.mjs load` measures, with TensorFlow, of the same model: saved-model.py (Node is `node`, or what EAGRE_BENCH_NODE names)."""

import json
import os
import subprocess
import tempfile
import time

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')

import tensorflow as tf

WIDTH = 2896
here = os.path.dirname(os.path.abspath(__file__))
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'model')
    node = os.environ.get('EAGRE_BENCH_NODE', 'node')
    subprocess.run([node, os.path.join(here, 'saved-model.mjs'), 'save', path], check=True)
    x = tf.ones([1, WIDTH])
    start = time.perf_counter()
    model = tf.saved_model.load(path)
    model.signatures['serving_default'](x)['output_0'].numpy()
    print(json.dumps({'value': time.perf_counter() - start}))
