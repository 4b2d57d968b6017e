"""Graphs of TensorFlow.js in the form that its converter writes, and what TensorFlow.js computes with them:

    EAGRE_TFJS=/tmp/tfjs python tools/golden/tfjs_graphs.py

Needs TensorFlow 2.21, Node, and a folder in which `npm install @tensorflow/tfjs@4.22.0` has run. A golden file of @eagre/saved-model.
"""

import base64
import gzip
import json
import os
import pathlib
import struct
import subprocess

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')

import numpy as np
import tensorflow as tf
from google.protobuf.json_format import MessageToDict
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

SEED = 11
HERE = pathlib.Path(__file__).parent
TARGET = HERE.parents[1] / 'packages' / 'saved-model' / 'golden' / 'tfjs-graphs.json.gz'
random = np.random.default_rng(SEED)
v1 = tf.compat.v1
MODELS = []
# The converter narrows these.
NARROW = {'int64': 'int32', 'uint8': 'int32', 'int8': 'int32', 'int16': 'int32', 'float64': 'float32', 'float16': 'float32'}


def noise(*shape):
    return np.round(random.standard_normal(shape), 2).astype(np.float32)


def stored(x):
    array = np.asarray(x)
    if array.dtype == object or array.dtype.kind in 'SU':
        return {'dtype': 'string', 'shape': list(array.shape), 'data': [s.decode() if isinstance(s, bytes) else s for s in array.reshape(-1).tolist()]}
    return {'dtype': array.dtype.name, 'shape': list(array.shape), 'data': array.reshape(-1).tolist()}


def packed(array, how):
    """The bytes of an array and what the list says of it."""
    if array.dtype == object or array.dtype.kind in 'SU':
        return b''.join(struct.pack('<I', len(s)) + s for s in array.reshape(-1).tolist()), {'dtype': 'string'}
    array = array.astype(NARROW.get(array.dtype.name, array.dtype.name))
    spec = {'dtype': array.dtype.name}
    if how is None or array.dtype.name not in ('float32', 'int32') or array.size == 0:
        return array.tobytes(), spec
    if how == 'float16':
        if array.dtype.name != 'float32':
            return array.tobytes(), spec
        return array.astype(np.float16).tobytes(), {**spec, 'quantization': {'dtype': how, 'original_dtype': 'float32'}}
    low, high = float(array.min()), float(array.max())
    scale = (high - low) / (255 if how == 'uint8' else 65535) or 1.0
    bits = np.round((array - low) / scale).astype(how)
    return bits.tobytes(), {**spec, 'quantization': {'dtype': how, 'scale': scale, 'min': low, 'original_dtype': array.dtype.name}}


def take_constants(nodes, weights):
    for node in nodes:
        if node.op != 'Const':
            continue
        weights[node.name] = tf.make_ndarray(node.attr['value'].tensor)
        tensor = node.attr['value'].tensor
        for field in ['tensor_content', 'half_val', 'float_val', 'double_val', 'int_val', 'string_val', 'scomplex_val', 'int64_val', 'bool_val']:
            tensor.ClearField(field)


def rename_constants(function):
    """Names of constants are those of one list."""
    prefix = function.signature.name
    names = {node.name for node in function.node_def if node.op == 'Const'}
    for node in function.node_def:
        for i, entry in enumerate(node.input):
            name, _, rest = entry.partition(':')
            if name in names:
                node.input[i] = f'{prefix}/{name}' + (f':{rest}' if rest else '')
        if node.name in names:
            node.name = f'{prefix}/{node.name}'
    for key, entry in function.ret.items():
        name, _, rest = entry.partition(':')
        if name in names:
            function.ret[key] = f'{prefix}/{name}:{rest}'


def info(name, dtype, shape=None, **more):
    entry = {'name': name, 'dtype': dtype, **more}
    if shape is not None:
        entry['tensorShape'] = {'dim': [{'size': str(-1 if s is None else s)} for s in shape]}
    return entry


def keep(name, graph, inputs, signature=None, how=None, initializer=None, groups=1, shard=None, again=True, **more):
    """Writes a model's files: the constants in as many groups, of files of at most so many bytes."""
    weights = {}
    take_constants(graph.node, weights)
    for function in graph.library.function:
        rename_constants(function)
        take_constants(function.node_def, weights)
    if initializer is not None:
        take_constants(initializer.node, weights)
        more['modelInitializer'] = MessageToDict(initializer)
    files, manifest = {}, []
    entries = list(weights.items())
    each = -(-len(entries) // groups) or 1
    for g in range(groups):
        data, specs = b'', []
        for key, array in entries[g * each:(g + 1) * each]:
            bits, spec = packed(array, how)
            data += bits
            specs.append({'name': key, 'shape': list(array.shape), **spec})
        size = shard or max(1, len(data))
        parts = [data[i:i + size] for i in range(0, len(data), size)] or [b'']
        paths = [f'group{g + 1}-shard{i + 1}of{len(parts)}.bin' for i in range(len(parts))]
        files |= {path: base64.b64encode(part).decode() for path, part in zip(paths, parts)}
        manifest.append({'paths': paths, 'weights': specs})
    topology = MessageToDict(graph)
    topology.setdefault('versions', {})
    model = {'format': 'graph-model', 'generatedBy': tf.__version__, 'convertedBy': None, 'modelTopology': topology, 'weightsManifest': manifest, **more}
    if signature is not None:
        model['signature'] = signature
    model = {key: value for key, value in model.items() if value is not ...}
    files['model.json'] = base64.b64encode(json.dumps(model).encode()).decode()
    MODELS.append({'name': name, 'files': files, 'inputs': {key: stored(x) for key, x in inputs.items()}, 'again': again})


def frozen(function, *specs, lower=False):
    concrete = tf.function(function).get_concrete_function(*specs)
    graph = convert_variables_to_constants_v2(concrete, lower_control_flow=lower)
    short = lambda t: t.name
    dtype = lambda t: 'DT_' + {'float32': 'FLOAT', 'bool': 'BOOL', 'int32': 'INT32', 'int64': 'INT64', 'string': 'STRING'}[t.dtype.name]
    entry = lambda t: info(short(t), dtype(t), None if t.shape.rank is None else list(t.shape))
    signature = {
        'inputs': {t.name.split(':')[0]: entry(t) for t in graph.inputs},
        'outputs': {t.name.split(':')[0]: entry(t) for t in graph.outputs},
    }
    definition = graph.graph.as_graph_def()
    for node in definition.node:
        for key in [k for k in node.attr if k.startswith('_')]:
            del node.attr[key]
    return definition, signature


Spec = tf.TensorSpec
kernel, bias, last = tf.Variable(noise(3, 4)), tf.Variable(noise(4)), tf.Variable(noise(4, 2))


def dense(x):
    return {'scores': tf.nn.softmax(tf.nn.relu(x @ kernel + bias) @ last), 'hidden': x @ kernel}


x3 = noise(2, 3)
graph, signature = frozen(dense, Spec([None, 3], name='x'))
for how in [None, 'uint8', 'uint16', 'float16']:
    definition = type(graph)()
    definition.CopyFrom(graph)
    keep(f'dense-{how}', definition, {'x': x3}, signature, how, groups=2 if how is None else 1, shard=40 if how is None else None)
definition = type(graph)()
definition.CopyFrom(graph)
keep('structured', definition, {'x': x3}, signature, userDefinedMetadata={'structuredOutputKeys': ['hidden', 'scores']})
definition = type(graph)()
definition.CopyFrom(graph)
keep('metadata', definition, {'x': x3}, userDefinedMetadata={'signature': signature})
definition = type(graph)()
definition.CopyFrom(graph)
keep('bare', definition, {'x': x3}, format=...)


# ---- ops that the converter joins

class Nodes:
    """A graph written node by node."""

    def __init__(self):
        self.graph = v1.GraphDef()

    def constant(self, name, value):
        node = self.graph.node.add(name=name, op='Const')
        tensor = tf.make_tensor_proto(value)
        node.attr['dtype'].type = tensor.dtype
        node.attr['value'].tensor.CopyFrom(tensor)
        return name

    def placeholder(self, name, dtype, shape=None):
        node = self.graph.node.add(name=name, op='Placeholder')
        node.attr['dtype'].type = dtype
        if shape is not None:
            node.attr['shape'].shape.CopyFrom(tf.TensorShape(shape).as_proto())
        return name

    def add(self, name, op, inputs, **attrs):
        node = self.graph.node.add(name=name, op=op, input=inputs)
        for key, value in attrs.items():
            if isinstance(value, tf.DType):
                node.attr[key].type = value.as_datatype_enum
            elif isinstance(value, bool):
                node.attr[key].b = value
            elif isinstance(value, str):
                node.attr[key].s = value.encode()
            elif isinstance(value, int):
                node.attr[key].i = value
            elif isinstance(value, float):
                node.attr[key].f = value
            elif value and isinstance(value[0], str):
                node.attr[key].list.s.extend(v.encode() for v in value)
            else:
                node.attr[key].list.i.extend(value)
        return name


nodes = Nodes()
image = nodes.placeholder('image', 1, [None, 5, 5, 2])
conv, depth, small, slope = (nodes.constant(n, noise(*s)) for n, s in [('filter', (3, 3, 2, 3)), ('depth', (2, 2, 2, 2)), ('bias', (3,)), ('slope', (3,))])
wide, slopes4 = nodes.constant('bias4', noise(4)), nodes.constant('slope4', noise(4))
windows = dict(T=tf.float32, strides=[1, 1, 1, 1], padding='SAME', data_format='NHWC', dilations=[1, 1, 1, 1])
names = []
for activation in ['', 'Relu', 'Relu6', 'Elu', 'LeakyRelu', 'Prelu', 'Sigmoid']:
    ops = ['BiasAdd'] + ([activation] if activation else [])
    more = [slope] if activation == 'Prelu' else []
    names.append(nodes.add(f'conv{activation}', '_FusedConv2D', [image, conv, small, *more], num_args=1 + len(more), fused_ops=ops, leakyrelu_alpha=0.3, epsilon=0.0, **windows))
for activation in ['Relu6', 'Prelu']:
    more = [slopes4] if activation == 'Prelu' else []
    names.append(nodes.add(f'depth{activation}', 'FusedDepthwiseConv2dNative', [image, depth, wide, *more], num_args=1 + len(more), fused_ops=['BiasAdd', activation],
                           **{**windows, 'strides': [1, 2, 2, 1], 'padding': 'VALID'}))
names.append(nodes.add('prelu', 'Prelu', [names[0], slope], T=tf.float32))
shape = nodes.constant('shape', np.array([-1, 3], np.int32))
rows = nodes.add('rows', 'Reshape', [names[0], shape], T=tf.float32, Tshape=tf.int32)
product = nodes.constant('factors', noise(4, 3))
for activation in ['', 'Relu', 'Elu', 'LeakyRelu', 'Prelu', 'Sigmoid']:
    ops = ['BiasAdd'] + ([activation] if activation else [])
    more = [slopes4] if activation == 'Prelu' else []
    names.append(nodes.add(f'product{activation}', '_FusedMatMul', [rows, product, wide, *more], T=tf.float32, transpose_a=False, transpose_b=True, num_args=1 + len(more),
                           fused_ops=ops, leakyrelu_alpha=0.3, epsilon=0.0))
keep('joined', nodes.graph, {'image': noise(1, 5, 5, 2)}, {'inputs': {'image': info('image:0', 'DT_FLOAT', [None, 5, 5, 2])}, 'outputs': {n: info(f'{n}:0', 'DT_FLOAT') for n in names}})


# ---- branches, loops, lists

def branches(x):
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0 + bias[:3], lambda: x - 1.0)
    i, z = tf.while_loop(lambda i, z: tf.logical_and(i < 5, tf.reduce_sum(z) < 50.0), lambda i, z: (i + 1, z * 1.5 + tf.cast(i, tf.float32)), [tf.constant(0), y])
    return {'z': z, 'i': i}


def lists(x):
    return tf.map_fn(lambda row: tf.reduce_sum(row * row) + 1.0, x, fn_output_signature=tf.float32)


for lower in [True, False]:
    kind = 'lowered' if lower else 'functions'
    definition, signature = frozen(branches, Spec([None, 3], name='x'), lower=lower)
    for sign, x in [('up', np.abs(x3)), ('down', -np.abs(x3))]:
        copy = type(definition)()
        copy.CopyFrom(definition)
        keep(f'branches-{kind}-{sign}', copy, {'x': x}, signature, again=False)

# TensorFlow.js frees a list too soon where it is an argument of a function.
definition, signature = frozen(lists, Spec([None, 3], name='x'), lower=True)
keep('lists-lowered', definition, {'x': noise(4, 3)}, signature, again=False)


# ---- boxes, long integers, complex numbers

def boxes(boxes, scores):
    with_scores = tf.raw_ops.NonMaxSuppressionV5(boxes=boxes, scores=scores, max_output_size=3, iou_threshold=0.5, score_threshold=0.1, soft_nms_sigma=0.0)
    padded = tf.raw_ops.NonMaxSuppressionV4(boxes=boxes, scores=scores, max_output_size=4, iou_threshold=0.5, score_threshold=0.1, pad_to_max_output_size=True)
    return {'v3': tf.raw_ops.NonMaxSuppressionV3(boxes=boxes, scores=scores, max_output_size=3, iou_threshold=0.5, score_threshold=0.1),
            'v4': padded.selected_indices, 'count': padded.valid_outputs, 'v5': with_scores.selected_indices, 'scores5': with_scores.selected_scores}


corners = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3], [0, 2.1, 1, 3.1], [5, 5, 6, 6]], np.float32)
definition, signature = frozen(boxes, Spec([5, 4], name='boxes'), Spec([5], name='scores'))
keep('boxes', definition, {'boxes': corners, 'scores': np.array([0.9, 0.8, 0.7, 0.75, 0.05], np.float32)}, signature)


def integers(x, n):
    places = tf.constant([2, 0, 1], tf.int64)
    return {'rows': tf.gather(x, places, axis=tf.constant(1, tf.int64)), 'sums': n + tf.constant([10, 20], tf.int64), 'best': tf.argmax(x, 1, output_type=tf.int32)}


definition, signature = frozen(integers, Spec([None, 3], name='x'), Spec([2], tf.int64, name='n'))
keep('integers', definition, {'x': x3, 'n': np.array([1, -2])}, signature)


def numbers(x):
    turned = tf.complex(x, x * 0.5) * tf.constant([1 + 2j, 3 - 1j, 0.5j], tf.complex64)
    return {'real': tf.math.real(turned), 'imaginary': tf.math.imag(turned)}


# Without broadcasting: TensorFlow.js has zeros in the second row otherwise.
definition, signature = frozen(numbers, Spec([3], name='x'))
keep('numbers', definition, {'x': x3[0]}, signature)


# ---- tables, which an initializer fills

def tables(captured):
    main, start = Nodes(), Nodes()
    attrs = dict(key_dtype=tf.string, value_dtype=tf.int64, shared_name='words', container='', use_node_name_sharing=False)
    keys = start.constant('keys', np.array([b'cat', b'', 'hörse'.encode()]))
    values = start.constant('values', np.array([7, 8, 9], np.int64))
    table = start.add('table', 'HashTableV2', [], **attrs)
    start.add('fill', 'LookupTableImportV2', [table, keys, values], Tin=tf.string, Tout=tf.int64)
    words = main.placeholder('words', 7, [None])
    missing = main.constant('missing', np.array(-1, np.int64))
    own = main.placeholder('captured', 20, []) if captured else main.add('table', 'HashTableV2', [], **attrs)
    main.add('found', 'LookupTableFindV2', [own, words, missing], Tin=tf.string, Tout=tf.int64)
    signature = {'inputs': {'words': info('words:0', 'DT_STRING', [None])}, 'outputs': {'found': info('found:0', 'DT_INT64', [None])}}
    more = {}
    if captured:
        signature['inputs']['captured'] = info('captured:0', 'DT_RESOURCE', [], resourceId=5)
        more['initializerSignature'] = {'outputs': {'table': info('table:0', 'DT_RESOURCE', [], resourceId=5)}}
    keep(f'table-{captured}', main.graph, {'words': np.array([b'cat', b'dog', 'hörse'.encode()])}, signature, initializer=start.graph, again=False, **more)


tables(False)
tables(True)


# ---- branches of other sizes

def sizes(x):
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: x[:, :2], lambda: tf.concat([x, x], 1))
    return {'y': y * 2.0, 'shape': tf.shape(y)}


for lower in [True, False]:
    kind = 'lowered' if lower else 'functions'
    definition, signature = frozen(sizes, Spec([None, 3], name='x'), lower=lower)
    for sign, x in [('up', np.abs(x3)), ('down', -np.abs(x3))]:
        copy = type(definition)()
        copy.CopyFrom(definition)
        keep(f'sizes-{kind}-{sign}', copy, {'x': x}, signature)

done = subprocess.run(['node', HERE / 'tfjs-run.mjs'], input=json.dumps(MODELS), capture_output=True, text=True)
if done.returncode != 0:
    raise SystemExit(done.stderr)
found = json.loads(done.stdout)
for model, result in zip(MODELS, found['results']):
    model['result'] = result
# TensorFlow.js 4.22 does not fill a table that is captured, and finds nothing.
by_name = {model['name']: model for model in MODELS}
by_name['table-True']['result'] = by_name['table-False']['result']
text = json.dumps({'versions': {'tensorflow': tf.__version__, 'tfjs': found['version']}, 'seed': SEED, 'models': MODELS})
TARGET.write_bytes(gzip.compress(text.encode(), mtime=0))
print(len(MODELS), 'models,', TARGET.stat().st_size, 'bytes')
