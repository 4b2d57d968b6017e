import { InternalError } from '@eagre/backend';
import {
  type Expression,
  type KernelModule,
  narrowFunctions,
  narrowOf,
  type Statement,
  type Type,
} from './syntax.ts';

/** Options of `printWgsl`. */
export interface WgslOptions {
  /**
   * By binding: the first binding that looks at the same memory. WebGPU refuses a dispatch in which two bindings show the same bytes and one
   * may write, so such bindings become one variable.
   */
  readonly sameAs?: readonly number[];
  /** Whether all buffers are bound for writing: WebGPU also refuses a buffer that is bound for reading and, elsewhere, for writing. */
  readonly allWritable?: boolean;
  /** What the device was opened with, of `wgslFeatures`; there may be others in it. */
  readonly features?: ReadonlySet<string>;
}

/** The optional features of WebGPU of which kernels make use. */
export const wgslFeatures = ['shader-f16', 'subgroups'] as const;

/** A kernel as WGSL, without white space that means nothing. */
export function printWgsl(module: KernelModule, options: WgslOptions = {}): string {
  const { sameAs, allWritable = false, features = NO_FEATURES } = options;
  const names: Names = { buffers: new Map(), narrow: new Map() };
  const parts: string[] = [];
  const hasF16 = features.has('shader-f16');
  if (hasF16 && module.bindings.some((binding) => narrowOf(binding) === 'float16')) parts.push('enable f16;');
  const ofSubgroups = features.has('subgroups') ? module.entryOfSubgroups : undefined;
  if (ofSubgroups !== undefined) parts.push('enable subgroups;');
  for (const { name, fields } of module.structs)
    parts.push(`struct ${name}{${fields.map((f) => `${f.name}:${type(f.type)}`).join(',')}}`);
  for (const { name, type: t, value } of module.constants)
    parts.push(`const ${name}:${type(t)}=${expression(value, NO_NAMES)};`);
  for (const binding of module.bindings) {
    const first = sameAs?.[binding.number] ?? binding.number;
    const written = module.bindings.some((b) => b.written && (sameAs?.[b.number] ?? b.number) === first);
    const dtype = narrowOf(binding);
    const form = dtype === 'float16' && hasF16 ? 'f16' : written ? 'atomic' : 'word';
    if (dtype !== undefined) names.narrow.set(binding.name, { dtype, form });
    if (first !== binding.number) {
      const whole = module.bindings[first];
      if (type(whole.type) !== type(binding.type))
        throw new InternalError(`${whole.name} and ${binding.name} share memory, but not their type`);
      names.buffers.set(binding.name, whole.name);
      continue;
    }
    const mode = allWritable || written ? 'read_write' : 'read';
    const space = binding.space === 'uniform' ? 'uniform' : `storage,${mode}`;
    const stored = dtype === undefined ? type(binding.type) : `array<${ELEMENTS[form]}>`;
    parts.push(`@group(0)@binding(${binding.number})var<${space}>${binding.name}:${stored};`);
  }
  for (const { name, type: t } of module.shared) parts.push(`var<workgroup>${name}:${type(t)};`);
  for (const { name, parameters, result, body } of module.functions) {
    const list = parameters.map((p) => `${p.name}:${type(p.type)}`).join(',');
    // They see no buffers, and may have parameters of such names.
    parts.push(
      `fn ${name}(${list})${result === undefined ? '' : `->${type(result)}`}{${statements(body, NO_NAMES)}}`,
    );
  }
  const { workgroup } = module;
  const entry = ofSubgroups ?? module.entry;
  const list = entry.parameters.map((p) => `@builtin(${p.builtin})${p.name}:${type(p.type)}`).join(',');
  parts.push(
    `@compute@workgroup_size(${workgroup.join(',')})fn ${entry.name}(${list}){${statements(entry.body, names)}}`,
  );
  return parts.join('\n');
}

/** Whether two bindings may become one variable. */
export function shareType(module: KernelModule, a: number, b: number): boolean {
  return type(module.bindings[a].type) === type(module.bindings[b].type);
}

/** What the names of buffers mean. */
interface Names {
  /** The variable that stands for one that shares memory with it. */
  readonly buffers: Map<string, string>;
  /** Buffers of 16 bit floats. */
  readonly narrow: Map<string, Narrow>;
}
const NO_NAMES: Names = { buffers: new Map(), narrow: new Map() };
const NO_FEATURES: ReadonlySet<string> = new Set();

/**
 * How a buffer of 16 bit floats looks: two elements are a word, which is atomic where it is written, as different threads may write its halves; or
 * the elements are those of WGSL.
 */
interface Narrow {
  readonly dtype: 'float16' | 'bfloat16';
  readonly form: 'word' | 'atomic' | 'f16';
}
const ELEMENTS = { word: 'u32', atomic: 'atomic<u32>', f16: 'f16' } as const;

/** The index of an element of a buffer of 16 bit floats. */
function narrowAt(
  e: Expression,
  names: Names,
): { readonly buffer: string; readonly at: string; readonly of: Narrow } | undefined {
  if (e.kind !== 'index' || e.of.kind !== 'name') return undefined;
  const of = names.narrow.get(e.of.name);
  return of && { buffer: expression(e.of, names), at: expression(e.at, names), of };
}

/**
 * The f32 of an element. Conversions of WGSL may take small numbers for 0, and may take for granted that there is no infinity and no NaN. So the bits are
 * converted, of which `bitcast` makes f16 and back.
 */
function loadNarrow(buffer: string, at: string, { dtype, form }: Narrow): string {
  const { load } = narrowFunctions[dtype];
  if (form === 'f16') return `${load}(bitcast<u32>(vec2<f16>(${buffer}[${at}],0h)))`;
  const word = `${buffer}[(${at})>>1u]`;
  return `${load}((${form === 'atomic' ? `atomicLoad(&${word})` : word}>>(((${at})&1u)<<4u))&0xffffu)`;
}

/** Puts the bits of a 16 bit float into its place, which may be half of a word, beside which another thread may write the other. */
function storeNarrow(s: Statement & { readonly kind: 'assign' }, names: Names): string | undefined {
  const place = narrowAt(s.to, names);
  if (place === undefined) return undefined;
  const { buffer, at, of } = place;
  if (s.op !== '=') throw new InternalError(`${buffer} is of ${of.dtype}, which kernels only set`);
  const bits = `${narrowFunctions[of.dtype].store}(${expression(s.value, names)})`;
  if (of.form === 'f16') return `${buffer}[${at}]=bitcast<vec2<f16>>(${bits}).x;`;
  const word = `&${buffer}[narrowAt>>1u]`;
  return (
    `{let narrowAt=${at};let narrowBits=${bits};let narrowShift=(narrowAt&1u)<<4u;` +
    `atomicAnd(${word},~(0xffffu<<narrowShift));atomicOr(${word},narrowBits<<narrowShift);}`
  );
}

function type(t: Type): string {
  if (t.kind === 'name') return t.name;
  if (t.kind === 'atomic') return `atomic<${t.of}>`;
  return `array<${type(t.of)}${t.length === undefined ? '' : `,${expression(t.length, NO_NAMES)}`}>`;
}

function statements(list: readonly Statement[], names: Names): string {
  return list.map((s) => statement(s, names)).join('');
}

function statement(s: Statement, names: Names): string {
  switch (s.kind) {
    case 'if': {
      const rest = s.else === undefined ? '' : `else{${statements(s.else, names)}}`;
      return `if(${expression(s.test, names)}){${statements(s.then, names)}}${rest}`;
    }
    case 'for': {
      const part = (inner: Statement | undefined): string =>
        inner === undefined ? '' : simple(inner, names);
      const test = s.test === undefined ? '' : expression(s.test, names);
      return `for(${part(s.init)};${test};${part(s.step)}){${statements(s.body, names)}}`;
    }
    case 'return':
      return s.value === undefined ? 'return;' : `return ${expression(s.value, names)};`;
    case 'break':
    case 'continue':
      return `${s.kind};`;
    default: {
      const stored = s.kind === 'assign' ? storeNarrow(s, names) : undefined;
      return stored ?? `${simple(s, names)};`;
    }
  }
}

function simple(s: Statement, names: Names): string {
  if (s.kind === 'declare') {
    const typed = s.type === undefined ? '' : `:${type(s.type)}`;
    const value = s.value === undefined ? '' : `=${expression(s.value, names)}`;
    return `${s.mutable ? 'var' : 'let'} ${s.name}${typed}${value}`;
  }
  // To set a float of 16 bits takes several statements.
  if (s.kind === 'assign' && narrowAt(s.to, names) === undefined)
    return `${expression(s.to, names)}${s.op}${expression(s.value, names)}`;
  if (s.kind === 'call') return expression(s.call, names);
  throw new InternalError(`a ${s.kind} stands where only simple statements may`);
}

function expression(e: Expression, names: Names): string {
  switch (e.kind) {
    case 'number':
      return e.text;
    case 'bool':
      return String(e.value);
    case 'name':
      return names.buffers.get(e.name) ?? e.name;
    case 'unary':
      return `${e.op}${operand(e.of, names)}`;
    case 'binary':
      // WGSL wants parentheses between some operators, so all nested ones get them. The space keeps `a - -b` apart.
      return `${operand(e.left, names)}${e.op} ${operand(e.right, names)}`;
    case 'index': {
      const narrow = narrowAt(e, names);
      if (narrow !== undefined) return loadNarrow(narrow.buffer, narrow.at, narrow.of);
      return `${operand(e.of, names)}[${expression(e.at, names)}]`;
    }
    case 'member':
      return `${operand(e.of, names)}.${e.name}`;
    case 'call': {
      const args = e.args.map((arg) => expression(arg, names)).join(',');
      return `${e.name}${e.type === undefined ? '' : `<${type(e.type)}>`}(${args})`;
    }
  }
}

function operand(e: Expression, names: Names): string {
  const text = expression(e, names);
  return e.kind === 'binary' || e.kind === 'unary' ? `(${text})` : text;
}
