// Settings of devices, errors, averages, and what tests ask: names of TensorFlow that are no ops.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { placement } from '@eagre/backend';
import { determinism } from '@eagre/core/internal';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../testing/src/temporary.ts';
import * as tf from '../src/index.ts';

const { InvalidArgumentError, NotFoundError, UnimplementedError, FailedPreconditionError } = tf.errors;
const golden = JSON.parse(
  readFileSync(new URL('../golden/moving-average.json', import.meta.url), 'utf8'),
) as Record<'plain' | 'counted' | 'theoretical' | 'numerical', number[][]>;

describe('tf.errors', () => {
  test('codes are those of errors', () => {
    const codes = Object.values(tf.errors).filter((value) => typeof value === 'number');
    expect(codes).toHaveLength(17);
    for (const [name, cls] of Object.entries(tf.errors)) {
      if (typeof cls !== 'function' || name === 'EagreError' || name === 'OpError') continue;
      const error = new (cls as new (m: string) => InstanceType<typeof tf.errors.EagreError>)('m');
      expect(error).toBeInstanceOf(tf.errors.OpError);
      expect(error.name).toBe(name);
      expect(error.errorCode).toBe((tf.errors as unknown as Record<string, number>)[error.code]);
    }
    expect([tf.errors.OK, tf.errors.INVALID_ARGUMENT, tf.errors.UNAUTHENTICATED]).toEqual([0, 3, 16]);
  });

  test('are thrown', () => {
    const folder = temporaryFolder('errors');
    for (const name of ['a', 'b']) writeFileSync(join(folder, name), '');
    expect(() => tf.io.gfile.copy(join(folder, 'a'), join(folder, 'b'))).toThrow(
      tf.errors.AlreadyExistsError,
    );
    const f = tf.function((x: tf.Tensor) => (Number(x.item()) > 0 ? x : x.neg()));
    expect(() => f(tf.constant(1))).toThrow(tf.errors.OperatorNotAllowedInGraphError);
  });
});

describe('tf.config', () => {
  const [cpu] = tf.config.listPhysicalDevices('CPU') as [tf.config.PhysicalDevice];
  afterEach(() => {
    placement.policy = 'silent';
    determinism.enabled = false;
  });

  test('visible devices', () => {
    expect(tf.config.getVisibleDevices()).toEqual([cpu]);
    tf.config.setVisibleDevices([], 'GPU');
    tf.config.setVisibleDevices(cpu);
    tf.config.experimental.setVisibleDevices([cpu], 'CPU');
    expect(tf.config.listLogicalDevices().map((d) => d.name)).toEqual(['/device:CPU:0']);
    expect(() => tf.config.setVisibleDevices([])).toThrow('the CPU cannot be hidden');
    expect(() => tf.config.setVisibleDevices(cpu, 'GPU')).toThrow('is no GPU');
    expect(() => tf.config.setVisibleDevices(['/cpu:0'] as never)).toThrow(InvalidArgumentError);
    expect(tf.config.getVisibleDevices()).toEqual([cpu]);
  });

  test('memory', () => {
    const { getMemoryInfo, getMemoryUsage, resetMemoryStats, getMemoryGrowth, setMemoryGrowth } =
      tf.config.experimental;
    resetMemoryStats('CPU:0');
    const before = getMemoryInfo('CPU:0');
    expect(before.peak).toBe(before.current);
    const x = tf.zeros([1024, 1024]);
    const during = getMemoryInfo('/device:CPU:0');
    expect(during.current).toBeGreaterThanOrEqual(before.current + 2 ** 22);
    x.dispose();
    const after = getMemoryInfo('CPU:0');
    expect(after.current).toBeLessThan(during.current);
    expect(after.peak).toBeGreaterThanOrEqual(during.current);
    expect(getMemoryUsage('CPU:0')).toBe(after.current);
    expect(() => getMemoryInfo('GPU:9')).toThrow(NotFoundError);
    expect(getMemoryGrowth(cpu)).toBe(true);
    setMemoryGrowth(cpu, true);
    expect(() => setMemoryGrowth(cpu, false)).toThrow(UnimplementedError);
    expect(tf.config.experimental.getDeviceDetails(cpu).deviceName).toContain('native');
  });

  test('what ops do with tensors of other devices', () => {
    tf.config.setLogicalDeviceConfiguration(cpu, [
      new tf.config.LogicalDeviceConfiguration(),
      new tf.config.LogicalDeviceConfiguration(),
    ]);
    try {
      const there = tf.device('/cpu:1', () => tf.ones([2]));
      const add = (): tf.Tensor => tf.device('/cpu:0', () => tf.ones([2]).add(there));
      const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
      expect(add().array()).toEqual([2, 2]);
      expect(warn).not.toHaveBeenCalled();
      tf.config.experimental.setDevicePolicy('warn');
      expect(add().array()).toEqual([2, 2]);
      expect(warn.mock.calls[0]?.[0]).toContain('is on /device:CPU:1');
      warn.mockRestore();
      tf.config.experimental.setDevicePolicy('explicit');
      expect(add).toThrow(InvalidArgumentError);
      expect(tf.device('/cpu:0', () => tf.ones([2]).add(tf.identity(there))).array()).toEqual([2, 2]);
      expect(tf.config.experimental.getDevicePolicy()).toBe('explicit');
      tf.config.experimental.setDevicePolicy('default');
      expect(tf.config.experimental.getDevicePolicy()).toBe('silent');
      expect(() => tf.config.experimental.setDevicePolicy('loud' as never)).toThrow(InvalidArgumentError);
    } finally {
      tf.config.setLogicalDeviceConfiguration(cpu, [new tf.config.LogicalDeviceConfiguration()]);
    }
  });

  test('determinism', async () => {
    tf.config.experimental.enableOpDeterminism();
    expect(() => tf.random.Generator.fromNonDeterministicState()).toThrow(FailedPreconditionError);
    const slowFirst = tf.data.Dataset.range(3).map(
      async (x) => {
        await new Promise((resolve) => setTimeout(resolve, Number(x.item()) === 0 ? 20 : 0));
        return x;
      },
      { numParallelCalls: 3, deterministic: false },
    );
    expect((await slowFirst.toArray()).map((x) => Number(x.item()))).toEqual([0, 1, 2]);
    expect(tf.config.experimental.tensorFloat32ExecutionEnabled()).toBe(true);
    tf.config.experimental.enableTensorFloat32Execution(false);
    expect(tf.config.experimental.tensorFloat32ExecutionEnabled()).toBe(false);
    tf.config.experimental.enableTensorFloat32Execution(true);
    expect(() => tf.config.experimental.enableTensorFloat32Execution(1 as never)).toThrow(
      tf.errors.InvalidArgumentError,
    );
  });
});

describe('tf.train', () => {
  const averages = (counted: boolean, trace: boolean): unknown[] => {
    const v = new tf.Variable([1, -2]);
    const step = new tf.Variable(0);
    const ema = new tf.train.ExponentialMovingAverage(0.9, counted ? step : null);
    const advance = (): void => {
      v.assignAdd([1, 0.5]);
      ema.apply([v]);
      step.assignAdd(1);
    };
    const run = trace ? tf.function(advance as never) : advance;
    return Array.from({ length: 4 }, () => {
      (run as () => void)();
      return ema.average(v)?.read().array();
    });
  };
  test.each([
    ['plain', false],
    ['plain', true],
    ['counted', false],
    ['counted', true],
  ] as const)('averages, %s, traced: %s', (kind, trace) => {
    const found = averages(kind === 'counted', trace) as number[][];
    if (trace) {
      // The average is made while the function is traced: it begins at the value before the first run.
      let average = [1, -2];
      const expected = found.map((_, i) => {
        const decay = kind === 'counted' ? Math.min(0.9, (1 + i) / (10 + i)) : 0.9;
        const value = [2 + i, -1.5 + 0.5 * i];
        return (average = average.map((a, k) => a - (1 - decay) * (a - (value[k] as number))));
      });
      new tf.test.TestCase().assertAllClose(found, expected);
      return;
    }
    new tf.test.TestCase().assertAllClose(found, golden[kind]);
  });
  test('averages refuse what is no variable of floats', () => {
    const ema = new tf.train.ExponentialMovingAverage({ decay: 0.5, name: 'ema' });
    expect(ema.average(new tf.Variable(1))).toBe(null);
    expect(() => ema.apply([tf.constant(1)] as never)).toThrow(InvalidArgumentError);
    expect(() => ema.apply([new tf.Variable(1, { dtype: 'int32' })])).toThrow(InvalidArgumentError);
    expect(() => new tf.train.ExponentialMovingAverage([1, 2])).toThrow('must be a scalar');
  });

  test('views of checkpoints', () => {
    const model = { a: new tf.Variable(1), more: [new tf.Variable(2)] };
    const path = new tf.train.Checkpoint(model).write(join(temporaryFolder('view'), 'c')) as string;
    const view = new tf.train.CheckpointView(path);
    expect([...view.children(0).keys()].sort()).toContain('a');
    expect(view.descendants()[0]).toBe(0);
    const other = { a: new tf.Variable(1), b: new tf.Variable(3) };
    const [matched, inFile, inProgram] = view.diff(new tf.train.TrackableView(other));
    expect([...matched.values()]).toEqual([other, other.a]);
    expect(inFile.length).toBeGreaterThanOrEqual(2);
    expect(inProgram).toEqual([other.b]);
    expect([...new tf.train.TrackableView(other).children(other)]).toEqual([
      ['a', other.a],
      ['b', other.b],
    ]);
    expect(() => view.children(99)).toThrow(InvalidArgumentError);
    expect(() => new tf.train.TrackableView({})).toThrow(InvalidArgumentError);
    expect(() => new tf.train.CheckpointView('/no/such/checkpoint')).toThrow(NotFoundError);
  });

  test('values of the program’s own', () => {
    class Progress extends tf.train.experimental.PythonState {
      seen = 0;
      override serialize(): string {
        return String(this.seen);
      }
      override deserialize(text: string): void {
        this.seen = Number(text);
      }
    }
    const progress = new Progress();
    progress.seen = 7;
    const path = new tf.train.Checkpoint({ progress }).write(join(temporaryFolder('state'), 'c')) as string;
    const restored = new Progress();
    new tf.train.Checkpoint({ progress: restored }).restore(path);
    expect(restored.seen).toBe(7);
    expect(tf.train.listVariables(path).map(([name]) => name)).toContain('progress/.ATTRIBUTES/py_state');
  });
});

describe('tf.test', () => {
  const t = new tf.test.TestCase();
  const fails = (fn: () => unknown, message: string): void => {
    expect(fn).toThrow(InvalidArgumentError);
    expect(fn).toThrow(message);
  };
  test('assertions hold or fail', () => {
    t.assertAllClose([1, 2], tf.constant([1, 2 + 1e-7]));
    t.assertAllClose({ x: [1], y: tf.constant([Number.NaN]) }, { x: [1], y: [Number.NaN] });
    fails(() => t.assertAllClose([1, 2], [1, 3]), 'element 1: 2 and 3');
    fails(() => t.assertAllClose([1, 2], [1]), 'the shapes differ');
    fails(() => t.assertAllClose({ x: [1] }, { y: [1] }), 'has the keys');
    fails(() => t.assertAllClose([1], [2], { msg: 'loss' }), 'loss');
    t.assertAllCloseAccordingToType(tf.constant([1], 'float16'), [1.0009]);
    fails(() => t.assertAllCloseAccordingToType([1], [1.001]), 'not close');
    fails(() => t.assertAllCloseAccordingToType([1], [1.001]), 'TestCase.assertAllCloseAccordingToType');
    t.assertNotAllClose([1], [2]);
    t.assertNotAllClose({ x: [1] }, { y: [1] });
    fails(() => t.assertNotAllClose([1], [1]), 'all elements are close');
    t.assertAllEqual(tf.constant(['a']), ['a']);
    t.assertAllEqual(tf.constant([1n, 2n]), [1, 2]);
    fails(() => t.assertAllEqual([1, 2], [1, 2.5]), 'element 1');
    t.assertNotAllEqual([1], [2]);
    t.assertNotAllEqual([[1]], [1]);
    // What cannot be compared is neither.
    const ragged = tf.ragged.constant([[1], []]) as never;
    for (const method of [
      'assertAllClose',
      'assertNotAllClose',
      'assertAllEqual',
      'assertNotAllEqual',
    ] as const)
      fails(() => t[method](ragged, [1]), `TestCase.${method}: `);
    fails(() => t.assertNotAllClose([1, 2], (() => 0) as never), 'expected');
    fails(() => t.assertNotAllEqual([1], [1]), 'all elements are equal');
    t.assertAllGreater([2, 3], 1);
    fails(() => t.assertAllGreater([2, 3], 2), 'greater than 2');
    t.assertAllGreaterEqual([2, 3], 2);
    fails(() => t.assertAllGreaterEqual([1], 2), 'at least');
    t.assertAllLess([1], 2);
    fails(() => t.assertAllLess([2], 2), 'less than');
    t.assertAllLessEqual([2], 2);
    fails(() => t.assertAllLessEqual([3], 2), 'at most');
    t.assertAllInRange([0, 1], 0, 1);
    fails(() => t.assertAllInRange([0, 1], 0, 1, { openUpperBound: true }), 'open');
    t.assertAllInSet([1, 2], [1, 2, 3]);
    fails(() => t.assertAllInSet([4], [1, 2, 3]), 'in {1, 2, 3}');
    t.assertNear(1, tf.constant(1.01), 0.1);
    fails(() => t.assertNear(1, 2, 0.1), 'not within');
    t.assertArrayNear([1], [1.01], 0.1);
    fails(() => t.assertArrayNear([1], [1, 2], 0.1), '1 and 2 items');
    t.assertNDArrayNear([[1]], [[1.01]], 0.1);
    fails(() => t.assertNDArrayNear([3, 4], [0, 0], 5), 'the norm of the difference is 5');
    t.assertDTypeEqual(tf.constant(1, 'int32'), 'int32');
    fails(() => t.assertDTypeEqual([1], 'int32'), 'float32');
    t.assertShapeEqual([[1]], [[2]]);
    fails(() => t.assertShapeEqual([1], [[1]]), 'the shapes differ');
    t.assertDeviceEqual('/cpu:0', '/device:CPU:0');
    fails(() => t.assertDeviceEqual('/cpu:0', '/cpu:1'), 'is not');
    t.assertRaisesOpError('Reshape', () => tf.reshape([1], [2]));
    t.assertRaisesOpError(
      (error) => error instanceof InvalidArgumentError,
      () => tf.reshape([1], [2]),
    );
    fails(() => t.assertRaisesOpError('x', () => 1), 'nothing was thrown');
    fails(() => t.assertRaisesOpError(/never/, () => tf.reshape([1], [2])), 'another error');
    expect(tf.test.isGpuAvailable()).toBe(tf.test.gpuDeviceName() !== '');
  });

  test('graphs are one', () => {
    const graphDef = (factor: number, name = 'y'): Uint8Array => {
      const graph = new tf.Graph();
      graph.asDefault(() => {
        const x = tf.compat.v1.placeholder('float32', [2], { name: 'x' });
        return tf.nameScope(name, () => x.mul(factor));
      });
      return graph.asGraphDef();
    };
    tf.test.assertEqualGraphDef(graphDef(2), graphDef(2));
    fails(() => tf.test.assertEqualGraphDef(graphDef(2), graphDef(3)), 'has attributes');
    fails(() => tf.test.assertEqualGraphDef(graphDef(2), graphDef(2, 'z')), 'is expected, and not there');
    fails(() => tf.test.assertEqualGraphDef({ node: [] }, graphDef(2)), 'is there, and not expected');
    fails(() => tf.test.assertEqualGraphDef(3 as never, graphDef(2)), 'must be a GraphDef');
    fails(() => tf.test.assertEqualGraphDef(Uint8Array.of(255, 255), graphDef(2)), 'is no GraphDef');
  });

  test('gradients by tape and by differences', () => {
    const x = [
      [0.5, -1],
      [2, 0.25],
    ];
    const [theoretical, numerical] = tf.test.computeGradient((a, b) => a.matmul(b).tanh(), [x, [[1], [3]]]);
    t.assertAllClose([...theoretical], golden.theoretical as never, { rtol: 1e-5, atol: 1e-6 });
    t.assertAllClose([...numerical], golden.numerical as never, { rtol: 1e-3, atol: 2e-4 });
    const [[none]] = tf.test.computeGradient(() => tf.constant([1, 2]), [[1, 2, 3]]) as never as [
      [tf.Tensor],
    ];
    expect(none.array()).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ]);
    fails(() => tf.test.computeGradient((a) => a, 3 as never), 'a list of the arguments');
    fails(() => tf.test.computeGradient((a) => a, [tf.constant(1, 'int32')]), 'must be of floats');
    fails(() => tf.test.computeGradient((a) => a, [1], { delta: 0 }), 'delta must be positive');
  });
});

describe('names at the top', () => {
  test('devices by their parts', () => {
    const spec = tf.DeviceSpec.fromString('/job:worker/task:1/device:gpu:0');
    expect(String(spec)).toBe('/job:worker/task:1/device:GPU:0');
    expect([spec.job, spec.replica, spec.task, spec.deviceType, spec.deviceIndex]).toEqual([
      'worker',
      null,
      1,
      'GPU',
      0,
    ]);
    expect(String(spec.makeMergedSpec(new tf.DeviceSpec({ deviceIndex: 3 })))).toBe(
      '/job:worker/task:1/device:GPU:3',
    );
    expect(String(spec.replace({ job: null, task: null }))).toBe('/device:GPU:0');
    expect(String(new tf.DeviceSpec({ deviceType: 'cpu' }))).toBe('/device:CPU:*');
    expect(
      tf.device(String(new tf.DeviceSpec({ deviceType: 'CPU', deviceIndex: 0 })), () => tf.ones([1]).device),
    ).toBe('/device:CPU:0');
    expect(() => tf.DeviceSpec.fromString('/gpu:x')).toThrow(InvalidArgumentError);
    expect(() => tf.DeviceSpec.fromString('/gpu:0/cpu:0')).toThrow('more than one device');
    expect(() => new tf.DeviceSpec({ task: -1 })).toThrow(InvalidArgumentError);
  });

  test('classes of one’s own become tensors', () => {
    class Celsius {
      readonly degrees: number;
      constructor(degrees: number) {
        this.degrees = degrees;
      }
    }
    expect(() => tf.add(new Celsius(20) as never, 1)).toThrow(InvalidArgumentError);
    tf.registerTensorConversionFunction(Celsius, (c: Celsius, { dtype }) =>
      tf.constant(c.degrees, dtype ?? 'float32'),
    );
    expect(tf.add(new Celsius(20) as never, 1).item()).toBe(21);
    expect(tf.convertToTensor(new Celsius(3) as never, 'int32').dtype).toBe('int32');
    class Never {}
    tf.registerTensorConversionFunction([Never], () => null);
    expect(() => tf.add(new Never() as never, 1)).toThrow('expected a tensor');
    class Wrong {}
    tf.registerTensorConversionFunction(Wrong, () => 3 as never);
    expect(() => tf.square(new Wrong() as never)).toThrow('must return a tensor or null');
    for (const cls of [Object, tf.Tensor, 3])
      expect(() => tf.registerTensorConversionFunction(cls as never, () => null)).toThrow(
        'a class of your own',
      );
  });

  test('specs, scopes, graphs and versions', () => {
    expect(String(tf.typeSpecFromValue([[1, 2]]))).toBe('TensorSpec(shape=[1, 2], dtype=float32)');
    expect(String(tf.typeSpecFromValue(new tf.Variable(1)))).toContain('shape=[]');
    expect(tf.typeSpecFromValue(tf.ragged.constant([[1], []]))).toBeInstanceOf(tf.RaggedTensorSpec);
    expect(tf.typeSpecFromValue(tf.experimental.Optional.fromValue(1))).toBeInstanceOf(tf.OptionalSpec);
    class Wrapped extends tf.experimental.ExtensionType.of({ x: tf.Tensor }) {}
    for (const value of [
      1,
      tf.ragged.constant([[1], []]),
      tf.experimental.Optional.fromValue(1),
      new Wrapped({ x: 1 }),
    ])
      expect(tf.typeSpecFromValue(value)).toBeInstanceOf(tf.TypeSpec);
    expect(tf.typeSpecFromValue(tf.data.Dataset.range(2))).toBeInstanceOf(tf.data.DatasetSpec);
    expect(tf.typeSpecFromValue(tf.data.Dataset.range(2).iterator())).toBeInstanceOf(tf.data.IteratorSpec);
    expect(() => tf.typeSpecFromValue(() => 0)).toThrow(InvalidArgumentError);
    expect(tf.getCurrentNameScope()).toBe('');
    expect(tf.nameScope('a', () => tf.nameScope('b', () => tf.getCurrentNameScope()))).toBe('a/b');
    expect(tf.Graph).toBe(tf.compat.v1.Graph);
    expect(tf.importGraphDef).toBe(tf.compat.v1.importGraphDef);
    expect(tf.version.GRAPH_DEF_VERSION).toBe(2474);
    const f = tf.function((x: tf.Tensor) => x.mul(2));
    const { Callable, ConcreteFunction, GenericFunction } = tf.types.experimental;
    expect([f instanceof GenericFunction, f instanceof Callable, (() => 0) instanceof Callable]).toEqual([
      true,
      true,
      false,
    ]);
    expect(f.getConcreteFunction(new tf.TensorSpec([]))).toBeInstanceOf(ConcreteFunction);
    expect(tf.autograph.experimental.doNotConvert).toBe(tf.autograph.doNotConvert);
  });
});
