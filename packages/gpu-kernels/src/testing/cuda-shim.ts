// Compiles kernels that were printed as CUDA C++ with the compiler of the host, and runs them there.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../../../testing/src/temporary.ts';
import type { CudaProgram, GpuProgram, TensorMap } from '../kernels/kernel.ts';
import { cudaPrelude, printCuda } from '../language/print-cuda.ts';
import { printPtx } from '../language/print-ptx.ts';
import { narrowOf } from '../language/syntax.ts';

/** The C++ compiler, if there is one: `CXX` or g++ or clang++. */
export const compiler: string | undefined = [process.env['CXX'], 'g++', 'clang++'].find(
  (name) => name !== undefined && name !== '' && spawnSync(name, ['--version']).status === 0,
);
if (compiler === undefined) console.log('CUDA kernels are not tested: no C++ compiler; CXX names one.');

const here = fileURLToPath(new URL('.', import.meta.url));
let runtime: string | undefined;

/**
 * What runs kernels, whatever they are, compiled once: the path of an object file.
 * @throws Error with what the compiler says.
 */
export function shimRuntime(): string {
  if (runtime === undefined) {
    const object = join(temporaryFolder('cuda-shim'), 'cuda-shim.o');
    compileShim('-O2', '-fPIC', '-fvisibility=hidden', '-c', join(here, 'cuda-shim.cc'), '-o', object);
    runtime = object;
  }
  return runtime;
}

/** Runs the compiler. @throws Error with what it says. */
export function compile(...args: readonly string[]): void {
  const made = spawnSync(compiler as string, ['-std=c++17', '-w', ...args], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`the compiler: ${made.stderr.slice(0, 4000)}`);
}

/** Compiles what computes as kernels do. */
function compileShim(...args: readonly string[]): void {
  compile('-fwrapv', '-ffp-contract=off', `-I${here}`, ...args);
}

/** A dispatch on buffers that are known by their place in a list. */
export interface ShimDispatch {
  readonly program: GpuProgram | CudaProgram;
  readonly buffers: readonly number[];
  /** Their operands are numbers of buffers. */
  readonly maps?: readonly TensorMap[];
  readonly params: readonly number[];
  readonly workgroups: readonly [number, number, number];
}

/** The driver's numbers of types. */
const mapTypes = { float32: 11, float16: 6, bfloat16: 9 } as const;

/** A tensor map as words: its buffer and its first byte, then what the driver is told. */
function wordsOfMap({ operand, dtype, from, sizes, pitch, box }: TensorMap): number[] {
  const bytes = dtype === 'float32' ? 4 : 2;
  return [operand, from * bytes, mapTypes[dtype], ...sizes, pitch * bytes, ...box];
}

/** Forward, backward, or the seed of a shuffle from 2 on. */
export type Order = number;

/** Numbers as the words of a uniform block. */
export function wordsOf(
  { params }: GpuProgram | CudaProgram,
  values: readonly number[],
): Uint32Array<ArrayBuffer> {
  if (values.length !== params.length)
    throw new Error(`${values.length} values for ${params.length} fields of a uniform block`);
  const words = new Uint32Array(values.length);
  const floats = new Float32Array(words.buffer);
  params.forEach((type, i) => {
    if (type === 'f32') floats[i] = values[i];
    else words[i] = values[i];
  });
  return words;
}

/** Programs as one executable. */
export class CudaShim {
  readonly #folder = mkdtempSync(join(tmpdir(), 'eagre-cuda-'));
  readonly #numbers = new Map<GpuProgram | CudaProgram, number>();

  /**
   * @param language in which they are printed; CUDA C++ unless given. Programs that are none of the subset of WGSL have no PTX.
   * @throws Error with what the compiler says.
   */
  constructor(programs: readonly (GpuProgram | CudaProgram)[], language: 'cuda' | 'ptx' = 'cuda') {
    [...new Set(programs)].forEach((program, i) => this.#numbers.set(program, i));
    const source = join(this.#folder, 'kernels.cc');
    const all = [...this.#numbers.keys()];
    // Kernels for tensor cores are few and run long. The others would take longer to optimize than they run.
    const optimization = all.some((program) => 'print' in program) ? '-O1' : '-O0';
    writeFileSync(source, language === 'cuda' ? sourceOf(all) : this.#sourceOfPtx(all as GpuProgram[]));
    compileShim(optimization, source, shimRuntime(), '-o', join(this.#folder, 'run'));
  }

  #sourceOfPtx(programs: readonly GpuProgram[]): string {
    const fakes = fileURLToPath(new URL('../../../../native/cuda/tests/', import.meta.url));
    compileShim(join(fakes, 'fake_ptx.cc'), '-o', join(this.#folder, 'fake-ptx'));
    const input = programs.map(({ module }, i) => printPtx(module, `k${i}`, 90)).join('');
    const made = spawnSync(join(this.#folder, 'fake-ptx'), [], {
      encoding: 'utf8',
      input,
      maxBuffer: 2 ** 30,
    });
    if (made.status !== 0) throw new Error(made.stderr || `the fake PTX: ${made.error}`);
    const cases = programs.map(({ module }, i) => {
      const args = module.bindings.map(({ space }, k) =>
        space === 'uniform' ? `*(const k${i}_uniforms*)params` : `b[${k}]`,
      );
      return caseOf(i, args, module.workgroup, module.shared.length > 0, `k${i}`);
    });
    return `#include "cuda-shim.h"\n#include <vector>\n${made.stdout}${mainOf(cases)}`;
  }

  /** Runs dispatches one after the other, in copies of the buffers. @returns these afterwards. */
  run(buffers: readonly Uint8Array[], dispatches: readonly ShimDispatch[], order: Order = 0): Uint8Array[] {
    const numbers: number[] = [buffers.length];
    for (const { length } of buffers) numbers.push(length);
    numbers.push(dispatches.length);
    for (const { program, buffers: used, maps = [], params, workgroups } of dispatches) {
      numbers.push(this.#numbers.get(program) as number, ...workgroups, used.length, ...used);
      numbers.push(maps.length, ...maps.flatMap(wordsOfMap));
      const words = wordsOf(program, params);
      numbers.push(words.length, ...words);
    }
    const [job, bytes, result] = ['job', 'bytes', 'result'].map((name) => join(this.#folder, name));
    writeFileSync(job, Uint32Array.from(numbers));
    writeFileSync(bytes, Buffer.concat(buffers));
    const ran = spawnSync(join(this.#folder, 'run'), [job, bytes, result, String(order)], {
      encoding: 'utf8',
    });
    if (ran.status !== 0) throw new Error(ran.stderr || `the kernels ended by ${ran.signal}`);
    const all = new Uint8Array(readFileSync(result));
    let at = 0;
    return buffers.map(({ length }) => all.slice(at, (at += length)));
  }

  end(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A program as CUDA C++, for what has read `cudaPrelude`. */
export function textOf(program: GpuProgram | CudaProgram, name: string): string {
  return 'print' in program ? program.print(name) : printCuda(program.module, name);
}

function sourceOf(programs: readonly (GpuProgram | CudaProgram)[]): string {
  const cases = programs.map((program, i) => {
    if ('print' in program) {
      const [x, y, z] = program.workgroup;
      const args = program.pointers.map((type, k) => `(${type})b[${k}]`);
      const maps = Array.from({ length: program.maps }, (_, k) => `m[${k}]`);
      const all = [...maps, ...args, `*(const ns_k${i}::Params*)params`];
      return caseOf(i, all, [x, y, z], true, `ns_k${i}::k${i}`, args.length, program.shared, program.maps);
    }
    const { module } = program;
    const args = module.bindings.map((binding, k) => {
      if (binding.space === 'uniform') return `*(const ns_k${i}::Params*)params`;
      const of = binding.type.kind === 'array' ? binding.type.of : binding.type;
      return `(${narrowOf(binding) !== undefined ? 'u16' : of.kind === 'name' ? of.name : 'u32'}*)b[${k}]`;
    });
    return caseOf(i, args, module.workgroup, module.shared.length > 0, `ns_k${i}::k${i}`);
  });
  return `#include "cuda-shim.h"
#include <vector>
${cudaPrelude}
${programs.map((program, i) => textOf(program, `k${i}`)).join('\n')}
${mainOf(cases)}`;
}

/** The case of a kernel: `buffers` of its arguments are pointers, and a launch gives it `shared` bytes of shared memory. */
function caseOf(
  number: number,
  args: readonly string[],
  [x, y, z]: readonly number[],
  hasBarriers: boolean,
  name: string,
  buffers: number = args.filter((arg) => !arg.endsWith('params')).length,
  shared = 0,
  maps = 0,
): string {
  return `case ${number}: need(${buffers}, count); need(${maps}, m.size()); shim::launch(grid, dim3{${x},${y},${z}}, ${hasBarriers}, [=] { ${name}(${args.join(', ')}); }, ${shared}); break;`;
}

function mainOf(cases: readonly string[]): string {
  return `static std::vector<uint32_t> readWords(const char* path) {
  std::vector<uint32_t> words; FILE* f = fopen(path, "rb"); uint32_t w;
  while (fread(&w, 4, 1, f) == 1) words.push_back(w);
  fclose(f); return words;
}
static void need(size_t wanted, size_t got) { if (wanted != got) shim::failed = "a dispatch with another number of buffers or tensor maps than its kernel"; }
int main(int, char** argv) {
  auto job = readWords(argv[1]); shim::order = atoi(argv[4]);
  size_t at = 0; const size_t buffers = job[at++];
  // Behind each buffer, and the rest of its last word, lie bytes that no kernel may change.
  std::vector<std::vector<char>> memory(buffers); std::vector<size_t> lengths(buffers);
  FILE* in = fopen(argv[2], "rb");
  for (size_t i = 0; i < buffers; i++) {
    lengths[i] = job[at++]; memory[i].assign((lengths[i] + 3) / 4 * 4 + 64, 0x5a);
    if (fread(memory[i].data(), 1, lengths[i], in) != lengths[i]) return 2;
  }
  fclose(in);
  for (size_t n = job[at++]; n-- > 0;) {
    const uint32_t kernel = job[at]; const dim3 grid{job[at + 1], job[at + 2], job[at + 3]}; const size_t count = job[at + 4]; at += 5;
    const uint32_t* used = &job[at]; std::vector<char*> b; for (size_t i = 0; i < count; i++) b.push_back(memory[job[at++]].data());
    std::vector<tc_map> m(job[at++]);
    for (tc_map& map : m) {
      const uint32_t* of = &job[at]; at += 9;
      const uint64_t sizes[] = {of[3], of[4], of[5]}, strides[] = {of[6], uint64_t(of[4]) * of[6]}; const uint32_t box[] = {of[7], of[8], 1};
      const char* refused = shim::makeMap(&map, of[2], 3, (uint64_t)memory[of[0]].data() + of[1], sizes, strides, box, 3);
      if (refused == nullptr && of[1] + (sizes[2] - 1) * strides[1] + (sizes[1] - 1) * strides[0] + sizes[0] * shim::elementBytes(of[2]) > lengths[of[0]]) refused = "a tensor map of more than its buffer";
      if (refused != nullptr) shim::failed = refused;
    }
    const size_t words = job[at++]; const uint32_t* params = &job[at]; at += words;
    if (shim::failed == nullptr) switch (kernel) { ${cases.join('\n')} }
    if (shim::failed != nullptr) { fprintf(stderr, "kernel %u: %s\\n", kernel, shim::failed); return 3; }
    for (size_t u = 0; u < count; u++)
      for (size_t i = used[u], k = (lengths[i] + 3) / 4 * 4; k < memory[i].size(); k++)
        if (memory[i][k] != 0x5a) { fprintf(stderr, "kernel %u writes behind buffer %zu of %zu bytes\\n", kernel, i, lengths[i]); return 4; }
  }
  FILE* out = fopen(argv[3], "wb");
  for (size_t i = 0; i < buffers; i++) fwrite(memory[i].data(), 1, lengths[i], out);
  fclose(out); return 0;
}
`;
}
