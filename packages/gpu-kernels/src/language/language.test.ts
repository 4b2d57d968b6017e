import { InternalError } from '@eagre/backend';
import { expect, it } from 'vitest';
import { programOf } from '../kernels/kernel.ts';
import { CudaShim, compiler } from '../testing/cuda-shim.ts';
import { parseKernel } from './parse.ts';
import { printCuda } from './print-cuda.ts';
import { printPtx } from './print-ptx.ts';
import { printWgsl, shareType } from './print-wgsl.ts';

const double = `
struct Params { n: u32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;
fn twice(a: f32) -> f32 { return a * 2.0; }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < p.n) { y[id.x] = twice(x[id.x]) - -1.0; } // a comment
}`;

it('prints what it has read, and reads what it has printed', () => {
  const module = parseKernel(double);
  expect(module.bindings.map(({ name, written }) => [name, written])).toEqual([
    ['x', false],
    ['y', true],
    ['p', false],
  ]);
  expect(module.workgroup).toEqual([64, 1, 1]);
  const printed = printWgsl(module);
  expect(printed).toContain('var<storage,read>x:array<f32>;');
  expect(printWgsl(parseKernel(printed))).toBe(printed);
});

it('makes one variable of buffers that are one memory', () => {
  const module = parseKernel(double);
  expect(shareType(module, 0, 1)).toBe(true);
  const printed = printWgsl(module, { sameAs: [0, 0, 2] });
  expect(printed).toContain('@binding(0)var<storage,read_write>x:array<f32>;');
  expect(printed).not.toContain('@binding(1)');
  expect(printed).toContain('x[id.x]=twice(x[id.x])- (-1.0);');
  expect(printWgsl(module, { allWritable: true })).toContain('var<storage,read_write>x');
});

it('prints CUDA C++', () => {
  const cuda = printCuda(parseKernel(double), 'double_it');
  expect(cuda).toContain('void __launch_bounds__(64) double_it(const f32* x, f32* y, const Params p)');
  expect(cuda).toContain('return (a * 2.0f);');
});

it('prints PTX, for no newer GPU than it must', () => {
  const ptx = printPtx(parseKernel(double), 'double_it', 90);
  expect(ptx).toContain('.version 6.4\n.target sm_75\n');
  expect(ptx).toMatch(
    /\.entry double_it\(\n\.param \.u64 buffer0,\n\.param \.u64 buffer1,\n\.param .* uniforms\[4\]\n\)/,
  );
  // Nothing is contracted into one rounding.
  expect(ptx).toMatch(/mul\.rn\.f32 %f\d+, %f\d+, %f\d+;/);
  expect(printPtx(parseKernel(double), 'k', 70)).toContain('.target sm_70\n');
});

it('prints PTX that reads nothing behind a test that says no, leaves functions and loops where they say so, and copies what changes', () => {
  if (compiler === undefined) return;
  const program = programOf(`struct Params { n: u32, scale: f32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;
fn first(a: f32, limit: i32) -> f32 {
  for (var i = 0; i < 10; i++) { if (i == limit) { return a + f32(i); } if (i > 5) { break; } }
  return -1.0; }
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  var old = id.x; let kept = old; old = old + 100u;
  if (id.x >= p.n && x[4000000000u + id.x] > 0.0) { y[0] = 77.0; }
  var sum = 0.0;
  for (var k = 0u; k < 5u; k++) { if (k == 1u) { continue; } var part: array<f32, 3>; part[k % 3u] = f32(k); sum += part[0] + part[1] + part[2]; }
  if (id.x < p.n) { y[id.x] = first(x[id.x], i32(kept)) * p.scale + sum + f32(old - kept) * select(0.0, 1.0, old != kept && old / 0x10u > 2u); }
}`);
  const shim = new CudaShim([program], 'ptx');
  try {
    const floats = (...values: number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);
    const [, y] = shim.run(
      [floats(1, 2, 3, 4, 5, 6, 7, 8), new Uint8Array(32)],
      [{ program, buffers: [0, 1], params: [8, 2], workgroups: [1, 1, 1] }],
    );
    // Sums of 0, 2, 3 and 4; `first` ends at 6, before the last.
    const wanted = [1, 3, 5, 7, 9, 11, 13, -1].map((value) => value * 2 + 9 + 100);
    expect([...new Float32Array(y.buffer)]).toEqual(wanted);
  } finally {
    shim.end();
  }
});

it('gives names that mean something elsewhere another form', () => {
  const text = double.replaceAll('twice', 'half');
  expect(printCuda(parseKernel(text), 'k')).toContain('f32 half_(f32 a)');
});

it.each([
  ['an attribute that there is not', double.replace('workgroup_size', 'workgroupsize')],
  ['an unknown sign', double.replace('twice(x', 'twice(`x')],
  ['text that ends early', double.slice(0, -10)],
  ['no entry point', 'fn f() { }'],
  ['two entry points', `${double}\n@compute @workgroup_size(1) fn other() { }`],
  ['a missing binding', double.replace('@binding(1)', '@binding(7)')],
  ['another address space', double.replace('storage, read>', 'handle>')],
])('refuses %s', (_, text) => {
  expect(() => parseKernel(text)).toThrow(InternalError);
});

it.each([
  ['a function that is not in the subset', double.replace('a * 2.0', 'exp(a)')],
  ['a type that is not in the subset', double.replaceAll('f32', 'f16')],
  ['a buffer outside of the entry point', double.replace('a * 2.0', 'a * x[0]')],
])('refuses to print %s', (_, text) => {
  expect(() => printCuda(parseKernel(text), 'k')).toThrow(InternalError);
});

const narrow = double.replaceAll('array<f32>', 'array<bfloat16>').replace(
  'fn twice',
  `fn bfloatToF(h: u32) -> f32 { return bitcast<f32>(h << 16u); }
  fn fToBfloat(x: f32) -> u32 { return bitcast<u32>(x) >> 16u; }
  fn twice`,
);

it('reads floats of 16 bits as f32, and puts them into their half of a word', () => {
  const module = parseKernel(narrow);
  const printed = printWgsl(module);
  expect(printed).toContain('var<storage,read>x:array<u32>;');
  expect(printed).toContain('var<storage,read_write>y:array<atomic<u32>>;');
  expect(printed).toContain('bfloatToF((x[(id.x)>>1u]>>(((id.x)&1u)<<4u))&0xffffu)');
  expect(printed).toContain('atomicOr(&y[narrowAt>>1u],narrowBits<<narrowShift);');
  // One variable of both is atomic where it is read too.
  expect(printWgsl(module, { sameAs: [0, 0, 2] })).toContain('atomicLoad(&x[(id.x)>>1u])');
  const cuda = printCuda(module, 'k');
  expect(cuda).toContain('k(const u16* x, u16* y, const Params p)');
  expect(cuda).toContain('y[id.x] = u16(fToBfloat((twice(bfloatToF(u32(x[id.x])))');
});

it('has elements of float16 as f16 where the GPU does, through their bits', () => {
  const features = new Set(['shader-f16']);
  const half = narrow
    .replaceAll('bfloat16', 'float16')
    .replaceAll('bfloatToF', 'halfToF')
    .replaceAll('fToBfloat', 'fToHalf');
  const module = parseKernel(half);
  const printed = printWgsl(module, { features });
  expect(printed).toMatch(/^enable f16;\n/);
  expect(printed).toContain('var<storage,read>x:array<f16>;');
  expect(printed).toContain('var<storage,read_write>y:array<f16>;');
  expect(printed).toContain(
    'y[id.x]=bitcast<vec2<f16>>(fToHalf(twice(halfToF(bitcast<u32>(vec2<f16>(x[id.x],0h))))- (-1.0))).x;',
  );
  expect(printed).not.toContain('atomic');
  // Both as one variable.
  const whole = printWgsl(module, { features, sameAs: [0, 0, 2] });
  expect(whole).toContain('var<storage,read_write>x:array<f16>;');
  expect(whole).toContain('x[id.x]=bitcast<vec2<f16>>(');
  expect(printWgsl(module)).not.toContain('f16');
  // There is no such type of bfloat16.
  expect(printWgsl(parseKernel(narrow), { features })).toBe(printWgsl(parseKernel(narrow)));
});

it('only sets floats of 16 bits', () => {
  const added = parseKernel(narrow.replace('y[id.x] =', 'y[id.x] +='));
  expect(() => printWgsl(added)).toThrow(/bfloat16, which kernels only set/);
  expect(() => printCuda(added, 'k')).toThrow(/bfloat16, which kernels only set/);
});

const rotated = (barrier: string): string => `
struct Params { n: u32 }
@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@group(0) @binding(1) var<uniform> p: Params;
var<workgroup> part: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) t: u32) {
  part[t] = t * p.n;
  ${barrier}
  y[t] = part[(t + 1u) % 64u];
}`;

it.skipIf(compiler === undefined)('finds a missing barrier by the order of the threads', () => {
  const right = programOf(rotated('workgroupBarrier();'));
  const wrong = programOf(rotated(''));
  const divergent = programOf(rotated('if (t < 32u) { workgroupBarrier(); }'));
  const shim = new CudaShim([right, wrong, divergent]);
  try {
    const run = (program: typeof right, order: number): string =>
      String(
        new Uint32Array(
          shim.run(
            [new Uint8Array(256)],
            [{ program, buffers: [0], params: [3], workgroups: [1, 1, 1] }],
            order,
          )[0].buffer,
        ),
      );
    const expected = String(Uint32Array.from({ length: 64 }, (_, t) => ((t + 1) % 64) * 3));
    for (const order of [0, 1, 7]) expect(run(right, order)).toBe(expected);
    expect(new Set([0, 1, 7].map((order) => run(wrong, order)))).not.toEqual(new Set([expected]));
    expect(() => run(divergent, 0)).toThrow('barrier');
  } finally {
    shim.end();
  }
});

it.skipIf(compiler === undefined)('finds writes behind a buffer', () => {
  const program = programOf(rotated('workgroupBarrier();'));
  const shim = new CudaShim([program]);
  try {
    expect(() =>
      shim.run([new Uint8Array(252)], [{ program, buffers: [0], params: [3], workgroups: [1, 1, 1] }]),
    ).toThrow('writes behind buffer 0');
  } finally {
    shim.end();
  }
});

const reducing = (across: number, reduction: string): string => `
struct Params { n: u32 }
@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@group(0) @binding(1) var<uniform> p: Params;
const ACROSS: u32 = ${across}u;
var<workgroup> part: array<f32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) index: u32) {
  let t = index % ACROSS; let start = index - t; let mine = f32(t) * f32(p.n);
  ${reduction}
}`;
const twice = `workgroupReduce(part, start, t, ACROSS, mine, max(left, right)); let top = workgroupResult(part, start);
  workgroupBarrier();
  workgroupReduce(part, start, t, ACROSS, mine, (left + right)); y[index] = top + workgroupResult(part, start);`;
const tree = (combined: string): string => `part[start + t] = mine; workgroupBarrier();
  for (var half = ACROSS / 2u; half > 0u; half = half / 2u) {
    if (t < half) { part[start + t] = ${combined}; }
    workgroupBarrier();
  }`;

it('prints a reduction of a workgroup as a tree', () => {
  const byHand = `${tree('max(part[start + t], part[start + t + half])')} let top = part[start];
  workgroupBarrier();
  ${tree('(part[start + t] + part[start + t + half])')} y[index] = top + part[start];`;
  const [module, wanted] = [parseKernel(reducing(32, twice)), parseKernel(reducing(32, byHand))];
  expect(wanted.entryOfSubgroups).toBeUndefined();
  expect(module.entry).toEqual(wanted.entry);
  expect(printWgsl(module)).toBe(printWgsl(wanted));
  expect(printCuda(module, 'k')).toBe(printCuda(wanted, 'k'));
});

it('prints a reduction of a workgroup by subgroups where the GPU has them', () => {
  const features = new Set(['subgroups']);
  const printed = printWgsl(parseKernel(reducing(32, twice)), { features });
  expect(printed).toMatch(/^enable subgroups;\n/);
  expect(printed).toContain('@builtin(subgroup_size)subgroupLanes:u32');
  expect(printed).toContain('let beside=subgroupShuffleXor(madeOf1,step);madeOf1=max(madeOf1,beside);');
  expect(printed).toContain('y[index]=top+ madeOf2;');
  expect(printed).toContain('subgroupAny');
  // A workgroup that makes one thing has no subgroups of several.
  const whole = printWgsl(parseKernel(reducing(64, twice)), { features });
  expect(whole).toContain('subgroupShuffleXor');
  expect(whole).not.toContain('subgroupAny');
  expect(printWgsl(parseKernel(double), { features })).toBe(printWgsl(parseKernel(double)));
});

it('refuses a reduction of a workgroup without all arguments', () => {
  expect(() => parseKernel(reducing(32, 'workgroupReduce(part, start, t, ACROSS, mine);'))).toThrow(
    /six arguments/,
  );
});
