"""Checks that the real TensorFlow parses the graphs that Eagre writes, and runs those of its own ops to the same results.

    pnpm build
    python tools/interop/graphs.py
"""

import base64
import json
import pathlib
import re
import subprocess
import sys

import numpy as np
import tensorflow as tf

HERE = pathlib.Path(__file__).parent


def array(value):
    dtype = np.dtype(value['dtype'])
    if dtype.kind == 'c':
        parts = np.float32 if dtype == np.complex64 else np.float64
        return np.array(value['values'], dtype=parts).view(dtype).reshape(value['shape'])
    return np.array(value['values'], dtype=dtype).reshape(value['shape'])


def parse(program):
    return tf.compat.v1.GraphDef.FromString(base64.b64decode(program['graph']))


def check_names(name, graph):
    names = [node.name for node in graph.node]
    assert len(set(names)) == len(names), name
    for node in graph.node:
        assert re.fullmatch(r'[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*', node.name), (name, node.name)
        for i in node.input:
            assert re.sub(r':\d+$', '', i.lstrip('^')) in names, (name, node.name, i)


def assign(session, graph, variables):
    for name, value in variables.items():
        handle = graph.get_tensor_by_name(f'{name}:0')
        session.run(tf.raw_ops.AssignVariableOp(resource=handle, value=array(value)))


def check_model(name, program):
    """Names, handles and scopes of a training step."""
    graph = parse(program)
    check_names(name, graph)
    nodes = {node.name: node for node in graph.node}
    ops = {node.op for node in graph.node}
    assert {'Placeholder', 'Const', 'VarHandleOp', 'ReadVariableOp', 'AssignVariableOp', 'Identity'} <= ops, ops
    x = nodes['args_0']
    assert x.attr['dtype'].type == tf.float32.as_datatype_enum
    shape = [d.size for d in x.attr['shape'].shape.dim]
    assert shape == program['args'][0]['shape'], shape
    assert [d.size for d in x.attr['_output_shapes'].list.shape[0].dim] == shape
    handles = {node.name: node for node in graph.node if node.op == 'VarHandleOp'}
    assert {'dense/kernel' in n or 'kernel' in n for n in handles} >= {True}
    for node in graph.node:
        if node.op == 'ReadVariableOp':
            assert node.input[0] in handles and node.attr['dtype'].type == handles[node.input[0]].attr['dtype'].type
    assigned = {node.input[0] for node in graph.node if node.op == 'AssignVariableOp'}
    assert assigned == set(program['after']), (assigned, set(program['after']))
    scopes = {n.split('/')[0] for n in nodes}
    assert {name, 'gradient_tape', 'adam', 'sparse_categorical_crossentropy'} <= scopes, scopes
    result = nodes['Identity']
    assert {f'^{n.name}' for n in graph.node if n.op == 'AssignVariableOp'} <= set(result.input)
    return len(graph.node)


def check_program(name, program):
    """import_graph_def, and a session that runs it."""
    graph_def = parse(program)
    check_names(name, graph_def)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name='')
        with tf.compat.v1.Session() as session:
            assign(session, graph, program['variables'])
            # Results are the last nodes.
            fetch = [f'{node.name}:0' for node in graph_def.node[-len(program['results']):]]
            for call in [program, *program['others']]:
                feed = {f'args_{i}:0': array(a) for i, a in enumerate(call['args'])}
                results = session.run(fetch, feed)
                for i, (got, wanted) in enumerate(zip(results, call['results'])):
                    wanted = array(wanted)
                    assert got.dtype == wanted.dtype and got.shape == wanted.shape, (name, i, got.dtype, got.shape)
                    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=1e-6, err_msg=f'{name} {i}')
            for variable, value in program['after'].items():
                handle = graph.get_tensor_by_name(f'{variable}:0')
                got = session.run(tf.raw_ops.ReadVariableOp(resource=handle, dtype=value['dtype']))
                np.testing.assert_allclose(got, array(value), err_msg=f'{name} {variable}')
    return len(results)


def check_training(name, program):
    """20 steps in a session, which keeps the variables from run to run, have the losses that they have in Eagre."""
    graph_def = parse(program)
    check_names(name, graph_def)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name='')
        with tf.compat.v1.Session() as session:
            assign(session, graph, program['variables'])
            # What random draws begin with.
            session.run([op for op in graph.get_operations() if op.name.endswith('/Initialize')])
            feed = {'args_0:0': array(program['args'][0])}
            losses = [session.run(f'{graph_def.node[-1].name}:0', feed) for _ in program['losses']]
            np.testing.assert_allclose(losses, program['losses'], rtol=1e-4, atol=1e-6, err_msg=name)
            for variable, value in program['after'].items():
                handle = graph.get_tensor_by_name(f'{variable}:0')
                got = session.run(tf.raw_ops.ReadVariableOp(resource=handle, dtype=value['dtype']))
                np.testing.assert_allclose(got, array(value), rtol=1e-3, atol=1e-5, err_msg=f'{name} {variable}')
    return len(losses)


def check_draws(name, program):
    """Random numbers of several runs in a session are Eagre's: integers to the last bit, floats but for what rounds otherwise."""
    graph_def = parse(program)
    check_names(name, graph_def)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name='')
        with tf.compat.v1.Session() as session:
            assign(session, graph, program['variables'])
            # What the draws begin with.
            session.run([op for op in graph.get_operations() if op.name.endswith('/Initialize')])
            results = [node.name for node in graph_def.node if re.fullmatch(r'Identity(_\d+)?', node.name)]
            fetch = [f'{r}:0' for r in results[-len(program['calls'][0]):]]
            feed = {f'args_{i}:0': array(a) for i, a in enumerate(program['args'])}
            for call in program['calls']:
                for i, (got, wanted) in enumerate(zip(session.run(fetch, feed), call)):
                    wanted = array(wanted)
                    assert got.dtype == wanted.dtype, (name, i, got.dtype)
                    # TensorFlow's logarithms round otherwise now and then; tests with golden files hold uniform draws to the bit.
                    if got.dtype.kind == 'f' and got.size > 0:
                        np.testing.assert_array_max_ulp(got, wanted, 4)
                    else:
                        np.testing.assert_array_equal(got, wanted, err_msg=f'{name} {i}')
    return sum(array(r).size for call in program['calls'] for r in call)


def main():
    command = sys.argv[1:] or ['node', HERE / 'graphs.mjs']
    written = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    nodes = sum(check_model(name, program) for name, program in written['models'].items())
    results = sum(check_program(name, program) for name, program in written['programs'].items())
    steps = sum(check_training(name, program) for name, program in written['trainings'].items())
    drawn = sum(check_draws(name, program) for name, program in written['draws'].items())
    print(f'{drawn} random numbers are the same')
    print(f'{nodes} nodes of models, {steps} training steps, {results} results of programs agree')


if __name__ == '__main__':
    main()
