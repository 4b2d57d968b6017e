"""Makes packages/saved-model/golden/queues.json.gz with TensorFlow: a SavedModel and a graph with queues, and what calls of them in order give.

Run: python tools/golden/queue_graphs.py
"""

import base64
import gzip
import json
import os
import pathlib
import tempfile

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')

import numpy as np
import tensorflow as tf

TARGET = pathlib.Path(__file__).parents[2] / 'packages' / 'saved-model' / 'golden' / 'queues.json.gz'
R = tf.raw_ops
v1 = tf.compat.v1


def stored(x):
    x = np.asarray(x)
    data = [s.decode() for s in x.reshape(-1)] if x.dtype == object else x.reshape(-1).tolist()
    return {'dtype': 'string' if x.dtype == object else x.dtype.name, 'shape': list(x.shape), 'data': data}


def queue():
    return R.FIFOQueueV2(component_types=[tf.float32, tf.int64], shapes=[[2], []], capacity=4, shared_name='waiting')


class Queues(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([None], tf.int64)])
    def push(self, x, n):
        q = queue()
        R.QueueEnqueueManyV2(handle=q, components=[x, n])
        return R.QueueSizeV2(handle=q)

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def pop(self, n):
        q = queue()
        x, i = R.QueueDequeueManyV2(handle=q, n=n, component_types=[tf.float32, tf.int64])
        return x, i, R.QueueIsClosedV2(handle=q)

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def rest(self, n):
        q = queue()
        R.QueueCloseV2(handle=q)
        x, i = R.QueueDequeueUpToV2(handle=q, n=n, component_types=[tf.float32, tf.int64])
        return x, i, R.QueueIsClosedV2(handle=q)

    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None, None])])
    def padded(self, x, y):
        q = R.PaddingFIFOQueueV2(component_types=[tf.float32], shapes=[[None]], shared_name='padding')
        R.QueueEnqueueV2(handle=q, components=[x])
        R.QueueEnqueueManyV2(handle=q, components=[y])
        return R.QueueDequeueManyV2(handle=q, n=1 + tf.shape(y)[0], component_types=[tf.float32])[0]

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def first(self, x):
        q = R.PriorityQueueV2(component_types=[tf.int64], shapes=[[]], shared_name='priority')
        for _ in tf.range(2):
            R.QueueEnqueueManyV2(handle=q, components=[x, x * 10])
        return R.QueueDequeueV2(handle=q, component_types=[tf.int64, tf.int64])

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def shuffled(self, x):
        q = R.RandomShuffleQueueV2(component_types=[tf.float32], shapes=[[]], min_after_dequeue=0, seed=3, seed2=4)
        R.QueueEnqueueManyV2(handle=q, components=[x])
        return tf.sort(R.QueueDequeueManyV2(handle=q, n=tf.shape(x)[0], component_types=[tf.float32])[0])


calls = []
with tempfile.TemporaryDirectory() as folder:
    tf.saved_model.save(Queues(), folder)
    model = tf.saved_model.load(folder)
    for name, *args in [
        ('push', [[1, 2], [3, 4], [5, 6]], [7, 8, 9]), ('pop', 2), ('push', [[0, 1]], [5]), ('pop', 1), ('rest', 4), ('padded', [1.], [[2, 3, 4], [5, 6, 7]]),
        ('padded', [], [[1]]), ('first', [3, 1, 2]), ('first', [0]), ('shuffled', [3, 1, 2]),
    ]:
        specs = getattr(model, name).concrete_functions[0].structured_input_signature[0]
        args = [tf.constant(a, s.dtype) for a, s in zip(args, specs)]
        calls.append({'call': name, 'args': [stored(a) for a in args], 'result': [stored(t) for t in tf.nest.flatten(getattr(model, name)(*args))]})
    files = {str(p.relative_to(folder)): base64.b64encode(p.read_bytes()).decode() for p in sorted(pathlib.Path(folder).rglob('*')) if p.is_file()}

with tf.Graph().as_default() as graph, v1.Session() as session:
    x = v1.placeholder(tf.string, [], name='x')
    old = R.FIFOQueue(component_types=[tf.string], capacity=2, name='old')
    R.QueueEnqueue(handle=old, components=[x], name='put')
    R.QueueDequeue(handle=old, component_types=[tf.string], name='take')
    R.QueueSize(handle=old, name='size')
    R.QueueClose(handle=old, name='close')
    runs = []
    for fetch, fed in [('put', 'a'), ('put', 'b'), ('size:0', None), ('take:0', None), ('close', None), ('take:0', None), ('size:0', None)]:
        got = session.run(fetch, {} if fed is None else {x: fed})
        runs.append({'fetch': fetch, 'fed': fed, 'result': None if got is None else stored(np.array(got, object) if isinstance(got, bytes) else got)})
    errors = {}
    for fetch, fed in [('put', 'c'), ('take:0', None)]:
        try:
            session.run(fetch, {} if fed is None else {x: fed})
        except tf.errors.OpError as error:
            errors[fetch] = type(error).__name__

content = {'model': {'name': 'queues', 'files': files, 'cases': []}, 'calls': calls,
           'graph': base64.b64encode(graph.as_graph_def().SerializeToString()).decode(), 'runs': runs, 'errors': errors}
TARGET.write_bytes(gzip.compress(json.dumps({'tensorflow': tf.__version__, 'script': 'queue_graphs.py', **content}, separators=(',', ':')).encode(), mtime=0))
