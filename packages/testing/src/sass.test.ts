// What NVRTC makes of the kernels for tensor cores: `pnpm bench:sass`. It runs on machines without a GPU too. `EAGRE_NVRTC` names NVRTC; `cuobjdump` and
// `nvdisasm` must be on the path (`pip install nvidia-cuda-nvrtc-cu12 nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm`).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cudaPrelude } from '@eagre/gpu-kernels';
import { describe, expect, it } from 'vitest';
import { called, loadCudaAddon } from '../../backend-cuda/src/addon.ts';
import { findCompiler } from '../../backend-cuda/src/libraries.ts';
import { tensorCoreProduct } from '../../gpu-kernels/src/cuda/tensor-cores.ts';

const missing =
  (process.env.EAGRE_NVRTC ? '' : 'EAGRE_NVRTC names no NVRTC; ') +
  ['cuobjdump', 'nvdisasm']
    .filter((tool) => spawnSync(tool, ['--version']).status !== 0)
    .map((tool) => `there is no ${tool}; `)
    .join('');
if (missing !== '')
  console.log(`The machine code of tensor cores' kernels is not looked at: ${missing.slice(0, -2)}`);

const CAPABILITIES = [80, 86, 89, 90, 100, 120];
const factors = [
  { transposeA: false, transposeB: false },
  { transposeA: true, transposeB: false },
  { transposeA: false, transposeB: true },
];

function tool(...args: string[]): string {
  const { stdout, stderr, status } = spawnSync('cuobjdump', args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`cuobjdump: ${stderr.slice(0, 2000)}`);
  return stdout;
}

describe.skipIf(missing !== '')('the machine code of products on tensor cores', () => {
  it('multiplies on them, copies 16 bytes at once, and spills nothing', () => {
    const folder = mkdtempSync(join(tmpdir(), 'eagre-sass-'));
    const rows: object[] = [];
    try {
      const addon = loadCudaAddon();
      const { path } = findCompiler(addon);
      for (const capability of CAPABILITIES)
        for (const dtype of ['bfloat16', 'float16', 'float32'] as const)
          for (const transposed of factors) {
            const program = tensorCoreProduct({
              dtype,
              ...transposed,
              hasBias: true,
              relu: true,
              rank: 1,
              alignedA: true,
              alignedB: true,
            });
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
            const name = `${dtype} ${transposed.transposeA ? 'aᵀ' : 'a'}·${transposed.transposeB ? 'bᵀ' : 'b'}`;
            const row = {
              capability,
              kernel: name,
              registers,
              'bytes of shared memory': shared,
              spills: count(/\b(?:STL|LDL)\b/g),
              HMMA: count(/\bHG?MMA\./g),
              'LDGSTS 128': count(/\bLDGSTS\.[.A-Z0-9]*128/g),
              LDSM: count(/\bLDSM\./g),
            };
            rows.push(row);
            const where = `${name}, compute capability ${capability}`;
            expect([row.spills, stack], where).toEqual([0, 0]);
            expect(row.HMMA, where).toBeGreaterThan(0);
            expect(row['LDGSTS 128'], where).toBeGreaterThan(0);
            if (dtype !== 'float32') expect(row.LDSM, where).toBeGreaterThan(0);
          }
    } finally {
      rmSync(folder, { recursive: true, force: true });
      console.table(rows);
    }
  }, 600_000);
});
