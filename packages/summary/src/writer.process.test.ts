import '@eagre/backend-js';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { constant, nameScope, Variable } from '@eagre/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { bundledProgram } from '../../testing/src/bundled.ts';
import { temporaryFolder } from '../../testing/src/temporary.ts';
import * as summary from './index.ts';

const writer = await bundledProgram(
  `
  import { EventFile } from './event-file.ts';
  import { tensorflow } from '@eagre/formats';
  const file = new EventFile(process.argv[2], { maxQueue: 100 }, 'test');
  for (let step = 0; step < 7; step++)
    file.append(tensorflow.Event.encode({ step, summary: { value: [{ tag: 'a', simple_value: step }] } }));
`,
  'summary/src',
);

afterEach(() => {
  summary.experimental.setStep(null);
  vi.useRealTimers();
});

const scalarsIn = (folder: string): unknown[] =>
  [...summary.readEvents(folder)]
    .filter((e) => e.kind === 'scalar')
    .map(({ tag, step, value }) => [tag, step, value]);

describe('the file', () => {
  it("has TensorFlow's name, and says its version first", () => {
    const folder = join(temporaryFolder('summary'), 'a/b');
    const now = Math.floor(Date.now() / 1000);
    for (const options of [{}, { filenameSuffix: '.mine' }])
      summary.createFileWriter(folder, options).close();
    const after = Date.now() / 1000;
    const names = readdirSync(folder).map((name) => name.split('.'));
    expect(names).toHaveLength(2);
    const host = hostname().split('.');
    for (const [i, name] of names.entries()) {
      expect(name.slice(0, 3)).toEqual(['events', 'out', 'tfevents']);
      expect(Number(name[3])).toBeGreaterThanOrEqual(now);
      expect(Number(name[3])).toBeLessThanOrEqual(after);
      expect(name.slice(4, 4 + host.length)).toEqual(host);
      expect(name[4 + host.length]).toBe(String(process.pid));
      expect(name.at(-1)).toBe(i === 0 ? 'v2' : 'mine');
    }
    const events = [...summary.readEvents(folder)];
    expect(events).toHaveLength(2);
    expect(events[0]).toMatchObject({ kind: 'other', event: { file_version: 'brain.Event:2' } });
  });

  it('is written when more than maxQueue events wait, when flushMillis are over, and by flush', () => {
    vi.useFakeTimers();
    const folder = temporaryFolder('summary');
    using writer = summary.createFileWriter(folder, { maxQueue: 2, flushMillis: 500 });
    const write = (step: number): number => {
      summary.scalar('a', step, { step });
      return scalarsIn(folder).length;
    };
    writer.asDefault(() => {
      expect([write(0), write(1), write(2), write(3)]).toEqual([0, 0, 3, 3]);
      vi.advanceTimersByTime(499);
      expect(scalarsIn(folder)).toHaveLength(3);
      vi.advanceTimersByTime(1);
      expect(scalarsIn(folder)).toHaveLength(4);
      write(4);
      summary.flush();
      expect(scalarsIn(folder)).toHaveLength(5);
      write(5);
      writer.close();
      expect(scalarsIn(folder)).toHaveLength(6);
    });
  });

  it('is refused for bad options', () => {
    const folder = join(temporaryFolder('summary'), 'none');
    for (const options of [
      { maxQueue: -1 },
      { maxQueue: 0.5 },
      { flushMillis: NaN },
      { filenameSuffix: '/x' },
    ])
      expect(() => summary.createFileWriter(folder, options)).toThrow(InvalidArgumentError);
    expect(() => summary.createFileWriter('')).toThrow('the folder must be a path');
    expect(() => summary.createFileWriter(undefined as never)).toThrow(InvalidArgumentError);
    expect(existsSync(folder)).toBe(false);
  });

  it('has everything when the process ends without closing it, and does not keep the process alive', () => {
    const folder = temporaryFolder('summary');
    const options = { encoding: 'utf8', timeout: 900_000 } as const;
    const { status, stderr } = spawnSync(process.execPath, [writer, folder], options);
    expect([status, stderr]).toEqual([0, '']);
    expect(scalarsIn(folder)).toHaveLength(7);
  });
});

describe('the default writer', () => {
  it('is that of the innermost scope, whose end writes', () => {
    const [outer, inner] = [temporaryFolder('summary'), temporaryFolder('summary')];
    const [a, b] = [summary.createFileWriter(outer), summary.createFileWriter(inner)];
    expect(summary.scalar('x', 1, { step: 1 })).toBe(false);
    const result = a.asDefault(() => {
      expect(summary.scalar('x', 1, { step: 1 })).toBe(true);
      {
        using _ = b.asDefault();
        summary.scalar('y', 2, { step: 2 });
      }
      expect(scalarsIn(inner)).toEqual([['y', 2, 2]]);
      summary.createNoopWriter().asDefault(() => summary.scalar('z', 3, { step: 3 }));
      return 'result';
    });
    expect(result).toBe('result');
    expect(scalarsIn(outer)).toEqual([
      ['x', 1, 1],
      ['z', 3, 3],
    ]);
    expect(summary.scalar('x', 1, { step: 1 })).toBe(false);
  });

  it('ends also when the function throws, and takes no promise', () => {
    const writer = summary.createFileWriter(temporaryFolder('summary'));
    expect(() =>
      writer.asDefault(() => {
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(() => writer.asDefault(async () => {})).toThrow(FailedPreconditionError);
    expect(summary.shouldRecordSummaries()).toBe(false);
  });

  it('cannot be closed already', () => {
    const writer = summary.createFileWriter(temporaryFolder('summary'));
    writer.init();
    const scope = writer.asDefault();
    writer.close();
    writer.close();
    writer.flush();
    expect(() => summary.scalar('x', 1, { step: 1 })).toThrow('closed');
    scope[Symbol.dispose]();
    expect(() => writer.init()).toThrow(FailedPreconditionError);
    expect(() => writer.asDefault(() => 1)).toThrow('closed already');
    expect(() => writer.setAsDefault()).toThrow('closed already');
  });
});

describe('steps', () => {
  it('come from the call, the scope or setStep: numbers, bigints, tensors, variables', () => {
    const folder = temporaryFolder('summary');
    const writer = summary.createFileWriter(folder);
    const step = new Variable(5n);
    writer.asDefault(10, () => {
      summary.scalar('a', 0);
      summary.scalar('b', 0, { step: 2n ** 60n });
      summary.scalar('c', 0, { step: constant([3], 'int32') });
      summary.experimental.setStep(step);
      summary.scalar('d', 0);
      step.assignAdd(1n);
      summary.scalar('d', 0);
      expect(summary.experimental.getStep()).toBe(step);
    });
    expect(summary.experimental.getStep()).toBe(null);
    expect(scalarsIn(folder).map((s) => (s as unknown[])[1])).toEqual([10, 2n ** 60n, 3, 5, 6]);
  });

  it("TensorFlow's words where there is none", () => {
    summary.createFileWriter(temporaryFolder('summary')).asDefault(() => {
      expect(() => summary.scalar('a', 1)).toThrow(
        'No step set. Please specify one either through the `step` option or through tf.summary.experimental.setStep()',
      );
      expect(summary.recordIf(false, () => summary.scalar('a', 1))).toBe(false);
    });
  });

  it.each([0.5, NaN, '1', constant([1n, 2n]), constant(1), {}])('not %s', (step) => {
    expect(() => summary.scalar('a', 1, { step: step as never })).toThrow(InvalidArgumentError);
    expect(() => summary.experimental.setStep(step as never)).toThrow(InvalidArgumentError);
  });
});

describe('recordIf', () => {
  it('asks at each summary', () => {
    const folder = temporaryFolder('summary');
    const allowed = new Variable(true);
    summary.createFileWriter(folder).asDefault(() => {
      let step = 0;
      summary.recordIf(
        () => step % 2 === 0,
        () => {
          for (; step < 5; step++) summary.scalar('a', step, { step });
        },
      );
      using _ = summary.recordIf(allowed);
      summary.scalar('b', 1, { step: 1 });
      allowed.assign(false);
      expect(summary.shouldRecordSummaries()).toBe(false);
      expect(summary.scalar('b', 2, { step: 2 })).toBe(false);
      summary.recordIf(constant(true), () => summary.scalar('b', 3, { step: 3 }));
    });
    expect(scalarsIn(folder).map((s) => (s as unknown[]).slice(0, 2))).toEqual([
      ['a', 0],
      ['a', 2],
      ['a', 4],
      ['b', 1],
      ['b', 3],
    ]);
  });

  it('wants a truth value', () => {
    expect(() => summary.recordIf(1 as never)).toThrow('expected a boolean');
    expect(() => summary.recordIf(constant([true, false]))).toThrow('shape [2]');
    summary.createFileWriter(temporaryFolder('summary')).asDefault(() =>
      summary.recordIf(
        () => 1 as never,
        () => expect(() => summary.scalar('a', 1, { step: 1 })).toThrow('expected a boolean'),
      ),
    );
  });
});

describe('arguments', () => {
  it('are checked where something would be written', () => {
    const writer = summary.createFileWriter(temporaryFolder('summary'));
    writer.asDefault(1, () => {
      for (const [call, message] of [
        [() => summary.scalar('a', [1, 2]), 'expected a scalar, got the shape [2]'],
        [() => summary.scalar('a', 'text'), 'got strings'],
        [() => summary.scalar('a', 1, 5 as never), 'write { step: 5 }'],
        [
          () => summary.scalar('a', 1, { stpe: 1 } as never),
          "'stpe' is not an option; the options are name, data, step, description",
        ],
        [() => summary.image('a', [[1]], { max_outputs: 1 } as never), "'max_outputs' is not an option"],
        [() => summary.scalar(5 as never, 1), 'expected a name'],
        [() => summary.histogram('a', 'x'), 'got strings'],
        [
          () => summary.histogram('a', [1], { buckets: -1 }),
          'buckets must be an integer of at least 0, got -1',
        ],
        [() => summary.text('a', 5), 'expected strings, got float32'],
        [() => summary.image('a', [[1]]), 'got the shape [1, 1]'],
        [() => summary.image('a', constant(0, 'float32', { shape: [1, 2, 2, 5] })), '1 to 4 channels, got 5'],
        [() => summary.image('a', constant(true, 'bool', { shape: [1, 2, 2, 1] })), 'got bool'],
        [
          () => summary.image('a', constant(new Float32Array(0), 'float32', { shape: [1, 0, 2, 1] })),
          'no pixels',
        ],
        [
          () => summary.image('a', constant(0, 'float32', { shape: [1, 2, 2, 1] }), { maxOutputs: -1 }),
          'maxOutputs must be an integer of at least 0, got -1',
        ],
        [() => summary.audio('a', [[[0]]], 0), 'sample rate is 0'],
        [() => summary.audio('a', [[0]], 8000), 'got the shape [1, 1]'],
        [() => summary.audio('a', constant([[[0]]], 'int32'), 8000), 'got int32'],
        [() => summary.audio('a', [[[0]]], 8000, { encoding: 'mp3' as never }), "unknown encoding 'mp3'"],
        [() => summary.graph({} as never), 'data must be given'],
        [() => summary.hparams({ a: [1] as never }), "hparams['a'] is a object"],
        [() => summary.hparams({}, { trialId: 5 as never }), 'trialId must be a string, got 5'],
      ] as const) {
        expect(call).toThrow(InvalidArgumentError);
        expect(call).toThrow(message);
      }
    });
    expect(() => new summary.IntInterval(1.5, 2)).toThrow('not an integer');
    expect(() => new summary.RealInterval(2, 1)).toThrow('in order');
    expect(() => new summary.Discrete([])).toThrow('expected numbers');
    expect(() => new summary.Discrete([1, 'a'])).toThrow("'a' is not a number");
    expect(() => new summary.HParam('a', 5 as never)).toThrow('a domain must be');
  });

  it('without a writer only the step is', () => {
    const never = vi.fn(() => 1);
    expect(summary.write('a', never)).toBe(false);
    expect(summary.image('a', [1])).toBe(false);
    expect(never).not.toHaveBeenCalled();
  });

  it('empty names become the kind, below name scopes', () => {
    const folder = temporaryFolder('summary');
    summary
      .createFileWriter(folder)
      .asDefault(1, () => nameScope('a', () => nameScope('b', () => summary.scalar('', 1))));
    expect(scalarsIn(folder)).toEqual([['a/b/scalar_summary', 1, 1]]);
  });

  it('none, of batches without clips and images', () => {
    const folder = temporaryFolder('summary');
    summary.createFileWriter(folder).asDefault(1, () => {
      summary.audio('a', constant(new Float32Array(0), 'float32', { shape: [0, 4, 1] }), 8000);
      summary.image('b', constant(new Float32Array(0), 'float32', { shape: [0, 4, 2, 1] }));
      summary.histogram('c', []);
    });
    const [, a, b, c] = [...summary.readEvents(folder)];
    expect(a).toMatchObject({ kind: 'audio', clips: [] });
    expect(b).toMatchObject({ kind: 'image', width: 2, height: 4, images: [] });
    expect(c).toMatchObject({ kind: 'histogram' });
  });
});

it('a full queue that cannot be written is kept, and written later in whole', () => {
  const folder = temporaryFolder('summary');
  const writer = summary.createFileWriter(folder, { maxQueue: 1 });
  const fs = process.getBuiltinModule('node:fs');
  const { writeSync } = fs;
  let calls = 0;
  // A disk that takes five bytes and is full then.
  fs.writeSync = ((fd: number, data: Uint8Array, at: number) => {
    if (++calls > 1) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    return writeSync(fd, data, at, 5);
  }) as typeof writeSync;
  try {
    writer.asDefault(() => {
      summary.scalar('a', 0, { step: 0 });
      expect(() => summary.scalar('a', 1, { step: 1 })).toThrow('no space');
      fs.writeSync = writeSync;
      expect(readFileSync([...summary.readEvents(folder)][0]!.file).length).toBeGreaterThan(5);
      summary.scalar('a', 2, { step: 2 });
    });
  } finally {
    fs.writeSync = writeSync;
  }
  expect(scalarsIn(folder).map((s) => (s as unknown[])[1])).toEqual([0, 1, 2]);
});

it('a writer that nobody holds any more closes its file', async () => {
  const fs = process.getBuiltinModule('node:fs');
  const close = vi.spyOn(fs, 'closeSync');
  try {
    for (let i = 0; i < 20; i++)
      summary
        .createFileWriter(temporaryFolder('summary'))
        .asDefault(() => summary.scalar('a', 1, { step: i }));
    const gc = globalThis.gc as () => void;
    for (let turn = 0; turn < 50 && close.mock.calls.length < 10; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      gc();
    }
    expect(close.mock.calls.length).toBeGreaterThanOrEqual(10);
  } finally {
    close.mockRestore();
  }
});
