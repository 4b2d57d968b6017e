"""Prints the signatures of TensorFlow's ops that graphs are written in: packages/graph/src/interchange/op-defs.ts.

    python tools/print-tensorflow-ops.py

An op is on the list if a source file of the packages that write graphs names it, or the catalogue of ops has one of its name.
"""

import pathlib
import re

import tensorflow as tf
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session

ROOT = pathlib.Path(__file__).parent.parent / 'packages'
TARGET = ROOT / 'graph/src/interchange/op-defs.ts'
FOLDERS = ['core/src/lookup', 'core/src/ops', 'core/src/random', 'graph/src', 'saved-model/src/save']


def registry():
    ops = op_def_pb2.OpList()
    ops.ParseFromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    return {op.name: op for op in ops.op}


def named():
    names = set()
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob('*.ts'):
            if path.name.endswith('.test.ts') or path == TARGET:
                continue
            text = path.read_text()
            names.update(re.findall(r"['\" ]([A-Z_]\w+)(?=['\" ])", text))
            # A property of a table.
            names.update(re.findall(r'^\s+([A-Z_]\w+):', text, re.M))
    return names


def argument(arg):
    return arg.name + ('*' if arg.number_attr or arg.type_list_attr else '')


def attribute(attr):
    text = attr.name + ('' if attr.HasField('default_value') else '!')
    if attr.has_minimum and attr.minimum > 0:
        text += f'>{attr.minimum}'
    types = list(attr.allowed_values.list.type)
    return text + (f'={",".join(map(str, types))}' if types else '')


def line(op):
    inputs = ' '.join(map(argument, op.input_arg))
    outputs = ' '.join(map(argument, op.output_arg))
    attrs = ' '.join(attribute(a) for a in op.attr if not a.name.startswith('_'))
    return f"{op.name}|{inputs}|{outputs}|{attrs}{'|s' if op.is_stateful else ''}"


def main():
    ops = registry()
    lines = [line(ops[name]) for name in sorted(named() & ops.keys())]
    TARGET.write_text(f"""// Signatures of TensorFlow's ops, of TensorFlow {tf.__version__}: written by tools/print-tensorflow-ops.py.

/**
 * A line for each op: name|inputs|outputs|attributes, and |s for one with effects. A star marks a list, an exclamation mark an attribute
 * without a default; the number behind > is the least that it may be, of a list the least length; those behind = are the dtypes that it may have.
 */
export const OP_DEFS: string = `
{chr(10).join(lines)}
`;
""")
    print(f'{len(lines)} ops')


main()
