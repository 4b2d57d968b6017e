// CUDA on the GPU of this machine. Without one these tests skip themselves; with EAGRE_FAKE_GPU=1 they run on the fake driver, where each kernel costs
// a compilation. `pnpm test:gpu` runs them without vitest, also under compute-sanitizer; `pnpm pack:gpu` packs them for a bare machine.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import type { NumericDType } from '@eagre/backend';
import * as core from '@eagre/core';
import { constant, device, memory, type Tensor, Variable } from '@eagre/core';
import { enableTensorFloat32Execution, execute, inContext, listOps, type Op } from '@eagre/core/internal';
import { tfFunction } from '@eagre/graph';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { conformanceSuite } from './conformance-suite.ts';
import { gradientSuite } from './gradient-suite.ts';
import { tracedSuite } from './traced-suite.ts';
import { generator } from './values.ts';

if (process.env.EAGRE_FAKE_GPU) await import('../../backend-cuda/src/testing/fake-cublaslt.ts');
const { cudaBackend, cudaUnavailable } = await import('@eagre/backend-cuda');
// What nobody places is computed by the processor here, to compare with.
device('/cpu:0');
type GpuBackend = import('@eagre/backend-cuda').GpuBackend;
const backend = cudaBackend as GpuBackend;
const library = cudaBackend?.productLibrary;
console.log(
  cudaBackend === undefined
    ? `There is no GPU, and nothing is tested on one: ${cudaUnavailable}`
    : `Tested on: ${backend.description}; products: ${library ?? 'by kernels alone, as cuBLASLt is not found'}`,
);

// What runs on the CPU instead is said once for each kernel, and there are many here.
const { warn } = console;
console.warn = (...said: unknown[]) => {
  if (!/it runs on the host/.test(String(said[0]))) warn(...said);
};

/** The driver of the tests computes on the processor, where large products take minutes. */
const isFake = cudaBackend !== undefined && / fake GPU /.test(backend.description);

const onGpu = <T>(fn: () => T): T => device('/gpu:0', fn);

/** Numbers in -0.5 … 0.5, the same on each device. */
function numbers(shape: readonly number[], seed: number, dtype: NumericDType = 'float32'): Tensor {
  const random = generator(seed);
  const size = shape.reduce((a, b) => a * b, 1);
  return constant(
    Float32Array.from({ length: size }, () => random() - 0.5),
    { shape: [...shape] },
  ).cast(dtype);
}

/** The largest difference, relative to the largest number. */
function distance(got: ArrayLike<number | bigint>, expected: ArrayLike<number | bigint>): number {
  expect(got.length).toBe(expected.length);
  let [off, scale] = [0, 1e-30];
  for (let i = 0; i < got.length; i++) {
    const difference = Math.abs(Number(got[i]) - Number(expected[i]));
    // Not a number counts too.
    if (!(difference <= off)) off = difference;
    scale = Math.max(scale, Math.abs(Number(expected[i])));
  }
  return off / scale;
}

describe.skipIf(cudaBackend === undefined)('the GPU', () => {
  afterEach(() => {
    core.setSoftDevicePlacement(true);
    enableTensorFloat32Execution(true);
  });

  it('is a device', () => {
    expect(core.listPhysicalDevices('GPU')[0]).toEqual({
      name: '/physical_device:GPU:0',
      deviceType: 'GPU',
    });
    expect(onGpu(() => core.ones([2, 3]).add(1)).device).toBe('/device:GPU:0');
    expect(inContext({ backend: null }, () => core.ones([2, 3]).add(1)).device).toBe('/device:GPU:0');
  });

  it.each([
    'float16',
    'bfloat16',
    'float32',
    'float64',
    'int8',
    'uint8',
    'int16',
    'uint16',
    'int32',
    'uint32',
    'int64',
    'uint64',
    'bool',
  ] as const)('takes and gives back the bytes of %s', async (dtype) => {
    for (const size of [0, 1, 3, 255, 65_537, isFake ? 70_001 : 3_000_001]) {
      const x = constant(
        Int32Array.from({ length: size }, (_, i) => i % 101),
        'int32',
      ).cast(dtype);
      const y = onGpu(() => core.identity(core.reshape(x, [size, 1])));
      expect(distance((await y.read()) as never, x.data() as never)).toBe(0);
      expect(distance(y.data() as never, x.data() as never)).toBe(0);
    }
  });

  it('adds up what many blocks of threads do', () => {
    const n = isFake ? 70_000 : 40_000_000;
    const x = onGpu(() => core.ones([n]).mul(0.5));
    expect(x.sum().item()).toBe(n / 2);
    expect(x.add(1).max().item()).toBe(1.5);
    expect([
      ...x
        .reshape([100, n / 100])
        .sum(1)
        .data(),
    ]).toEqual(new Array(100).fill(n / 200));
  });

  it('tells of an index out of range at the next read, and goes on', () => {
    const x = onGpu(() => constant([1, 2, 3]));
    expect(() => onGpu(() => core.gather(x, constant([0, 7], 'int32'))).data()).toThrow(core.OutOfRangeError);
    expect(onGpu(() => core.gather(x, constant([2, 0], 'int32'))).array()).toEqual([3, 1]);
  });

  describe.skipIf(library === undefined)('products by cuBLASLt', () => {
    type Kind = 'float32' | 'tf32' | 'float16' | 'bfloat16' | 'float64';
    const limits = {
      float32: 2 ** -18,
      tf32: 2 ** -9,
      float16: 2 ** -9,
      bfloat16: 2 ** -6,
      float64: 2 ** -46,
    };
    const multiply = (inputs: readonly Tensor[], attrs: Readonly<Record<string, boolean | number>>): Tensor =>
      execute(listOps().get('_FusedMatMul') as Op, inputs, {
        transposeA: false,
        transposeB: false,
        activation: 0,
        ...attrs,
      })[0];
    /** Eagerly, the same bits again, and traced: as a graph from the second run on, with other memory in the third. */
    const check = (kind: Kind, shapes: readonly (readonly number[])[], attrs = {}): void => {
      enableTensorFloat32Execution(kind === 'tf32');
      const dtype = kind === 'tf32' ? 'float32' : kind;
      const inputs = shapes.map((shape, i) => numbers(shape, i + 1, dtype));
      const doubles = inputs.map((x) => x.cast('float64'));
      const label = `${kind} ${JSON.stringify([shapes, attrs])}`;
      const expected = multiply(doubles, attrs).data() as Float64Array;
      const read = (y: Tensor): Float64Array => device('/cpu:0', () => y.cast('float64').data()) as never;
      const first = read(onGpu(() => multiply(inputs, attrs)));
      expect(distance(first, expected), label).toBeLessThan(limits[kind]);
      expect(read(onGpu(() => multiply(inputs, attrs))), label).toEqual(first);
      const rest = inputs.slice(1);
      const four = tfFunction((...given: Tensor[]) =>
        [0, 1, 2, 3].map((i) => multiply([given[i], ...given.slice(4)], attrs)),
      );
      const lefts = onGpu(() => [0, 1, 2, 3, 4, 5].map(() => core.identity(inputs[0])));
      for (const start of [0, 0, 1, 2, 0])
        for (const y of onGpu(() => four(...lefts.slice(start, start + 4), ...rest)) as Tensor[])
          expect(distance(read(y), expected), `${label}, traced`).toBeLessThan(limits[kind]);
    };
    const large = isFake
      ? []
      : [[256, 1024, 512] as const, [1023, 257, 511] as const, [128, 4096, 128] as const];

    for (const kind of ['float32', 'tf32', 'float16', 'bfloat16', 'float64'] as const) {
      it(`${kind}, transposed or not`, () => {
        for (const [m, k, n] of [[16, 16, 16], [33, 131, 17], ...large] as const)
          for (const transposeA of [false, true])
            for (const transposeB of [false, true])
              check(kind, [transposeA ? [k, m] : [m, k], transposeB ? [n, k] : [k, n]], {
                transposeA,
                transposeB,
              });
      });

      it(`${kind}, of batches, with a bias and relu`, () => {
        for (const activation of [0, 1]) {
          check(kind, [[40, 48], [48, 24], [24]], { activation });
          check(kind, [[33, 131], [131, 17], [17]], { activation, transposeB: false });
          check(
            kind,
            [
              [24, 48],
              [48, 40],
            ],
            { activation },
          );
        }
        for (const [transposeA, transposeB] of [
          [false, false],
          [true, true],
        ]) {
          const a = transposeA ? [40, 24] : [24, 40];
          const b = transposeB ? [18, 40] : [40, 18];
          check(
            kind,
            [
              [6, ...a],
              [6, ...b],
            ],
            { transposeA, transposeB },
          );
          check(kind, [[6, ...a], b], { transposeA, transposeB });
          check(kind, [a, [6, ...b]], { transposeA, transposeB });
          check(
            kind,
            [
              [2, 1, ...a],
              [3, ...b],
            ],
            { transposeA, transposeB },
          );
        }
      });
    }
  });

  it.skipIf(library === undefined)('convolutions of one tap by cuBLASLt', () => {
    enableTensorFloat32Execution(false);
    for (const [dtype, limit] of [
      ['float32', 2 ** -16],
      ['bfloat16', 2 ** -5],
    ] as const) {
      const [x, w] = [numbers([2, 7, 7, 24], 1, dtype), numbers([1, 1, 24, 18], 2, dtype)];
      const made = (inputs: readonly Tensor[]): Float64Array[] => {
        const tape = new GradientTape();
        const y = tape.record(() => {
          tape.watch(inputs);
          return core.nn.relu(core.nn.conv2d(inputs[0], inputs[1], { padding: 'same' } as never)).square();
        });
        const all = [y, ...(tape.gradient(y, inputs) as Tensor[])];
        return all.map((each) => device('/cpu:0', () => each.cast('float64').data()) as Float64Array);
      };
      const expected = made([x, w].map((each) => each.cast('float64')));
      for (const [i, each] of onGpu(() => made([x, w])).entries())
        expect(distance(each, expected[i]), `${dtype} ${i}`).toBeLessThan(limit);
    }
  });

  describe('products on tensor cores', () => {
    beforeAll(() => backend.useProductLibrary(false));
    afterAll(() => backend.useProductLibrary(true));
    const sizes: readonly (readonly [number, number, number])[] = isFake
      ? [[40, 48, 24]]
      : [
          [16, 16, 16],
          [33, 17, 131],
          [128, 4096, 128],
          [1000, 1000, 1000],
          [2048, 1024, 1536],
        ];
    // Inputs are rounded before they are multiplied, on both devices; sums are of float32. TensorFloat-32 rounds them to 11 bits besides.
    const limits = { float32: 2 ** -18, tf32: 2 ** -9, float16: 2 ** -9, bfloat16: 2 ** -6 };

    for (const kind of ['float32', 'tf32', 'float16', 'bfloat16'] as const)
      it(kind, () => {
        enableTensorFloat32Execution(kind === 'tf32');
        const dtype = kind === 'tf32' ? 'float32' : kind;
        for (const [m, k, n] of sizes)
          for (const transposeA of [false, true])
            for (const transposeB of [false, true]) {
              const a = numbers(transposeA ? [k, m] : [m, k], 1, dtype);
              const b = numbers(transposeB ? [n, k] : [k, n], 2, dtype);
              const product = (): ArrayLike<number> =>
                core.matmul(a, b, { transposeA, transposeB }).cast('float32').data() as Float32Array;
              const expected = core
                .matmul(a.cast('float64'), b.cast('float64'), { transposeA, transposeB })
                .data() as Float64Array;
              expect(
                distance(onGpu(product), expected),
                `${m} · ${k} · ${n}, ${transposeA}, ${transposeB}`,
              ).toBeLessThan(limits[kind]);
            }
      });

    it('of batches, with a bias and relu', () => {
      for (const [m, k, n] of [
        [24, 40, 16],
        [72, 200, 136],
      ]) {
        const [a, b] = [numbers([2, 1, m, k], 1, 'bfloat16'), numbers([3, k, n], 2, 'bfloat16')];
        const batches = (): ArrayLike<number> => core.matmul(a, b).cast('float32').data() as Float32Array;
        expect(distance(onGpu(batches), batches())).toBeLessThan(2 ** -6);
      }
      const inputs = [numbers([40, 48], 3), numbers([48, 24], 4), numbers([24], 5)];
      const fused = (): ArrayLike<number> => {
        const [y] = execute(listOps().get('_FusedMatMul') as Op, inputs, {
          transposeA: false,
          transposeB: false,
          activation: 1,
        });
        return y.data() as Float32Array;
      };
      expect(distance(onGpu(fused), fused())).toBeLessThan(2 ** -9);
    });
  });

  describe('trains as the CPU does', () => {
    const labels = (n: number): Tensor =>
      constant(
        Array.from({ length: n }, (_, i) => i % 4),
        'int32',
      );
    const crossEntropy = (logits: Tensor, n: number): Tensor =>
      core.nn.sparseSoftmaxCrossEntropyWithLogits(labels(n), logits.cast('float32')).mean();
    /** Loss by weights, in a dtype: what a layer casts under mixed precision is cast here. */
    interface Network {
      readonly weights: readonly (readonly number[])[];
      loss(weights: readonly Tensor[], dtype: NumericDType): Tensor;
    }
    const networks: Readonly<Record<string, Network>> = {
      'dense layers': {
        weights: [[20, 32], [32], [32, 4]],
        loss: ([w1, b1, w2], dtype) =>
          crossEntropy(core.nn.relu(numbers([24, 20], 9, dtype).matmul(w1).add(b1)).matmul(w2), 24),
      },
      convolutions: {
        weights: [
          [3, 3, 2, 8],
          [3, 3, 8, 4],
        ],
        loss: ([w1, w2], dtype) => {
          const x = core.nn.relu(
            core.nn.conv2d(numbers([4, 12, 12, 2], 9, dtype), w1, { padding: 'same' } as never),
          );
          const pooled = core.nn.maxPool2d(x, 2 as never, { strides: 2 } as never);
          return crossEntropy(core.nn.conv2d(pooled, w2, { padding: 'valid' } as never).mean([1, 2]), 4);
        },
      },
      attention: {
        weights: [[16, 16], [16, 16], [16, 16], [16], [16, 4]],
        loss: ([q, k, v, scale, out], dtype) => {
          const x = numbers([6, 10, 16], 9, dtype);
          const heads = (w: Tensor): Tensor => x.matmul(w).reshape([6, 10, 2, 8]).transpose([0, 2, 1, 3]);
          const y = core.nn
            .scaledDotProductAttention(heads(q), heads(k), heads(v), { isCausal: true })
            .transpose([0, 2, 1, 3])
            .reshape([6, 10, 16]);
          const normal = core.nn.layerNormalization(y.add(x), { scale });
          return crossEntropy(core.nn.gelu(normal).matmul(out).mean(1), 6);
        },
      },
    };
    const losses = (network: Network, dtype: NumericDType, traced: boolean): number[] => {
      const variables = network.weights.map((shape, i) => new Variable(numbers(shape, i + 1)));
      const step = (): Tensor => {
        const tape = new GradientTape();
        const loss = tape.record(() =>
          network.loss(
            variables.map((v) => v.read().cast(dtype)),
            dtype,
          ),
        );
        tape.gradient(loss, variables).forEach((gradient, i) => {
          variables[i].assignSub((gradient as Tensor).mul(0.2));
        });
        return loss;
      };
      const run = traced ? tfFunction(step) : step;
      const told = Array.from({ length: 6 }, () => Number(run().item()));
      return [...told, ...variables.flatMap((v) => [...v.data()].slice(0, 20).map(Number))];
    };
    for (const [name, network] of Object.entries(networks))
      for (const dtype of ['float32', 'bfloat16', 'float16'] as const)
        it(`${name}, ${dtype}, eagerly and traced`, () => {
          enableTensorFloat32Execution(false);
          const expected = losses(network, dtype, false);
          expect(expected[5]).toBeLessThan(expected[0]);
          const limit = { float32: 1e-4, bfloat16: 0.03, float16: 0.005 }[dtype];
          for (const traced of [false, true])
            expect(
              distance(
                onGpu(() => losses(network, dtype, traced)),
                expected,
              ),
            ).toBeLessThan(limit);
        });
  });

  describe('memory', () => {
    it('of dropped tensors comes back in a loop that never pauses', () => {
      onGpu(() => {
        const size = isFake ? 8192 : 2 ** 26;
        // More than any GPU has: 256 MiB each.
        let x = core.ones([size]);
        for (let i = 0; i < 1200; i++) x = x.add(1);
        expect(x.data()[5]).toBe(1201);
      });
    });

    it('of a traced step stays what it is', () => {
      const w = onGpu(() => new Variable(core.ones([64, 64])));
      const step = tfFunction(() => {
        w.assign(w.matmul(w).mul(1 / 64));
        return w.sum();
      });
      onGpu(() => {
        for (let i = 0; i < 20; i++) step().dispose();
        const before = memory().cuda?.bytesAllocated as number;
        for (let i = 0; i < 200; i++) step().dispose();
        expect(memory().cuda?.bytesAllocated).toBe(before);
        expect(w.data()[3]).toBe(1);
      });
    });

    it('that is not there is an error, and the program goes on', () => {
      const kept: Tensor[] = [];
      // 4 GiB each.
      expect(() =>
        onGpu(() => {
          for (let i = 0; i < 200; i++) kept.push(core.zeros([2 ** 15, 2 ** 15]));
        }),
      ).toThrow(core.ResourceExhaustedError);
      for (const x of kept) x.dispose();
      expect(
        onGpu(() => core.ones([2 ** 20]))
          .sum()
          .item(),
      ).toBe(2 ** 20);
    });
  });

  // Not as thousands of tests that are skipped.
  if (cudaBackend !== undefined) {
    conformanceSuite('cuda');
    gradientSuite('cuda');
    tracedSuite('cuda', 1e-5);
  }
});
