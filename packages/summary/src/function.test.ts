import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, InvalidArgumentError, nameScope, type Tensor, Variable } from '@eagre/core';
import { tensorflow } from '@eagre/formats';
import { cond, TensorSpec, tfFunction, whileLoop } from '@eagre/graph';
import { afterEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../testing/src/temporary.ts';
import * as summary from './index.ts';

afterEach(() => summary.experimental.setStep(null));

/** Runs `fn` with a default writer. @returns the scalars that were written: tag, step, value. */
function written(fn: (writer: summary.SummaryWriter) => void): unknown[] {
  const folder = temporaryFolder('summary');
  using writer = summary.createFileWriter(folder);
  writer.asDefault(() => fn(writer));
  return read(folder);
}
const read = (folder: string): unknown[] =>
  [...summary.readEvents(folder)]
    .filter((e) => e.kind === 'scalar')
    .map(({ tag, step, value }) => [tag, Number(step), value]);

describe('in a traced function', () => {
  it('each run writes, in the order of the program, with the values and the step of the run', () => {
    const step = new Variable(0n);
    const f = tfFunction((x: Tensor) => {
      expect(summary.scalar('before', x.mul(2), { step })).toBe(true);
      step.assignAdd(1n);
      summary.scalar('after', x.add(1), { step });
      return x.neg();
    });
    const events = written(() => {
      for (const v of [1, 2]) f(constant(v));
    });
    expect(events).toEqual([
      ['before', 0, 2],
      ['after', 1, 2],
      ['before', 1, 4],
      ['after', 2, 3],
    ]);
    expect(f.experimentalGetTracingCount()).toBe(1);
  });

  it('a step is an argument, the default of each run, or of the function itself', () => {
    let scope = summary.createNoopWriter();
    const f = tfFunction((x: Tensor, step: Tensor) => {
      summary.scalar('argument', x, { step });
      summary.scalar('default', x);
      scope.asDefault(step, () => summary.scalar('own', x));
    });
    const events = written((writer) => {
      scope = writer;
      for (const at of [3, 4]) {
        summary.experimental.setStep(10 * at);
        f(constant(1), constant(at, 'int64'));
      }
    });
    expect(events).toEqual([
      ['argument', 3, 1],
      ['default', 30, 1],
      ['own', 3, 1],
      ['argument', 4, 1],
      ['default', 40, 1],
      ['own', 4, 1],
    ]);
  });

  it('conditions on tensors, on functions and on what holds outside', () => {
    const count = new Variable(0n);
    const f = tfFunction((x: Tensor) => {
      count.assignAdd(1n);
      summary.recordIf(x.greater(0), () => summary.scalar('positive', x, { step: count }));
      summary.recordIf(
        () => count.mod(2n).equal(0n),
        () => summary.scalar('even', x, { step: count }),
      );
      summary.recordIf(false, () => summary.scalar('never', x, { step: count }));
      summary.scalar('outside', x, { step: count });
    });
    let allowed = true;
    const events = written(() => {
      using _ = summary.recordIf(() => allowed);
      f(constant(1));
      f(constant(-1));
      allowed = false;
      f(constant(2));
      f(constant(4));
    });
    expect(events).toEqual([
      ['positive', 1, 1],
      ['outside', 1, 1],
      ['even', 2, -1],
      ['outside', 2, -1],
      ['positive', 3, 2],
      ['positive', 4, 4],
      ['even', 4, 4],
    ]);
  });

  it('in branches and loops', () => {
    const f = tfFunction((n: Tensor) => {
      whileLoop(
        (i) => i.less(n),
        (i) => {
          cond(
            i.mod(2).equal(0),
            () => {
              summary.scalar('even', i.cast('float32'), { step: i });
              return i;
            },
            () => i,
          );
          return [i.add(1)] as const;
        },
        [constant(0, 'int32')] as const,
      );
      return n;
    });
    expect(written(() => f(constant(5, 'int32')))).toEqual([
      ['even', 0, 0],
      ['even', 2, 2],
      ['even', 4, 4],
    ]);
  });

  it('the writer is that of each run, or the one that the function made the default', () => {
    const [first, second, own] = [
      temporaryFolder('summary'),
      temporaryFolder('summary'),
      temporaryFolder('summary'),
    ];
    const writer = summary.createFileWriter(own);
    const f = tfFunction((x: Tensor) => {
      summary.scalar('outer', x, { step: 1 });
      writer.asDefault(() => summary.scalar('inner', x, { step: 2 }));
    });
    summary.createFileWriter(first).asDefault(() => f(constant(1)));
    summary.createFileWriter(second).asDefault(() => f(constant(2)));
    f(constant(3));
    expect(read(first)).toEqual([['outer', 1, 1]]);
    expect(read(second)).toEqual([['outer', 1, 2]]);
    expect(read(own)).toEqual([
      ['inner', 2, 1],
      ['inner', 2, 2],
      ['inner', 2, 3],
    ]);
  });

  it('without a default writer while it is traced there is nothing in the graph', () => {
    const f = tfFunction((x: Tensor) => {
      expect(summary.scalar('a', x, { step: 1 })).toBe(false);
      return x.add(1);
    });
    expect(f.getConcreteFunction(new TensorSpec([])).graph.toString()).not.toContain('WriteSummary');
  });

  it('all kinds, below name scopes, of any size', () => {
    const folder = temporaryFolder('summary');
    const f = tfFunction({ inputSignature: [new TensorSpec([null, 4, 4, 1])] })((x: Tensor) => {
      nameScope('scope', () => {
        summary.histogram('h', x, { buckets: 2 });
        summary.image('i', x, { maxOutputs: 5 });
        summary.text('t', 'told');
        summary.audio('a', x.reshape([-1, 16, 1]), 8000, { maxOutputs: 5 });
        summary.write('w', x.sum());
      });
      return x;
    });
    summary.createFileWriter(folder).asDefault(7, () => {
      for (const n of [1, 3]) f(constant(1, 'float32', { shape: [n, 4, 4, 1] }));
    });
    const events = [...summary.readEvents(folder)].filter((e) => 'tag' in e);
    expect(events.map((e) => [e.tag, e.step])).toEqual(
      [1, 3].flatMap(() => ['scope/h', 'scope/i', 'scope/t', 'scope/a', 'w'].map((tag) => [tag, 7])),
    );
    const [h, i, , a] = events.slice(5);
    expect(h).toMatchObject({ buckets: [{ count: 0 }, { left: 1, count: 48 }] });
    expect(i?.kind === 'image' && i.images.length).toBe(3);
    expect(a?.kind === 'audio' && a.clips.length).toBe(3);
  });

  it('shows what is wrong where it is traced', () => {
    written(() => {
      expect(() => tfFunction((x: Tensor) => summary.scalar('a', x, { step: 1 }))(constant([1, 2]))).toThrow(
        'expected a scalar, got the shape [2]',
      );
      expect(() => tfFunction((x: Tensor) => summary.scalar('a', x))(constant(1))).toThrow('No step set');
      expect(() =>
        tfFunction((x: Tensor) => {
          summary.hparams({ a: 1 });
          return x;
        })(constant(1)),
      ).toThrow('while a function is traced');
    });
  });
});

it('traceExport writes the graphs that ran to the default writer, with its step and tag', () => {
  const folder = temporaryFolder('summary');
  const double = tfFunction((x: Tensor) => x.add(x));
  const writer = summary.createFileWriter(folder);
  writer.asDefault(4, () => {
    summary.traceOn();
    double(constant(1));
    nameScope('scope', () => summary.traceExport('double'));
  });
  const trace = [...summary.readEvents(folder)].find((e) => e.kind === 'trace');
  expect(trace).toMatchObject({ tag: 'scope/double', step: 4 });
  const { function_graphs } = tensorflow.RunMetadata.decode(trace!.runMetadata);
  expect(function_graphs?.[0]?.pre_optimization_graph?.node?.map((n) => n.op)).toContain('AddV2');
  summary.traceOn();
  for (const bad of [5, { stepp: 1 }])
    expect(() => summary.traceExport('none', bad as never)).toThrow(InvalidArgumentError);
  expect(() => summary.traceExport('none', { step: 1 })).toThrow('no default summary writer');
  summary.traceOff();
});
