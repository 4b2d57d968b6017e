// Branches, loops, sequences and values that may be missing.
import { type DType, EagreError, InvalidArgumentError } from '@eagre/backend';
import {
  concat,
  debugging,
  gather,
  logicalAnd,
  logicalNot,
  reverse,
  split,
  stack,
  Tensor,
  transpose,
  unstack,
  zeros,
} from '@eagre/core';
import { context, type Dim, dims, equalDims, inInitScope, isLate } from '@eagre/core/internal';
import { cond, TensorArray, whileLoop } from '@eagre/graph';
import { type Body, type NodeCall, type OpTable, Results, type Run, type Value } from '../node.ts';
import { range, scalar } from './helpers.ts';

const tensors = (node: NodeCall, values: readonly Value[]): Tensor[] =>
  values.map((v) =>
    v instanceof Tensor ? v : node.unsupported('sequences in traced branches and loops are not translated'),
  );

/** Which way a branch goes in all runs of a trace; null where they differ. What sizes decide holds for the calls that the trace serves. */
function knownTruth(pred: Tensor, tracer: NonNullable<typeof context.tracer>): boolean | null {
  const known = tracer.constant(pred);
  if (known !== null) return inInitScope(() => known.cast('int32').item()) === 1;
  const [truth] = tracer.integers(pred) ?? [];
  if (truth === undefined) return null;
  if (typeof truth === 'number') return truth === 1;
  if (!truth.env.hasCall || isLate(truth)) return null;
  return equalDims(truth, 1);
}

const branch: Run = (node) => {
  const pred = node.x().reshape([]);
  const [yes, no] = [node.body('then_branch'), node.body('else_branch')];
  if (context.tracer === null) return new Results(...(pred.cast('int32').item() === 1 ? yes : no).run([]));
  const known = knownTruth(pred, context.tracer);
  if (known !== null) return new Results(...(known ? yes : no).run([]));
  // A branch that does not fit these inputs fails when it is taken: other inputs may need it.
  let failed: { readonly branch: Body; readonly error: EagreError } | undefined;
  const attempt = (body: Body) => (): Tensor[] => {
    try {
      return tensors(node, body.run([]));
    } catch (error) {
      if (error instanceof EagreError) failed ??= { branch: body, error };
      throw error;
    }
  };
  try {
    return cond(pred, attempt(yes), attempt(no));
  } catch (error) {
    if (failed === undefined) throw error;
    const other = failed.branch === yes ? no : yes;
    const results = tensors(node, other.run([]));
    debugging.Assert(other === yes ? pred : logicalNot(pred), [failed.error.message]);
    return results;
  }
};

const ended = (of: Tensor | null): boolean => of !== null && of.reshape([]).cast('int32').item() === 0;

/** A loop that runs now. */
function loopNow(node: NodeCall, most: number): Results {
  const body = node.body('body');
  let states = node.inputs.slice(2);
  let going = node.maybe(1);
  const kept: Tensor[][] = [];
  for (let i = 0; i < most && !ended(going); i++) {
    const [next, ...rest] = body.run([scalar(i, 'int64'), going ?? scalar(1, 'bool'), ...states]);
    going = next as Tensor;
    // Without a condition of its own the loop goes by the body's.
    states = rest.slice(0, states.length);
    rest.slice(states.length).forEach((v, k) => {
      const list = kept[k] ?? [];
      kept[k] = list;
      list.push(v as Tensor);
    });
  }
  const scans = range(0, body.outputTypes.length - 1 - states.length).map((k) => {
    const list = kept[k];
    return list === undefined ? empty(body.outputTypes[1 + states.length + k] ?? null) : stack(list, 0);
  });
  return new Results(...states, ...scans);
}
const empty = (dtype: DType | null): Tensor => zeros([0], { dtype: (dtype ?? 'float32') as 'float32' });

// The loop variables are structures of what only a model knows.
const loopOf = whileLoop as unknown as (
  cond: (...vars: never[]) => Tensor,
  body: (...vars: never[]) => unknown,
  vars: readonly unknown[],
) => readonly unknown[];

const loop: Run = (node) => {
  const limit = node.maybe(0);
  if (context.tracer === null)
    return loopNow(node, limit === null ? Number.POSITIVE_INFINITY : Number(limit.reshape([]).item()));
  const body = node.body('body');
  const states = tensors(node, node.inputs.slice(2));
  const count = body.outputTypes.length - 1 - states.length;
  const arrays = range(0, count).map((k) => {
    const dtype =
      body.outputTypes[1 + states.length + k] ?? node.unsupported('the body does not say what type it gives');
    return new TensorArray(dtype, { size: 0, dynamicSize: true });
  });
  const going = (node.maybe(1) ?? scalar(1, 'bool')).reshape([]);
  const most = limit === null ? null : limit.reshape([]);
  const [, , last, scans] = loopOf(
    (i: Tensor, goes: Tensor) => (most === null ? goes : logicalAnd(goes, i.less(most))),
    (i: Tensor, goes: Tensor, values: Tensor[], lists: TensorArray[]) => {
      const [next, ...rest] = tensors(node, body.run([i, goes, ...values]));
      return [
        i.add(scalar(1, 'int64')),
        (next as Tensor).reshape([]),
        rest.slice(0, values.length),
        lists.map((list, k) => list.write(i.cast('int32'), rest[values.length + k] as Tensor)),
      ];
    },
    [scalar(0, 'int64'), going, states, arrays],
  ) as unknown as [Tensor, Tensor, Tensor[], TensorArray[]];
  return [...last, ...scans.map((list) => list.stack())];
};

const scanned: Run = (node) => {
  if (node.opset < 9) node.unsupported('scans of opset 8 are not translated');
  const { attrs } = node;
  const body = node.body('body');
  const count = attrs.int('num_scan_inputs');
  const initial = tensors(node, node.inputs.slice(0, node.inputs.length - count));
  const given = tensors(node, node.inputs.slice(initial.length));
  const outputs = body.outputTypes.length - initial.length;
  const [inAxes, outAxes] = [
    attrs.ints(
      'scan_input_axes',
      given.map(() => 0),
    ),
    attrs.ints(
      'scan_output_axes',
      range(0, outputs).map(() => 0),
    ),
  ];
  const [inBack, outBack] = [
    attrs.ints(
      'scan_input_directions',
      given.map(() => 0),
    ),
    attrs.ints(
      'scan_output_directions',
      range(0, outputs).map(() => 0),
    ),
  ];
  const first = given.map((x, i) => {
    const front = toFront(x, node.axis(inAxes[i] as number, x.rank));
    return inBack[i] === 1 ? reverse(front, [0]) : front;
  });
  const steps = dims(first[0] as Tensor)[0] as Dim;
  const finish = (x: Tensor, k: number): Tensor => {
    const ordered = outBack[k] === 1 ? reverse(x, [0]) : x;
    return fromFrontAxis(ordered, node.axis(outAxes[k] as number, x.rank));
  };
  if (typeof steps === 'number' && (context.tracer === null || steps <= UNROLLED)) {
    let states: readonly Tensor[] = initial;
    const rows = first.map((x) => unstack(x, 0));
    const lists: Tensor[][] = range(0, outputs).map(() => []);
    for (let i = 0; i < steps; i++) {
      const all = tensors(node, body.run([...states, ...rows.map((r) => r[i] as Tensor)]));
      states = all.slice(0, initial.length);
      lists.forEach((list, k) => list.push(all[initial.length + k] as Tensor));
    }
    if (steps === 0) node.unsupported('a scan of no steps is not translated');
    return [...states, ...lists.map((list, k) => finish(stack(list, 0), k))];
  }
  const most = firstSize(first[0] as Tensor);
  const arrays = range(0, outputs).map((k) => {
    const dtype =
      body.outputTypes[initial.length + k] ?? node.unsupported('the body does not say what type it gives');
    return new TensorArray(dtype, { size: most });
  });
  const [, last, scans] = loopOf(
    (i: Tensor) => i.less(most),
    (i: Tensor, values: Tensor[], lists: TensorArray[]) => {
      const all = tensors(node, body.run([...values, ...first.map((x) => gather(x, i, 0))]));
      return [
        i.add(scalar(1, 'int32')),
        all.slice(0, values.length),
        lists.map((list, k) => list.write(i, all[values.length + k] as Tensor)),
      ];
    },
    [scalar(0, 'int32'), initial, arrays],
  ) as unknown as [Tensor, Tensor[], TensorArray[]];
  return [...last, ...scans.map((list, k) => finish(list.stack(), k))];
};
// A scan of at most as many steps is written out in a trace.
const UNROLLED = 16;
const firstSize = (x: Tensor): Tensor => x.shapeOf().slice([0], [1]).reshape([]);
const toFront = (x: Tensor, axis: number): Tensor =>
  axis === 0 ? x : transpose(x, [axis, ...range(0, x.rank).filter((i) => i !== axis)]);
const fromFrontAxis = (x: Tensor, axis: number): Tensor =>
  axis === 0 ? x : transpose(x, [...range(1, axis + 1), 0, ...range(axis + 1, x.rank)]);

// ---- sequences

const place = (node: NodeCall, i: number, length: number): number => {
  const at = node.int(i);
  const from = at < 0 ? at + length : at;
  if (from < 0 || from > length) node.fail(`the place ${at} is outside of a sequence of ${length}`);
  return from;
};

const cutIntoSequence = (node: NodeCall): Results => {
  const x = node.x();
  const axis = node.axis(node.attrs.int('axis', 0), x.rank);
  const given = node.maybe(1);
  const n = x.shape[axis] as number;
  if (given === null) {
    const parts = unstack(x, axis);
    const keep = node.attrs.int('keepdims', 1) === 1;
    return new Results(parts.map((p) => (keep ? p.expandDims(axis) : p)));
  }
  const sizes = node.ints(1);
  if (given.rank > 0) return new Results(split(x, sizes, axis));
  const chunk = sizes[0] as number;
  if (!(chunk > 0)) node.fail(`pieces of ${chunk} are not possible`);
  const list = range(0, Math.ceil(n / chunk)).map((i) => Math.min(chunk, n - i * chunk));
  return new Results(split(x, list, axis));
};

const items = (node: NodeCall): Tensor[] =>
  node.sequence().map((v) => (v instanceof Tensor ? v : node.fail('the sequence holds maps')));

/** A graph for each item of a sequence; other sequences go along, tensors are the same for all. */
const mappedSequence = (node: NodeCall): Results => {
  const body = node.body('body');
  const first = node.sequence();
  const rows = first.map((_, i) =>
    body.run(
      node.inputs.map((value, k): Value => {
        if (!Array.isArray(value)) return value as Value;
        if (value.length !== first.length)
          node.fail(`input ${k} has ${value.length} items, but the first ${first.length}`);
        return value[i] as Tensor;
      }),
    ),
  );
  return new Results(
    ...body.outputTypes.map(
      (_, k) => rows.map((row) => row[k] ?? node.fail(`output ${k} of the body is missing`)) as Tensor[],
    ),
  );
};

export const control: OpTable = {
  If: branch,
  Loop: loop,
  Scan: scanned,
  ConcatFromSequence: (node) => {
    const list = items(node);
    const axis = node.attrs.int('axis');
    return node.attrs.int('new_axis', 0) === 1 ? stack(list, axis) : concat(list, axis);
  },
  Optional: (node) => new Results(node.inputs[0] ?? null),
  OptionalGetElement: (node) => {
    const value = node.inputs[0] ?? null;
    if (value === null) throw new InvalidArgumentError(`${node.where}: the value is missing`, 'tf.onnx.load');
    return new Results(value);
  },
  OptionalHasElement: (node) => scalar((node.inputs[0] ?? null) === null ? 0 : 1, 'bool'),
  SequenceAt: (node) => {
    const list = node.sequence();
    return new Results(
      (list[place(node, 1, list.length)] ?? node.fail('the place is behind the end')) as Tensor,
    );
  },
  SequenceConstruct: (node) => new Results(node.all()),
  SequenceEmpty: () => new Results([]),
  SequenceErase: (node) => {
    const list = [...node.sequence()];
    list.splice(node.maybe(1) === null ? list.length - 1 : place(node, 1, list.length), 1);
    return new Results(list);
  },
  SequenceInsert: (node) => {
    const list = [...node.sequence()];
    list.splice(node.maybe(2) === null ? list.length : place(node, 2, list.length), 0, node.x(1));
    return new Results(list);
  },
  SequenceMap: mappedSequence,
  SequenceLength: (node) => scalar(node.sequence().length, 'int64'),
  SplitToSequence: cutIntoSequence,
};
