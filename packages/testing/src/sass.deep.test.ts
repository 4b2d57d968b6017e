// What NVRTC makes of the kernels for tensor cores: `pnpm bench:sass`. It runs on machines without a GPU too. `EAGRE_NVRTC` names NVRTC; `cuobjdump` and
// `nvdisasm` must be on the path (`pip install nvidia-cuda-nvrtc-cu12 nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm`).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KernelAttrs, KernelName, NumericDType } from '@eagre/backend';
import { type CudaProgram, cudaPrelude, gpuKernel, serveCuda, type TensorInfo } from '@eagre/gpu-kernels';
import { describe, expect, it } from 'vitest';
import { called, loadCudaAddon } from '../../backend-cuda/src/addon.ts';
import { findCompiler } from '../../backend-cuda/src/libraries.ts';

serveCuda();
const missing =
  (process.env.EAGRE_NVRTC ? '' : 'EAGRE_NVRTC names no NVRTC; ') +
  ['cuobjdump', 'nvdisasm']
    .filter((tool) => spawnSync(tool, ['--version']).status !== 0)
    .map((tool) => `there is no ${tool}; `)
    .join('');
if (missing !== '')
  console.log(`The machine code of tensor cores' kernels is not looked at: ${missing.slice(0, -2)}`);

const CAPABILITIES = [80, 86, 89, 90, 100, 120];
/** A call of a kernel, by the shapes of its tensors. */
interface Call {
  readonly label: string;
  readonly kernel: KernelName;
  readonly inputs: readonly (readonly number[])[];
  readonly outputs: readonly (readonly number[])[];
  readonly attrs: KernelAttrs;
}
const geometry = { strides: [1, 1], dilations: [1, 1], padding: [1, 1, 1, 1], groups: 1 };
const [image, filter, result] = [
  [8, 16, 16, 64],
  [3, 3, 64, 128],
  [8, 16, 16, 128],
];
const CALLS: readonly Call[] = [
  ...[
    [false, false],
    [true, false],
    [false, true],
  ].map(([transposeA, transposeB]) => ({
    label: `${transposeA ? 'aᵀ' : 'a'}·${transposeB ? 'bᵀ' : 'b'}`,
    kernel: 'MatMul' as const,
    inputs: [[256, 256], [256, 256], [256]],
    outputs: [[256, 256]],
    attrs: { transposeA, transposeB, activation: 1 },
  })),
  {
    label: 'a·b, large',
    kernel: 'MatMul',
    inputs: [
      [2048, 512],
      [512, 2048],
    ],
    outputs: [[2048, 2048]],
    attrs: { transposeA: false, transposeB: false, activation: 0 },
  },
  {
    label: 'a·bᵀ, large',
    kernel: 'MatMul',
    inputs: [[2048, 512], [2048, 512], [2048]],
    outputs: [[2048, 2048]],
    attrs: { transposeA: false, transposeB: true, activation: 1 },
  },
  {
    label: 'convolution',
    kernel: 'Conv2D',
    inputs: [image, filter, [128]],
    outputs: [result],
    attrs: { ...geometry, activation: 1 },
  },
  {
    label: 'gradient of its image',
    kernel: 'Conv2DBackpropInput',
    inputs: [filter, result],
    outputs: [image],
    attrs: geometry,
  },
  {
    label: 'gradient of its filter',
    kernel: 'Conv2DBackpropFilter',
    inputs: [image, result],
    outputs: [filter],
    attrs: geometry,
  },
  {
    label: 'gradient of an image, strides of 2',
    kernel: 'Conv2DBackpropInput',
    inputs: [filter, result],
    outputs: [[8, 32, 32, 64]],
    attrs: { ...geometry, strides: [2, 2], padding: [0, 1, 0, 1] },
  },
  {
    label: 'convolution of 3 channels',
    kernel: 'Conv2D',
    inputs: [
      [8, 16, 16, 3],
      [3, 3, 3, 128],
    ],
    outputs: [result],
    attrs: { ...geometry, activation: 0 },
  },
  ...[
    [64, 4],
    [64, 64],
    [128, 4],
    [128, 64],
  ].flatMap(([width, heads]): Call[] => {
    const of = [2, heads, 256, width];
    const attrs = { timeFirst: false, causal: true, scale: 0.125 };
    const sums = of.slice(0, 3);
    return [
      {
        label: `attention, ${heads} heads, ${width} wide`,
        kernel: 'ScaledDotProductAttention',
        inputs: [of, of, of],
        outputs: [of, sums],
        attrs,
      },
      {
        label: `its gradients, ${heads} heads, ${width} wide`,
        kernel: 'ScaledDotProductAttentionGrad',
        inputs: [of, of, of, of, of, sums],
        outputs: [of, of, of],
        attrs,
      },
    ];
  }),
];

/** The programs for tensor cores of a call. */
function programsOf(call: Call, dtype: NumericDType, capability: number): readonly CudaProgram[] {
  const info = (shape: readonly number[]): TensorInfo => ({
    dtype,
    shape,
    size: shape.reduce((a, b) => a * b, 1),
  });
  const inputs = call.inputs.map(info);
  const kernel = gpuKernel(call.kernel, new Array<NumericDType>(inputs.length).fill(dtype));
  const made = kernel?.lower({
    inputs,
    outputs: call.outputs.map(info),
    attrs: call.attrs,
    same: () => false,
  });
  return (made === undefined ? [] : [made, ...made.dispatches]).flatMap(({ cuda }) => {
    const first = cuda?.(capability);
    return [first, first?.withoutMaps].flatMap((each) =>
      (each?.dispatches ?? []).flatMap(({ program }) => ('print' in program ? [program] : [])),
    );
  });
}

function tool(...args: string[]): string {
  const { stdout, stderr, status } = spawnSync('cuobjdump', args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`cuobjdump: ${stderr.slice(0, 2000)}`);
  return stdout;
}

describe.skipIf(missing !== '')('the machine code of kernels for tensor cores', () => {
  it('multiplies on them, copies 16 bytes at once, and spills nothing', () => {
    const folder = mkdtempSync(join(tmpdir(), 'eagre-sass-'));
    const rows: object[] = [];
    for (const call of CALLS) expect(programsOf(call, 'float16', 80).length, call.label).toBeGreaterThan(0);
    expect(
      CALLS.flatMap((call) => programsOf(call, 'float16', 90)).some(({ isSpecific }) => isSpecific),
    ).toBe(true);
    try {
      const addon = loadCudaAddon();
      const { path } = findCompiler(addon);
      for (const capability of CAPABILITIES)
        for (const dtype of ['bfloat16', 'float16', 'float32'] as const)
          for (const [call, program] of CALLS.flatMap((each) =>
            programsOf(each, dtype, capability).map((made) => [each, made] as const),
          )) {
            const text = cudaPrelude + program.print('k');
            const file = join(folder, 'k.cubin');
            writeFileSync(
              file,
              called(() => addon.compile([path], text, 'k', capability)),
            );
            const sass = tool('-sass', file);
            const count = (instruction: RegExp): number => sass.match(instruction)?.length ?? 0;
            const [, registers, stack, shared] = (
              /REG:(\d+) STACK:(\d+) SHARED:(\d+)/.exec(tool('--dump-resource-usage', file)) ?? []
            ).map(Number);
            const name = `${dtype} ${call.label}${program.maps > 0 ? ', brought by TMA' : ''}`;
            const row = {
              capability,
              kernel: name,
              registers,
              'bytes of shared memory': shared,
              spills: count(/\b(?:STL|LDL)\b/g),
              HMMA: count(/\bHMMA\./g),
              HGMMA: count(/\bHGMMA\./g),
              LDGSTS: count(/\bLDGSTS\./g),
              'LDGSTS 128': count(/\bLDGSTS\.[.A-Z0-9]*128/g),
              LDSM: count(/\bLDSM\./g),
              UTMALDG: count(/\bUTMALDG\b/g),
            };
            rows.push(row);
            const where = `${name}, compute capability ${capability}`;
            expect([row.spills, stack], where).toEqual([0, 0]);
            if (program.isSpecific) {
              expect(row.HGMMA, where).toBeGreaterThan(0);
              // One for each product would say that none goes on while the next is told. Two waits that follow each other may be one.
              const waits = count(/\bWARPGROUP\.DEPBAR/g);
              expect(waits, where).toBeGreaterThanOrEqual(2);
              expect(waits, where).toBeLessThanOrEqual(
                text.slice(text.indexOf('extern "C"')).match(/tc_wgmma_(?:wait|finish)/g)?.length ?? 0,
              );
            } else expect(row.HMMA, where).toBeGreaterThan(0);
            if (program.maps > 0) {
              expect([row.UTMALDG > 0, row.LDGSTS, count(/\bSTG\.E\.128/g) > 0], where).toEqual([
                true,
                0,
                true,
              ]);
              continue;
            }
            // Hopper's cores want factors of float32 along the depth: others are turned by copies of 4 bytes.
            const turns = program.isSpecific && dtype === 'float32';
            expect(row[turns ? 'LDGSTS' : 'LDGSTS 128'], where).toBeGreaterThan(0);
            if (dtype !== 'float32' && !program.isSpecific) expect(row.LDSM, where).toBeGreaterThan(0);
          }
    } finally {
      rmSync(folder, { recursive: true, force: true });
      console.table(rows);
    }
  }, 3_600_000);
});
