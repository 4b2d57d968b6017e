// Products by cuBLASLt, on a fake library and two GPUs of a fake driver: nothing here runs on a GPU.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { GradientTape } from '@eagre/autodiff';
import type { NumericDType } from '@eagre/backend';
import * as core from '@eagre/core';
import { constant, device, memory, type Tensor } from '@eagre/core';
import { enableTensorFloat32Execution, execute, listOps, type Op } from '@eagre/core/internal';
import { tfFunction } from '@eagre/graph';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fakeCublasLt } from '../../backend-cuda/src/testing/fake-cublaslt.ts';
import { hasFakeCuda, withFake } from '../../backend-cuda/src/testing/fake-cuda.ts';
import { temporaryFolder } from './temporary.ts';
import { generator } from './values.ts';

process.env['FAKE_CUDA_DEVICES'] = '2';
const { cudaBackend, cudaUnavailable, openCuda } = await import('@eagre/backend-cuda');
// What nobody places is computed by the processor here, to compare with.
device('/cpu:0');
const isTested = hasFakeCuda && cudaBackend !== undefined;
if (!isTested) console.log(`Products by cuBLASLt are not tested: ${cudaUnavailable}`);

const onGpu = <T>(fn: () => T): T => device('/gpu:0', fn);
const folder = temporaryFolder('cuda-products');
const file = join(folder, 'calls');

/** How often functions of the library, or of the driver, are called by name while `body` runs. */
function callsOf(of: 'CUBLASLT' | 'CUDA', body: () => void): Readonly<Record<string, number>> {
  rmSync(file, { force: true });
  withFake({ [`FAKE_CU${of === 'CUDA' ? 'DA' : 'BLASLT'}_CALLS`]: file }, body);
  const counts: Record<string, number> = {};
  if (!existsSync(file)) return counts;
  for (const name of readFileSync(file, 'utf8').split('\n'))
    if (name !== '') counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** Numbers in -0.5 … 0.5, on the CPU. */
function numbers(shape: readonly number[], seed: number, dtype: NumericDType = 'float32'): Tensor {
  const random = generator(seed);
  const size = shape.reduce((a, b) => a * b, 1);
  const values = Float64Array.from({ length: size }, () => random() - 0.5);
  return device('/cpu:0', () => constant(values, { shape: [...shape], dtype: 'float64' }).cast(dtype));
}

/** The largest difference, relative to the largest number. */
function distance(got: Tensor, expected: Tensor): number {
  expect(got.shape).toEqual(expected.shape);
  const [x, y] = [got, expected].map((each) => each.cast('float64').data() as Float64Array);
  return Math.max(...x.map((value, i) => Math.abs(value - y[i]))) / Math.max(...y.map(Math.abs));
}

interface Options {
  readonly transposeA?: boolean;
  readonly transposeB?: boolean;
  readonly activation?: number;
}
/** A product, with a bias where there is one. */
function multiply(
  [a, b, ...bias]: readonly Tensor[],
  { transposeA = false, transposeB = false, activation = 0 }: Options,
): Tensor {
  const [y] = execute(listOps().get('_FusedMatMul') as Op, [a, b, ...bias], {
    transposeA,
    transposeB,
    activation,
  });
  return y;
}

/** Inputs are rounded before they are multiplied, on both devices. TensorFloat-32 rounds them to 11 bits besides. */
const limits = { float32: 2 ** -20, tf32: 2 ** -9, float16: 2 ** -10, bfloat16: 2 ** -7, float64: 2 ** -48 };
type Kind = keyof typeof limits;
const kinds: readonly Kind[] = ['float32', 'tf32', 'float16', 'bfloat16', 'float64'];
const dtypeOf = (kind: Kind): NumericDType => (kind === 'tf32' ? 'float32' : kind);

describe.skipIf(!isTested)('products by cuBLASLt, on a fake library', () => {
  afterEach(() => enableTensorFloat32Execution(true));

  it('is found and told', () => {
    expect(cudaBackend?.productLibrary).toBe(`cuBLASLt 12.9.1 (${fakeCublasLt})`);
  });

  for (const kind of kinds)
    describe(kind, () => {
      /** By the library, once for each call: eagerly, and traced, as a graph from the second run on. */
      const check = (
        shapes: readonly (readonly number[])[],
        options: Options,
        calls = 1,
        label = JSON.stringify([shapes, options]),
      ): void => {
        enableTensorFloat32Execution(kind === 'tf32');
        const inputs = shapes.map((shape, i) => numbers(shape, i + 1, dtypeOf(kind)));
        const expected = multiply(
          inputs.map((x) => x.cast('float64')),
          options,
        );
        let y!: Tensor;
        const counts = callsOf('CUBLASLT', () => {
          y = onGpu(() => multiply(inputs, options));
        });
        expect(counts.cublasLtMatmul, label).toBe(calls);
        expect(distance(y, expected), label).toBeLessThan(limits[kind]);
        // The same bits again.
        expect(onGpu(() => multiply(inputs, options)).data(), label).toEqual(y.data());
        const four = tfFunction((...given: Tensor[]) => {
          const made = [0, 1, 2, 3].map((i) => multiply([given[0].add(i), ...given.slice(1)], options));
          return made.reduce((sum, each) => sum.add(each));
        });
        const cpu = four(...inputs);
        for (let run = 0; run < 3; run++)
          expect(
            distance(
              onGpu(() => four(...inputs)),
              cpu,
            ),
            `${label}, traced`,
          ).toBeLessThan(4 * limits[kind]);
      };

      it.each([
        [false, false],
        [false, true],
        [true, false],
        [true, true],
      ])('transposed or not: %s, %s', (transposeA, transposeB) => {
        const a = transposeA ? [50, 21] : [21, 50];
        const b = transposeB ? [18, 50] : [50, 18];
        check([a, b], { transposeA, transposeB });
        check([a, b, [18]], { transposeA, transposeB, activation: 1 });
        check(
          [
            [3, ...a],
            [3, ...b],
          ],
          { transposeA, transposeB },
        );
        check([a, [3, ...b]], { transposeA, transposeB });
        // A batch of rows is more rows.
        check([[3, ...a], b], { transposeA, transposeB });
      });

      it('with a bias, relu, both, and batches along several axes', () => {
        check([[16, 16], [16, 16], [16]], {});
        check(
          [
            [16, 16],
            [16, 16],
          ],
          { activation: 1 },
        );
        check(
          [
            [2, 1, 17, 20],
            [3, 20, 16],
          ],
          {},
          2,
        );
        check(
          [
            [2, 4, 5, 20],
            [2, 1, 20, 16],
          ],
          {},
        );
      });
    });

  it.each([
    ['float32', 2 ** -20],
    ['bfloat16', 2 ** -7],
  ] as const)('makes convolutions of one tap, and their gradients: %s', (dtype, limit) => {
    enableTensorFloat32Execution(false);
    const shapes = [
      [2, 5, 5, 24],
      [1, 1, 24, 18],
      [2, 5, 5, 18],
    ] as const;
    const inputs = shapes.map((shape, i) => numbers(shape, i + 1, dtype));
    const made = ([x, w, dy]: readonly Tensor[], options = {}): Tensor[] => {
      const tape = new GradientTape();
      const y = tape.record(() => {
        tape.watch([x, w]);
        return core.nn.conv2d(x, w, { padding: 'same', ...options } as never).mul(dy);
      });
      return [y, ...(tape.gradient(y, [x, w]) as Tensor[])];
    };
    const expected = made(inputs.map((x) => x.cast('float64')));
    let got: Tensor[] = [];
    const counts = callsOf('CUBLASLT', () => {
      got = onGpu(() => made(inputs));
    });
    expect(counts.cublasLtMatmul).toBe(3);
    for (const [i, each] of got.entries()) expect(distance(each, expected[i])).toBeLessThan(2 * limit);
    // Not every pixel of the image is one of the result.
    const apart = callsOf('CUBLASLT', () => {
      onGpu(() => core.nn.conv2d(inputs[0], inputs[1], { padding: 'same', strides: 2 } as never));
    });
    expect(apart).toEqual({});
  });

  it('makes the products of recurrent networks over all steps', () => {
    enableTensorFloat32Execution(false);
    const [batch, time, features, units] = [3, 7, 18, 20];
    const run = (gates: 3 | 4): Tensor[] => {
      const x = numbers([batch, time, features], 1);
      const kernel = numbers([features, gates * units], 2);
      const recurrent = numbers([units, gates * units], 3);
      const bias = numbers(gates === 4 ? [gates * units] : [2, gates * units], 4);
      const tape = new GradientTape();
      const weights = [x, kernel, recurrent, bias];
      const y = tape.record(() => {
        tape.watch(weights);
        const given = [x, kernel, recurrent, bias] as const;
        return (gates === 4 ? core.nn.lstm(...given) : core.nn.gru(...given)).output;
      });
      return [y, ...(tape.gradient(y, weights) as Tensor[])];
    };
    // Of the four parts of what GRU's gates are changed by, its kernel has three: they are no matrix whose rows follow each other.
    for (const [gates, calls] of [
      [4, 4],
      [3, 1],
    ] as const) {
      const expected = device('/cpu:0', () => run(gates));
      let got: Tensor[] = [];
      const counts = callsOf('CUBLASLT', () => {
        got = onGpu(() => run(gates));
      });
      expect(counts.cublasLtMatmul, String(gates)).toBe(calls);
      for (const [i, each] of got.entries()) expect(distance(each, expected[i])).toBeLessThan(2 ** -16);
    }
  });

  it('leaves small products, and those of many batches, to kernels', () => {
    const counts = callsOf('CUBLASLT', () => {
      onGpu(() => {
        multiply([numbers([15, 16], 1), numbers([16, 16], 2)], {});
        multiply([numbers([9, 1, 16, 16], 1), numbers([2, 16, 16], 2)], {});
        multiply([numbers([16, 16], 1, 'int32'), numbers([16, 16], 2, 'int32')], {});
      });
    });
    expect(counts).toEqual({});
  });

  it('asks once for each product, and again where its type is another', () => {
    const [a, b] = [numbers([19, 23], 1), numbers([23, 29], 2)];
    const asked = (body: () => void): number | undefined =>
      callsOf('CUBLASLT', () => onGpu(body)).cublasLtMatmulAlgoGetHeuristic;
    expect(
      asked(() => {
        for (let i = 0; i < 3; i++) multiply([a, b], {});
      }),
    ).toBe(1);
    expect(asked(() => multiply([a, b], {}))).toBeUndefined();
    enableTensorFloat32Execution(false);
    expect(asked(() => multiply([a, b], {}))).toBe(1);
  });

  it('is part of graphs, whose products are told anew only where memory is another', () => {
    onGpu(() => {
      const w = numbers([64, 64], 1).add(0);
      const run = tfFunction((x: Tensor) => {
        let y = x;
        for (let i = 0; i < 6; i++) y = core.matmul(y, w);
        return y;
      });
      const x = numbers([64, 64], 2).add(0);
      const other = numbers([64, 64], 3).add(0);
      const matmuls = (body: () => void): number => callsOf('CUBLASLT', body).cublasLtMatmul ?? 0;
      expect(matmuls(() => run(x).dispose())).toBe(6);
      const second = callsOf('CUDA', () => run(x).dispose());
      expect(second).toMatchObject({ cuGraphAddChildGraphNode: 6, cuGraphLaunch: 1 });
      const again = callsOf('CUDA', () => run(x).dispose());
      expect(again.cuGraphLaunch).toBe(1);
      expect(again.cuStreamBeginCapture_v2).toBeUndefined();
      expect(matmuls(() => run(other).dispose())).toBe(1);
      // All wait in the stream, each with its own.
      const results = [x, other, x].map((each) => run(each));
      const expected = [x, other, x].map((each) => device('/cpu:0', () => run(core.identity(each))));
      for (const [i, y] of results.entries()) expect(distance(y, expected[i])).toBeLessThan(2 ** -8);
    });
  });

  it('does without graphs where the driver cannot capture', () => {
    const [a, b] = [numbers([32, 32], 1), numbers([32, 32], 2)];
    const run = tfFunction((x: Tensor) => {
      let y = x;
      for (let i = 0; i < 5; i++) y = core.matmul(y, b);
      return y;
    });
    const expected = run(a);
    onGpu(() => {
      run(a).dispose();
      const counts = callsOf('CUDA', () => {
        withFake({ FAKE_CUDA_FAIL: 'cuStreamEndCapture:901' }, () => run(a).dispose());
      });
      expect(counts.cuGraphLaunch).toBeUndefined();
      run(a).dispose();
      // A graph that cannot take other memory is made anew.
      const fail = { FAKE_CUDA_FAIL: 'cuGraphExecChildGraphNodeSetParams:910' } as const;
      const changed = callsOf('CUDA', () => {
        withFake(fail, () => run(core.identity(a).add(0)).dispose());
      });
      expect(changed.cuGraphLaunch).toBeUndefined();
      const anew = callsOf('CUDA', () => run(core.identity(a).add(0)).dispose());
      expect(anew).toMatchObject({ cuGraphAddChildGraphNode: 5, cuGraphLaunch: 1 });
      expect(distance(run(a), expected)).toBeLessThan(2 ** -8);
    });
  });

  it('tells errors of the library, eagerly and traced, and goes on', () => {
    const [a, b] = [numbers([32, 32], 1), numbers([32, 32], 2)];
    const expected = multiply([a, b], {});
    const run = tfFunction((x: Tensor) => {
      let y = x;
      for (let i = 0; i < 5; i++) y = core.matmul(y, b);
      return y;
    });
    onGpu(() => {
      for (let i = 0; i < 3; i++) run(a).dispose();
      const failing = (fail: string, body: () => Tensor) => () =>
        withFake({ FAKE_CUBLASLT_FAIL: fail }, () => body().data());
      const eager = (): Tensor => multiply([a, b], {});
      expect(failing('cublasLtMatmul:13', eager)).toThrow(
        /cublasLtMatmul: the function failed to launch on the GPU \(CUBLAS_STATUS_EXECUTION_FAILED\)/,
      );
      expect(failing('cublasLtMatmul:13', eager)).toThrow(core.InternalError);
      expect(failing('cublasLtMatmul:3', eager)).toThrow(core.ResourceExhaustedError);
      expect(failing('cublasLtMatmul:13', () => run(core.identity(a).add(0)))).toThrow(core.InternalError);
      const asking = (): Tensor => multiply([numbers([33, 35], 1), numbers([35, 37], 2)], {});
      expect(failing('cublasLtMatmulAlgoGetHeuristic:7', asking)).toThrow(core.InternalError);
      expect(failing('cublasLtMatmulDescCreate:3', asking)).toThrow(core.ResourceExhaustedError);
      expect(distance(eager(), expected)).toBeLessThan(2 ** -9);
      expect(distance(asking(), device('/cpu:0', asking))).toBeLessThan(2 ** -9);
    });
  });

  it('leaves what it has no algorithm for to kernels', () => {
    const [a, b] = [numbers([40, 48], 1), numbers([48, 24], 2)];
    let y!: Tensor;
    const counts = callsOf('CUBLASLT', () => {
      y = withFake({ FAKE_CUBLASLT_NONE: '1' }, () => onGpu(() => multiply([a, b], {})));
    });
    expect(counts).toEqual({ cublasLtMatmulDescCreate: 1, cublasLtMatmulAlgoGetHeuristic: 1 });
    expect(distance(y, multiply([a, b], {}))).toBeLessThan(2 ** -9);
  });

  it('leaves all products to kernels where a program says so, and those of float64 to the CPU', () => {
    const [a, b] = [numbers([44, 48], 1), numbers([48, 24], 2)];
    const [x, y] = [a, b].map((each) => each.cast('float64'));
    const expected = multiply([x, y], {});
    const check = (): void => {
      expect(
        distance(
          onGpu(() => multiply([a, b], {})),
          expected,
        ),
      ).toBeLessThan(2 ** -9);
      expect(
        distance(
          onGpu(() => multiply([x, y], {})),
          expected,
        ),
      ).toBeLessThan(2 ** -48);
      // Of float64 no GPU has small products.
      expect(
        onGpu(() =>
          multiply(
            [x, y].map((each) => each.slice([0, 0], [2, 2])),
            {},
          ),
        ).shape,
      ).toEqual([2, 2]);
    };
    expect(callsOf('CUBLASLT', check).cublasLtMatmul).toBe(2);
    cudaBackend?.useProductLibrary(false);
    const before = memory().cuda?.hostFallbacks ?? 0;
    expect(callsOf('CUBLASLT', check).cublasLtMatmul).toBeUndefined();
    expect(memory().cuda?.hostFallbacks).toBeGreaterThanOrEqual(before + 2);
    cudaBackend?.useProductLibrary(true);
  });

  it('gives back what it borrows', () => {
    onGpu(() => {
      const [a, b] = [1, 2].map((seed) => core.identity(numbers([64, 64], seed)));
      multiply([a, b], {}).dispose();
      const before = memory().cuda?.bytesAllocated;
      for (let i = 0; i < 20; i++) multiply([a, b], {}).dispose();
      expect(memory().cuda?.bytesAllocated).toBe(before);
    });
  });

  it('multiplies on each of two GPUs', () => {
    const [a, b] = [numbers([48, 64], 1), numbers([64, 32], 2)];
    const made = ([0, 1, 0, 1] as const).map((gpu) =>
      device(`/gpu:${gpu}`, () => {
        const y = multiply([core.identity(a), core.identity(b)], {});
        expect(y.device).toBe(`/device:GPU:${gpu}`);
        return y;
      }),
    );
    for (const y of made) expect(distance(y, multiply([a, b], {}))).toBeLessThan(2 ** -9);
  });

  // Last: GPUs are opened anew.
  it('does without a library, and says what is wrong with one that is named', () => {
    const product = (): Tensor => onGpu(() => multiply([numbers([40, 48], 1), numbers([48, 24], 2)], {}));
    const expected = device('/cpu:0', () => multiply([numbers([40, 48], 1), numbers([48, 24], 2)], {}));
    const warn = vi.spyOn(console, 'warn');
    for (const [value, version] of [
      ['0', ''],
      // Neither an old one, nor one that is newer than the driver.
      [join(folder, 'libold.so'), '110501'],
      [join(folder, 'libnew.so'), '130002'],
      [join(folder, 'libnone.so'), ''],
    ] as const) {
      if (version !== '') symlinkSync(fakeCublasLt, value);
      vi.stubEnv('EAGRE_CUBLASLT', value);
      vi.stubEnv('FAKE_CUBLASLT_VERSION', version);
      const [backend] = openCuda();
      if (value === '0') {
        expect(backend.productLibrary).toBeUndefined();
        expect(distance(product(), expected)).toBeLessThan(2 ** -9);
      } else {
        for (let i = 0; i < 2; i++) expect(product, version).toThrow(core.UnavailableError);
        expect(() => backend.productLibrary).toThrow(
          /EAGRE_CUBLASLT names a library that cannot be used: .*; name another, or set it to 0/,
        );
      }
    }
    vi.unstubAllEnvs();
    expect(warn).not.toHaveBeenCalled();
  });
});
