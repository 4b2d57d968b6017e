import '@eagre/backend-js';
import { FailedPreconditionError } from '@eagre/backend';
import { constant, type Tensor, topK, Variable } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { tfFunction } from '../index.ts';
import type { Graph } from '../ir/graph.ts';
import { graphToSvg } from './graph-drawing.ts';

function sample(): Graph {
  const w = new Variable([[1, 2, 3]], { name: 'net/dense/kernel' });
  const b = new Variable([0, 0, 0], { name: 'net/dense/bias' });
  const f = tfFunction(
    (x: Tensor) => {
      x.neg();
      b.assignAdd([1, 1, 1]);
      return topK(x.matmul(w), 2).indices;
    },
    { name: 'a "b" \\' },
  );
  return f.getConcreteFunction(constant([[1], [2]])).graph;
}

describe('drawings', () => {
  test('have a frame for each scope, a box for each node, an arrow for each value', () => {
    expect(sample().toDot()).toMatchInlineSnapshot(`
      "digraph "a \\"b\\" \\\\" {
        node [shape="box", style="filled,rounded", fontname="Helvetica", fontsize="10"];
        edge [fontname="Helvetica", fontsize="8", arrowsize="0.6"];
        n0 [label="args_0\\nfloat32[2,1]", tooltip="%args_0: float32[2,1] = Placeholder()", fillcolor="#cfe2f3"];
        n1 [label="Neg\\nfloat32[2,1]", tooltip="%Neg: float32[2,1] = Neg(%args_0)", fillcolor="#ffffff", style="filled,rounded,dashed"];
        n3 [label="Const\\nfloat32[3]", tooltip="%Const: float32[3] = Const() {value: [1, 1, 1]}", fillcolor="#e6e6e6"];
        n4 [label="AddV2\\nfloat32[3]", tooltip="%AddV2: float32[3] = AddV2(%net/dense/bias/Read, %Const)", fillcolor="#ffffff"];
        n6 [label="MatMul\\nfloat32[2,3]", tooltip="%MatMul: float32[2,3] = MatMul(%args_0, %net/dense/kernel/Read) {transposeA: false, transposeB: false}", fillcolor="#ffffff"];
        n7 [label="TopKV2\\nfloat32[2,2]\\nint32[2,2]", tooltip="%TopKV2:0: float32[2,2], %TopKV2:1: int32[2,2] = TopKV2(%MatMul) {k: 2}", fillcolor="#ffffff"];
        out0 [label="result 0", tooltip="int32[2,2]", shape="ellipse", fillcolor="#d9ead3"];
        set0 [label="assign 'net/dense/bias'", tooltip="float32[3]", shape="ellipse", fillcolor="#f9cb9c"];
        subgraph cluster_0 {
          graph [label="net", style="rounded", color="#999999", fontname="Helvetica", fontsize="10"];
          subgraph cluster_1 {
            graph [label="dense", style="rounded", color="#999999", fontname="Helvetica", fontsize="10"];
            n2 [label="bias\\nfloat32[3]", tooltip="%net/dense/bias/Read: float32[3] = ReadVariableOp('net/dense/bias')", fillcolor="#fff2cc"];
            n5 [label="kernel\\nfloat32[1,3]", tooltip="%net/dense/kernel/Read: float32[1,3] = ReadVariableOp('net/dense/kernel')", fillcolor="#fff2cc"];
          }
        }
        n0 -> n1 [tooltip="%args_0: float32[2,1]"];
        n2 -> n4 [tooltip="%net/dense/bias/Read: float32[3]"];
        n3 -> n4 [tooltip="%Const: float32[3]"];
        n0 -> n6 [tooltip="%args_0: float32[2,1]"];
        n5 -> n6 [tooltip="%net/dense/kernel/Read: float32[1,3]"];
        n6 -> n7 [tooltip="%MatMul: float32[2,3]"];
        n7 -> out0 [tooltip="%TopKV2:1: int32[2,2]", taillabel="1"];
        n4 -> set0 [tooltip="%AddV2: float32[3]"];
      }
      "
    `);
  });

  test('are made by Graphviz', async () => {
    const svg = await sample().toSvg();
    expect(svg).toContain('<svg');
    expect(svg).toContain('kernel');
    // The frames of net and net/dense, and one arrow for each in the text.
    expect(svg.match(/class="cluster"/g)).toHaveLength(2);
    expect(svg.match(/class="edge"/g)).toHaveLength(sample().toDot().match(/ -> /g)?.length ?? 0);
  });

  test('say what to install', async () => {
    const cause = new Error('Cannot find package');
    const drawn = graphToSvg(sample(), () => Promise.reject(cause));
    await expect(drawn).rejects.toThrow(FailedPreconditionError);
    await expect(drawn).rejects.toThrow(/npm install @viz-js\/viz/);
    await expect(drawn).rejects.toMatchObject({ cause });
  });
});
