// Types of one's own that are made of tensors, through all that takes tensors.
import { afterEach, describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const { ExtensionType, BatchableExtensionType, extensionType } = tf.experimental;

class MaskedTensor extends BatchableExtensionType.of({
  values: tf.Tensor,
  mask: new tf.TensorSpec(null, 'bool'),
}) {
  orElse(value: tf.TensorLike): tf.Tensor {
    return tf.where(this.mask, this.values, value);
  }
  override validate(): void {
    if (this.values.rank !== this.mask.rank)
      throw new tf.errors.InvalidArgumentError('mask and values differ');
  }
}
class Named extends ExtensionType.of({
  label: String,
  size: extensionType.field(Number, { default: 1 }),
  at: { x: tf.Tensor, more: extensionType.field(tf.Tensor, { list: true }) },
  note: extensionType.field(tf.Tensor, { nullable: true, default: null }),
}) {}

const masked = (): MaskedTensor => new MaskedTensor({ values: [1, 2, 3], mask: [true, false, true] });

describe('values', () => {
  test('have typed fields that do not change', () => {
    const m = masked();
    expect(m.orElse(0).array()).toEqual([1, 0, 3]);
    expect(() => Object.assign(m, { values: 3 })).toThrow(TypeError);
    expect(
      m
        .with({ values: [4, 5, 6] })
        .orElse(0)
        .array(),
    ).toEqual([4, 0, 6]);
    expect(m).toBeInstanceOf(tf.experimental.ExtensionType);
    expect(Object.keys(extensionType.asDict(m))).toEqual(['values', 'mask']);
    const n = new Named({ label: 'a', at: { x: 1, more: [2, [3, 4]] } });
    expect([n.label, n.size, n.note, n.at.x.item(), n.at.more[1]?.array()]).toEqual([
      'a',
      1,
      null,
      1,
      [3, 4],
    ]);
    expect(String(n)).toContain('Named(label=a');
  });

  test('are refused where they do not fit', () => {
    const wrong =
      (fields: unknown): (() => unknown) =>
      () =>
        new MaskedTensor(fields as never);
    expect(wrong({ values: [1] })).toThrow('mask must be given');
    expect(wrong({ values: [1], mask: [1] })).toThrow('mask must be bool of any shape');
    expect(wrong({ values: [1], mask: true })).toThrow('mask and values differ');
    expect(wrong({ values: [1], mask: [true], other: 3 })).toThrow("'other' is no field");
    expect(wrong([1])).toThrow('expected the fields by name');
    expect(() => new Named({ label: 3, at: { x: 1, more: [] } } as never)).toThrow('label must be a string');
    expect(() => new Named({ label: '', at: { x: 1, more: 2 } } as never)).toThrow('at.more must be a list');
    expect(() => new Named({ label: '', at: { x: 1, more: [], y: 2 } } as never)).toThrow(
      "'at.y' is no field",
    );
    class Bad extends ExtensionType.of({ parts: tf.Tensor }) {}
    expect(() => new Bad({ parts: 1 })).toThrow('cannot be called parts');
    class Worse extends ExtensionType.of({ x: 3 as never }) {}
    expect(() => new Worse({ x: 1 } as never)).toThrow('field x must be');
    expect(() => tf.abs(masked() as never)).toThrow('it does not take a MaskedTensor');
  });
});

describe('graphs', () => {
  test('functions take and give them, with a trace for each kind', () => {
    const f = tf.function((m: MaskedTensor) => m.with({ values: m.values.mul(2) }));
    const out = f(masked());
    expect(out).toBeInstanceOf(MaskedTensor);
    expect(out.orElse(-1).array()).toEqual([2, -1, 6]);
    f(masked());
    expect(f.experimentalGetTracingCount()).toBe(1);
    f(new MaskedTensor({ values: [1], mask: [true] }));
    expect(f.experimentalGetTracingCount()).toBe(2);
    const g = tf.function((n: Named) => n.at.x.mul(n.size));
    const at = { x: 3, more: [] };
    expect(g(new Named({ label: 'a', at })).item()).toBe(3);
    expect(g(new Named({ label: 'a', size: 4, at })).item()).toBe(12);
    expect(g.experimentalGetTracingCount()).toBe(2);
  });

  test('signatures, conditions and loops', () => {
    const spec = MaskedTensor.spec({
      values: new tf.TensorSpec([null]),
      mask: new tf.TensorSpec([null], 'bool'),
    });
    expect(String(spec)).toMatch(/^MaskedTensor.Spec\(values=TensorSpec/);
    const f = tf.function((m: MaskedTensor) => m.orElse(0).sum(), { inputSignature: [spec] } as never);
    expect(f(masked()).item()).toBe(4);
    expect(f(new MaskedTensor({ values: [5], mask: [true] })).item()).toBe(5);
    expect(f.experimentalGetTracingCount()).toBe(1);
    const g = tf.function((m: MaskedTensor, which: tf.Tensor) =>
      tf.cond(
        which,
        () => m,
        () => m.with({ values: m.values.neg() }),
      ),
    );
    expect(g(masked(), tf.constant(false)).values.array()).toEqual([-1, -2, -3]);
    const h = tf.function((m: MaskedTensor) =>
      tf.whileLoop(
        (i: tf.Tensor) => i.less(3),
        (i: tf.Tensor, x: MaskedTensor) => [i.add(1), x.with({ values: x.values.mul(2) })] as never,
        [tf.constant(0), m] as never,
      ),
    );
    const [, last] = h(masked()) as never as [tf.Tensor, MaskedTensor];
    expect(last.values.array()).toEqual([8, 16, 24]);
    expect(() => MaskedTensor.spec({ values: 3 })).toThrow('values must be the spec');
    expect(() => MaskedTensor.spec({ other: 3 })).toThrow("'other' is no field");
    expect(String(tf.experimental.ExtensionTypeSpec.fromValue(masked()))).toContain('shape=[3]');
  });

  test('structures and tapes', () => {
    const doubled = tf.nest.mapStructure((x: tf.Tensor) => x, masked() as never) as unknown;
    expect(doubled).toBeInstanceOf(MaskedTensor);
    const x = tf.constant([1, 2, 3]);
    const tape = new tf.GradientTape();
    tape.watch(x);
    const y = tape.record(() => new MaskedTensor({ values: x.mul(x), mask: [true, false, true] }).orElse(0));
    expect((tape.gradient(y, x) as tf.Tensor).array()).toEqual([2, 0, 6]);
  });
});

describe('datasets', () => {
  test('batches and rows', () => {
    const rows = tf.data.Dataset.fromTensorSlices(
      masked() as never,
    ) as unknown as tf.data.Dataset<MaskedTensor>;
    expect([...rows].map((m) => [m.values.item(), m.mask.item()])).toEqual([
      [1, true],
      [2, false],
      [3, true],
    ]);
    const batches = rows.map((m) => m.with({ values: m.values.add(1) })).batch(2);
    expect([...batches].map((m) => m.orElse(0).array())).toEqual([[2, 0], [4]]);
    expect(String(batches.elementSpec)).toContain('shape=[null]');
    expect([...batches.unbatch()]).toHaveLength(3);
    const named = tf.data.Dataset.fromTensors(
      new Named({ label: 'a', at: { x: 1, more: [] }, note: 3 }) as never,
    );
    expect(() => named.batch(2)).toThrow('cannot be batched');
  });

  test('an encoder of its own', () => {
    class Encoder extends tf.experimental.ExtensionTypeBatchEncoder {
      override encode(value: Point): tf.Tensor[] {
        return [tf.stack([value.x, value.y], -1)];
      }
      override decode(_like: Point, [both]: readonly tf.Tensor[]): Point {
        const [x, y] = tf.unstack(both as tf.Tensor, -1) as [tf.Tensor, tf.Tensor];
        return new Point({ x, y });
      }
    }
    class Point extends BatchableExtensionType.of({ x: tf.Tensor, y: tf.Tensor }) {
      static batchEncoder = new Encoder();
    }
    const points = tf.data.Dataset.fromTensorSlices(new Point({ x: [1, 2, 3], y: [4, 5, 6] }) as never);
    const [first] = [...points.batch(2)] as unknown as Point[];
    expect([first?.x.array(), first?.y.array()]).toEqual([
      [1, 2],
      [4, 5],
    ]);
  });
});

describe('dispatch', () => {
  const targets: ((...args: never[]) => unknown)[] = [];
  const add = <F extends (...args: never[]) => unknown>(fn: F): F => {
    targets.push(fn);
    return fn;
  };
  afterEach(() => {
    for (const target of targets.splice(0)) tf.experimental.unregisterDispatchFor(target);
  });

  test('for one function', () => {
    tf.experimental.dispatchForApi(
      tf.add,
      [
        { a: MaskedTensor, b: MaskedTensor },
        { a: tf.Tensor, b: MaskedTensor },
      ],
      add((a: MaskedTensor | tf.Tensor, b: MaskedTensor) =>
        a instanceof MaskedTensor
          ? new MaskedTensor({ values: a.values.add(b.values), mask: a.mask.logicalAnd(b.mask) })
          : b.with({ values: tf.add(a, b.values) }),
      ),
    );
    const sum = tf.add(masked() as never, masked() as never) as unknown as MaskedTensor;
    expect(sum.orElse(0).array()).toEqual([2, 0, 6]);
    const other = tf.constant([1, 1, 1]).add(masked() as never) as unknown as MaskedTensor;
    expect(other.values.array()).toEqual([2, 3, 4]);
    expect(() => tf.add(masked() as never, 1)).toThrow('it does not take a MaskedTensor');
    tf.experimental.dispatchForApi(
      tf.concat,
      { list: { list: MaskedTensor } },
      add((list: MaskedTensor[]) => list.length),
    );
    expect(tf.concat([masked(), masked()] as never)).toBe(2);
    expect(() => tf.experimental.dispatchForApi(tf.add, { z: MaskedTensor }, () => 0)).toThrow(
      "has no argument 'z'",
    );
    expect(() => tf.experimental.dispatchForApi((() => 0) as never, { a: MaskedTensor }, () => 0)).toThrow(
      'a function of tf',
    );
    expect(() => tf.experimental.unregisterDispatchFor(() => 0)).toThrow('was not registered');
  });

  test('for functions of elements', () => {
    tf.experimental.dispatchForUnaryElementwiseApis(
      MaskedTensor,
      add((api: (x: tf.Tensor) => tf.Tensor, m: MaskedTensor) => m.with({ values: api(m.values) })),
    );
    tf.experimental.dispatchForBinaryElementwiseApis(
      MaskedTensor,
      MaskedTensor,
      add((api: (x: tf.Tensor, y: tf.Tensor) => tf.Tensor, x: MaskedTensor, y: MaskedTensor) =>
        x.with({ values: api(x.values, y.values), mask: x.mask.logicalAnd(y.mask) }),
      ),
    );
    const asserted: unknown[] = [];
    tf.experimental.dispatchForBinaryElementwiseAssertApis(
      MaskedTensor,
      MaskedTensor,
      add((api: (x: tf.Tensor, y: tf.Tensor) => unknown, x: MaskedTensor, y: MaskedTensor) => {
        asserted.push(api(x.orElse(0), y.orElse(0)));
        return null;
      }),
    );
    const m = masked();
    expect((tf.square(m as never) as unknown as MaskedTensor).values.array()).toEqual([1, 4, 9]);
    expect((tf.cast(m as never, 'int32') as unknown as MaskedTensor).values.dtype).toBe('int32');
    expect((tf.maximum(m as never, m as never) as unknown as MaskedTensor).values.array()).toEqual([1, 2, 3]);
    tf.debugging.assertEqual(m as never, m as never);
    expect(asserted).toHaveLength(1);
    // Not by elements.
    expect(() => tf.matmul(m as never, m as never)).toThrow('it does not take');
    const traced = tf.function((x: MaskedTensor) => tf.exp(x as never) as unknown as MaskedTensor);
    expect(traced(m).values.array()).toEqual(tf.exp([1, 2, 3]).array());
  });
});

test('row partitions', () => {
  const { RowPartition } = tf.experimental;
  const p = RowPartition.fromRowLengths([2, 0, 3]);
  const numbers = (t: tf.Tensor): unknown =>
    JSON.parse(JSON.stringify(t.array(), (_, v) => (typeof v === 'bigint' ? Number(v) : v)));
  expect(
    [p.rowSplits(), p.rowStarts(), p.rowLimits(), p.rowLengths(), p.valueRowids(), p.nrows(), p.nvals()].map(
      numbers,
    ),
  ).toEqual([[0, 2, 2, 5], [0, 2, 2], [2, 2, 5], [2, 0, 3], [0, 0, 2, 2, 2], 3, 5]);
  for (const same of [
    RowPartition.fromRowSplits([0, 2, 2, 5]),
    RowPartition.fromRowStarts([0, 2, 2], 5),
    RowPartition.fromRowLimits([2, 2, 5]),
    RowPartition.fromValueRowids([0, 0, 2, 2, 2]),
  ])
    expect(numbers(same.rowSplits())).toEqual([0, 2, 2, 5]);
  expect(numbers(RowPartition.fromUniformRowLength(2, 6).rowSplits())).toEqual([0, 2, 4, 6]);
  expect(numbers(RowPartition.fromValueRowids([0], 3).rowSplits())).toEqual([0, 1, 1, 1]);
  expect(() => RowPartition.fromRowSplits([1, 2])).toThrow(tf.errors.InvalidArgumentError);
  expect(() => RowPartition.fromUniformRowLength(4, 6)).toThrow(tf.errors.InvalidArgumentError);
  const f = tf.function((q: typeof p) => q.rowLengths());
  expect(numbers(f(p))).toEqual([2, 0, 3]);
});
