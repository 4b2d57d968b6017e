// Kernels that make use of features have the bits of those that do not, and do not depend on which threads are a subgroup. SwiftShader has subgroups only.
import '@eagre/backend-js';
import './testing/swiftshader.ts';
import {
  dtypeTraits,
  type KernelAttrs,
  type KernelName,
  type NumericDType,
  type TensorRef,
} from '@eagre/backend';
import { type GpuProgram, programOf } from '@eagre/gpu-kernels';
import { afterAll, describe, expect, it } from 'vitest';
import { type Substitution, substituted, substitutedIn } from '../../gpu-kernels/src/language/substitute.ts';
import { type GpuDevice, openGpuDevice } from './gpu-device.ts';
import { Stream } from './stream.ts';
import { WebGpuBackend } from './webgpu-backend.ts';

const gpu = await openGpuDevice().catch(() => undefined);
const second = gpu && (await openGpuDevice());
if (gpu === undefined) console.log('features of WebGPU are not tested: there is no GPU');

const without = (device: GpuDevice): GpuDevice => ({ ...device, features: new Set() });

/** Numbers of all sizes, the same ones each time. */
function numbers(count: number): Float32Array {
  let state = 12345;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 32 - 0.5) * 2 ** ((state >>> 5) % 12);
  });
}

describe.skipIf(gpu === undefined || gpu.features.size === 0)('on a GPU with features', () => {
  const plain = new WebGpuBackend(without(second!), undefined);
  const own = new WebGpuBackend(gpu!, undefined);
  afterAll(() => {
    plain.close();
    own.close();
  });

  it('says so', () => {
    expect(own.description.endsWith(`, with ${[...gpu!.features].join(' and ')}`)).toBe(true);
  });

  function run(
    backend: WebGpuBackend,
    name: KernelName,
    inputs: readonly (readonly [NumericDType, readonly number[], ArrayBufferView])[],
    outputs: readonly (readonly [NumericDType, readonly number[]])[],
    attrs: KernelAttrs,
  ): Uint8Array[] {
    const tensor = (dtype: NumericDType, shape: readonly number[]): TensorRef => {
      const size = shape.reduce((a, b) => a * b, 1);
      return { dtype, shape, size, storage: backend.allocator.allocate(size * dtypeTraits[dtype].bytes) };
    };
    const given = inputs.map(([dtype, shape, values]) => {
      const x = tensor(dtype, shape);
      const { buffer, byteOffset, byteLength } = values;
      backend.allocator.write(x.storage, new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength));
      return x;
    });
    const made = outputs.map(([dtype, shape]) => tensor(dtype, shape));
    const kernel = backend.kernel(
      name,
      inputs.map(([dtype]) => dtype),
    );
    kernel!(given, made, attrs);
    return made.map(({ storage, size, dtype }) =>
      backend.allocator.read(storage, size * dtypeTraits[dtype].bytes).slice(),
    );
  }

  it.each([40, 1000])('rows of %i have the same bits as without', (n) => {
    const rows = 5;
    const x = numbers(rows * n);
    const odd = x.slice();
    odd.set([Number.NaN, -0, 0, Number.POSITIVE_INFINITY]);
    odd[n + 3] = Number.NEGATIVE_INFINITY;
    const shape = [rows, n];
    const bools = Uint8Array.from(x, (value) => (value > -1 ? 1 : 0));
    const whole = Int32Array.from(x, (value) => value * 100);
    const halves = Uint16Array.from(x, (_, i) => (i * 40503) & 0xffff);
    const small = Uint16Array.from(halves, (bits) => bits & 0xbbff);
    const axis = { axes: [1], keepdims: false };
    const calls: [KernelName, Parameters<typeof run>[2], Parameters<typeof run>[3], KernelAttrs][] = [
      ['Sum', [['float32', shape, x]], [['float32', [rows]]], axis],
      ['Sum', [['int32', shape, whole]], [['int32', [rows]]], axis],
      ['Max', [['float32', shape, odd]], [['float32', [rows]]], axis],
      ['Min', [['float32', shape, odd]], [['float32', [rows]]], axis],
      ['All', [['bool', shape, bools]], [['bool', [rows]]], axis],
      ['Softmax', [['float32', shape, x]], [['float32', shape]], {}],
      ['LogSoftmax', [['float32', shape, odd]], [['float32', shape]], {}],
      ['Sum', [['float16', shape, small]], [['float16', [rows]]], axis],
      ['Max', [['float16', shape, halves]], [['float16', [rows]]], axis],
      ['Softmax', [['float16', shape, small]], [['float16', shape]], {}],
    ];
    for (const [name, inputs, outputs, attrs] of calls) {
      const [wanted, got] = [plain, own].map((backend) => run(backend, name, inputs, outputs, attrs));
      expect(got, name).toEqual(wanted);
      if (name !== 'Sum' || inputs[0][0] !== 'int32') continue;
      const sums = Array.from({ length: rows }, (_, row) =>
        whole.subarray(row * n, (row + 1) * n).reduce((a, b) => a + b, 0),
      );
      expect([...new Int32Array(got[0].buffer)]).toEqual(sums);
    }
  });

  it('all numbers of float16 are read and written as without', () => {
    const all = Uint16Array.from({ length: 65536 }, (_, i) => i);
    // One number each: it is compared with the lowest one.
    const [wanted, got] = [plain, own].map((backend) => {
      const axis = { axes: [1], keepdims: false };
      const [bytes] = run(backend, 'Max', [['float16', [65536, 1], all]], [['float16', [65536]]], axis);
      return new Uint16Array(bytes.buffer);
    });
    expect(got).toEqual(wanted);
    const isNaN = (bits: number): boolean => (bits & 0x7fff) > 0x7c00;
    expect(got.every((bits, i) => (isNaN(i) ? isNaN(bits) : bits === i))).toBe(true);
  });
});

/** A kernel that sums rows of `across` numbers, in the form without subgroups. */
const sums = (across: number, lanes: number, factor: number): string => `
struct Params { n: u32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;
const ACROSS: u32 = ${across}u;
const LANES: u32 = ${lanes}u;
var<workgroup> part: array<f32, 256>;
var<workgroup> floats: array<f32, 256>;
var<workgroup> words: array<u32, 256>;
fn xor(at: u32, value: f32, mask: u32) -> f32 {
  workgroupBarrier(); floats[at] = value; workgroupBarrier();
  return floats[at - at % LANES + ((at % LANES) ^ mask)]; }
fn shuffle(at: u32, value: u32, lane: u32) -> u32 {
  workgroupBarrier(); words[at] = value; workgroupBarrier();
  return words[at - at % LANES + lane]; }
fn any_(at: u32, value: bool) -> bool {
  var found = 0u;
  workgroupBarrier(); words[at] = select(0u, 1u, value); workgroupBarrier();
  for (var i = 0u; i < LANES; i++) { found = found | words[at - at % LANES + i]; }
  return found != 0u; }
@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) index: u32) {
  let t = index % ACROSS; let start = index - t; let mine = x[index]; let at = (index * ${factor}u) % 256u;
  workgroupReduce(part, start, t, ACROSS, mine, (left + right));
  y[index] = workgroupResult(part, start) * f32(p.n);
}`;

/** The same in the form with subgroups, of which each has `LANES` threads: those that follow each other where each thread is at its place `at`. */
function imitated(text: string): GpuProgram {
  const program = programOf(text);
  const { module } = program;
  const { body, parameters } = module.entryOfSubgroups!;
  const at = { kind: 'name', name: 'at' } as const;
  const lanes = { kind: 'name', name: 'LANES' } as const;
  const names: Record<string, string> = {
    subgroupShuffleXor: 'xor',
    subgroupShuffle: 'shuffle',
    subgroupAny: 'any_',
  };
  const by: Substitution = {
    name: (name) =>
      name === 'subgroupLanes'
        ? lanes
        : name === 'subgroupLane'
          ? { kind: 'binary', op: '%', left: at, right: lanes }
          : undefined,
    call: ({ name, args, ...call }) =>
      name in names
        ? {
            ...call,
            name: names[name],
            args: [at, ...args.map((arg) => substitutedIn(arg, by))],
          }
        : undefined,
  };
  const entry = { ...module.entry, parameters: parameters.slice(0, -2), body: substituted(body, by) };
  return { ...program, module: { ...module, entry, entryOfSubgroups: undefined } };
}

describe.skipIf(gpu === undefined)('with subgroups of any size', async () => {
  const stream = new Stream(without(await openGpuDevice()));
  function run(program: GpuProgram, x: Float32Array): number[] {
    const [from, to] = [stream.create(1024), stream.create(1024)];
    const views = [from, to].map((buffer) => ({ buffer, offset: 0, bytes: 1024 }));
    stream.write(views[0], new Uint8Array(x.slice().buffer));
    stream.dispatch(program, views, [0, 1], false, [1], [1, 1, 1], undefined);
    return [...new Float32Array(stream.read(views[1]).slice().buffer)];
  }

  it.each([64, 256])('sums of %i have the same bits', (across) => {
    const x = numbers(256);
    const wanted = run(programOf(sums(across, 4, 1)), x);
    for (const lanes of [8, 32, 128])
      expect(run(imitated(sums(across, lanes, 1)), x), `${lanes}`).toEqual(wanted);
  });

  it.each([32, 256])('sums of %i are right where threads of a subgroup are of several sums', (across) => {
    const x = Float32Array.from({ length: 256 }, (_, i) => (i * 37) % 101);
    const wanted = run(programOf(sums(across, 4, 1)), x);
    expect(wanted[255]).toBe(x.slice(256 - across).reduce((a, b) => a + b));
    for (const lanes of [4, 32])
      expect(run(imitated(sums(across, lanes, 101)), x), `${lanes}`).toEqual(wanted);
  });
});
