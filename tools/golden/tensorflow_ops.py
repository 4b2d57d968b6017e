"""The ops of TensorFlow's registry with the names of their outputs: python tools/golden/tensorflow_ops.py"""

import gzip
import json
import os
import pathlib
import re

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')

import tensorflow as tf
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session as session

TARGET = pathlib.Path(__file__).parents[2] / 'packages' / 'saved-model' / 'golden' / 'ops.json.gz'
# Registered for TensorFlow's own tests.
OF_TESTS = re.compile(
    r'^(A|B|Attr|Attr[A-Z].*|Binary|ComplexStruct|ConstructionFails|CopyOp|DefaultAttrs|DtypeWithDefaultOp|Fact|FiveFloatOutputs|Float.*put.*|'
    r'Foo\d|FuncListAttr|GraphDefVersion|InPoly.*|Int\d*(Attr|Input|Output).*|KernelLabel.*|ListInput|ListOutput|MixedStruct|N(In|Ints|Poly).*|None|'
    r'Old|OpWith.*|OutT.*|Polymorphic.*|RefIn.*|RefOut.*|RequiresOlder.*|Reserved.*|Restrict|Simple.*|StringListAttr|Test.*|Two.*|TypeList.*|Unary|'
    r'Namespace>.*|ResourceUsingOp|ResourceCreateOp|ResourceInitializedOp|IsResourceHandleRefCounting|Sleep.*|StubResourceHandleOp)$')

ops = op_def_pb2.OpList()
ops.ParseFromString(session.TF_GetBuffer(session.TF_GetAllOpList()))
found = {op.name: [arg.name for arg in op.output_arg] for op in ops.op if not OF_TESTS.match(op.name)}
with open(TARGET, 'wb') as file, gzip.GzipFile('', 'wb', 9, file, mtime=0) as out:
    out.write(json.dumps({'tensorflow': tf.__version__, 'ops': found}).encode())
print(len(found), TARGET.stat().st_size)
