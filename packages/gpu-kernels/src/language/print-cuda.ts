import { InternalError } from '@eagre/backend';
import { declaredIn } from './names.ts';
import {
  type Expression,
  type FunctionDeclaration,
  type KernelModule,
  narrowFunctions,
  narrowOf,
  type Statement,
  type Type,
} from './syntax.ts';

/** The functions of WGSL that kernels may call, which give the same bits on every device, or nearly so; and what GPUs of NVIDIA have besides: `deviceFence`. */
const BUILTINS = new Set([
  'abs',
  'atomicAdd',
  'atomicMax',
  'bitcast',
  'ceil',
  'clamp',
  'deviceFence',
  'floor',
  'fma',
  'inverseSqrt',
  'max',
  'min',
  'round',
  'select',
  'sqrt',
  'trunc',
  'workgroupBarrier',
]);
const TYPES = new Set(['f32', 'u32', 'i32', 'bool', 'vec2u', 'vec3u']);
/** The value of a builtin of WGSL in CUDA. */
const BUILTIN_VALUES: Readonly<Record<string, string>> = {
  workgroup_id: 'vec3u{blockIdx.x,blockIdx.y,blockIdx.z}',
  local_invocation_id: 'vec3u{threadIdx.x,threadIdx.y,threadIdx.z}',
  num_workgroups: 'vec3u{gridDim.x,gridDim.y,gridDim.z}',
  global_invocation_id:
    'vec3u{blockIdx.x*blockDim.x+threadIdx.x,blockIdx.y*blockDim.y+threadIdx.y,blockIdx.z*blockDim.z+threadIdx.z}',
  local_invocation_index: '(threadIdx.z*blockDim.y+threadIdx.y)*blockDim.x+threadIdx.x',
};

/**
 * A kernel as CUDA C++, in a namespace of its own, for a compiler that has read `cudaPrelude`. Its parameters are a pointer for each storage buffer and the
 * uniform block by value, in the order of the bindings.
 * @param name of the global function.
 */
export function printCuda(module: KernelModule, name: string): string {
  const printer = new CudaPrinter(module);
  return printer.print(name);
}

type IndexExpression = Expression & { readonly kind: 'index' };

class CudaPrinter {
  readonly #module: KernelModule;
  readonly #functions: ReadonlySet<string>;
  /** What only the entry point sees. */
  readonly #ofEntry: ReadonlySet<string>;
  /** Buffers of 16 bit floats. */
  readonly #narrow = new Map<string, 'float16' | 'bfloat16'>();
  #inEntry = false;
  #locals: ReadonlySet<string> = new Set();

  constructor(module: KernelModule) {
    this.#module = module;
    this.#functions = new Set([
      ...module.functions.map(({ name }) => name),
      ...module.structs.map(({ name }) => name),
    ]);
    for (const binding of module.bindings) {
      const dtype = narrowOf(binding);
      if (dtype !== undefined) this.#narrow.set(binding.name, dtype);
    }
    this.#ofEntry = new Set([...module.bindings, ...module.shared].map(({ name }) => name));
  }

  print(name: string): string {
    const { structs, constants, bindings, shared, functions, entry, workgroup } = this.#module;
    const lines: string[] = [`namespace ns_${name} {`];
    for (const { name, fields } of structs)
      lines.push(`struct ${name} { ${fields.map((f) => `${this.#declared(f.type, f.name)};`).join(' ')} };`);
    for (const { name, type, value } of constants)
      lines.push(`constexpr ${this.#declared(type, name)} = ${this.#expression(value)};`);
    for (const f of functions) lines.push(this.#function(f));
    const parameters = bindings.map((b) => {
      if (b.space === 'uniform') return `const ${this.#typeName(b.type)} ${b.name}`;
      if (b.type.kind !== 'array') throw new InternalError(`the buffer ${b.name} is no array`);
      const of = this.#narrow.has(b.name) ? 'u16' : this.#typeName(b.type.of);
      return `${b.written ? '' : 'const '}${of}* ${b.name}`;
    });
    const [x, y, z] = workgroup;
    lines.push(
      `extern "C" __global__ void __launch_bounds__(${x * y * z}) ${name}(${parameters.join(', ')}) {`,
    );
    for (const { name, type } of shared) lines.push(`__shared__ ${this.#declared(type, name)};`);
    for (const { name, type, builtin } of entry.parameters) {
      const value = BUILTIN_VALUES[builtin ?? ''];
      if (value === undefined) throw new InternalError(`there is no builtin ${builtin}`);
      lines.push(`const ${this.#declared(type, name)} = ${value};`);
    }
    this.#inEntry = true;
    lines.push(this.#statements(entry.body), '}', '}');
    return `${lines.join('\n')}\n`;
  }

  #function({ name, parameters, result, body }: FunctionDeclaration): string {
    this.#locals = new Set([...parameters.map((p) => p.name), ...declaredIn(body)]);
    const list = parameters.map((p) => this.#declared(p.type, p.name)).join(', ');
    const type = result === undefined ? 'void' : this.#typeName(result);
    return `__device__ __forceinline__ ${type} ${name}(${list}) {\n${this.#statements(body)}\n}`;
  }

  #typeName(type: Type): string {
    if (type.kind === 'atomic') return type.of;
    if (type.kind === 'array') throw new InternalError('an array stands where only a value may');
    if (!TYPES.has(type.name) && !this.#functions.has(type.name))
      throw new InternalError(`a GPU kernel is not in the subset of WGSL: type ${type.name}`);
    return type.name;
  }

  #declared(type: Type, name: string): string {
    let base = type;
    let sizes = '';
    while (base.kind === 'array') {
      if (base.length === undefined) throw new InternalError(`the array ${name} has no length`);
      sizes += `[${this.#expression(base.length)}]`;
      base = base.of;
    }
    return `${this.#typeName(base)} ${name}${sizes}`;
  }

  #statements(list: readonly Statement[]): string {
    return list.map((s) => this.#statement(s)).join('\n');
  }

  #statement(s: Statement): string {
    switch (s.kind) {
      case 'if': {
        const rest = s.else === undefined ? '' : ` else {\n${this.#statements(s.else)}\n}`;
        return `if (${this.#expression(s.test)}) {\n${this.#statements(s.then)}\n}${rest}`;
      }
      case 'for': {
        const part = (inner: Statement | undefined): string =>
          inner === undefined ? '' : this.#simple(inner);
        const test = s.test === undefined ? '' : this.#expression(s.test);
        return `for (${part(s.init)}; ${test}; ${part(s.step)}) {\n${this.#statements(s.body)}\n}`;
      }
      case 'return':
        return s.value === undefined ? 'return;' : `return ${this.#expression(s.value)};`;
      case 'break':
      case 'continue':
        return `${s.kind};`;
      default:
        return `${this.#simple(s)};`;
    }
  }

  #simple(s: Statement): string {
    if (s.kind === 'declare') {
      const value = s.value === undefined ? ' = {}' : ` = ${this.#expression(s.value)}`;
      if (s.type !== undefined)
        return `${s.mutable ? '' : 'const '}${this.#declared(s.type, s.name)}${value}`;
      if (s.value === undefined) throw new InternalError(`${s.name} has neither type nor value`);
      return `${s.mutable ? '' : 'const '}auto ${s.name}${value}`;
    }
    if (s.kind === 'assign') return this.#assign(s);
    if (s.kind === 'call') return this.#expression(s.call);
    throw new InternalError(`a ${s.kind} stands where only simple statements may`);
  }

  #assign({ to, op, value }: Statement & { readonly kind: 'assign' }): string {
    const dtype = this.#narrowAt(to);
    if (dtype === undefined) return `${this.#expression(to)} ${op} ${this.#expression(value)}`;
    if (op !== '=') throw new InternalError(`a buffer is of ${dtype}, which kernels only set`);
    return `${this.#place(to as IndexExpression)} = u16(${narrowFunctions[dtype].store}(${this.#expression(value)}))`;
  }

  /** The dtype of an element of a buffer of 16 bit floats. */
  #narrowAt(e: Expression): 'float16' | 'bfloat16' | undefined {
    return e.kind === 'index' && e.of.kind === 'name' ? this.#narrow.get(e.of.name) : undefined;
  }

  #place({ of, at }: IndexExpression): string {
    return `${this.#expression(of)}[${this.#expression(at)}]`;
  }

  #expression(e: Expression): string {
    switch (e.kind) {
      case 'number':
        return number(e.text);
      case 'bool':
        return String(e.value);
      case 'name':
        if (!this.#inEntry && this.#ofEntry.has(e.name) && !this.#locals.has(e.name))
          throw new InternalError(`only the entry point of a GPU kernel may use ${e.name}`);
        return e.name;
      case 'unary':
        return `(${e.op}${this.#expression(e.of)})`;
      case 'binary':
        return `(${this.#expression(e.left)} ${e.op} ${this.#expression(e.right)})`;
      case 'index': {
        const dtype = this.#narrowAt(e);
        return dtype === undefined
          ? this.#place(e)
          : `${narrowFunctions[dtype].load}(u32(${this.#place(e)}))`;
      }
      case 'member':
        return `${this.#expression(e.of)}.${e.name}`;
      case 'call':
        return this.#call(e);
    }
  }

  #call({ name, type, args }: Expression & { kind: 'call' }): string {
    const list = args.map((arg) => this.#expression(arg)).join(', ');
    if (BUILTINS.has(name))
      return `wg_${name}${type === undefined ? '' : `<${this.#typeName(type)}>`}(${list})`;
    if (TYPES.has(name)) return name.startsWith('vec') ? `${name}{${list}}` : `${name}(${list})`;
    if (!this.#functions.has(name))
      throw new InternalError(`a GPU kernel is not in the subset of WGSL: function ${name}`);
    return `${name}(${list})`;
  }
}

function number(text: string): string {
  if (/^0[xX]/.test(text)) return text.replace(/i$/, '');
  if (/[.eE]/.test(text) || text.endsWith('f')) {
    const digits = text.replace(/f$/, '');
    return `${/[.eE]/.test(digits) ? digits : `${digits}.0`}f`;
  }
  return text.replace(/i$/, '');
}

/** What printed kernels need before them: the types and functions of WGSL, in CUDA C++. */
export const cudaPrelude = `typedef float f32;
typedef unsigned int u32;
typedef int i32;
typedef unsigned short u16;
struct alignas(8) vec2u { u32 x, y; };
struct vec3u { u32 x, y, z; };
template <class T> struct wg_same { typedef T type; };
template <class T> __device__ __forceinline__ T wg_select(T f, typename wg_same<T>::type t, bool c) { return c ? t : f; }
template <class T, class F> __device__ __forceinline__ T wg_bitcast(F f) {
  static_assert(sizeof(T) == sizeof(F), "sizes");
  T t;
  memcpy(&t, &f, sizeof t);
  return t;
}
template <class T> __device__ __forceinline__ T wg_min(T a, typename wg_same<T>::type b) { return b < a ? b : a; }
template <class T> __device__ __forceinline__ T wg_max(T a, typename wg_same<T>::type b) { return a < b ? b : a; }
template <class T> __device__ __forceinline__ T wg_clamp(T x, typename wg_same<T>::type a, typename wg_same<T>::type b) { return wg_min(wg_max(x, a), b); }
__device__ __forceinline__ f32 wg_abs(f32 x) { return fabsf(x); }
__device__ __forceinline__ i32 wg_abs(i32 x) { return x < 0 ? i32(0u - u32(x)) : x; }
__device__ __forceinline__ f32 wg_floor(f32 x) { return floorf(x); }
__device__ __forceinline__ f32 wg_ceil(f32 x) { return ceilf(x); }
__device__ __forceinline__ f32 wg_trunc(f32 x) { return truncf(x); }
__device__ __forceinline__ f32 wg_round(f32 x) { return rintf(x); }
__device__ __forceinline__ f32 wg_sqrt(f32 x) { return sqrtf(x); }
__device__ __forceinline__ f32 wg_inverseSqrt(f32 x) { return 1.0f / sqrtf(x); }
__device__ __forceinline__ f32 wg_fma(f32 a, f32 b, f32 c) { return fmaf(a, b, c); }
__device__ __forceinline__ u32 wg_atomicMax(u32* p, u32 v) { return atomicMax(p, v); }
__device__ __forceinline__ u32 wg_atomicAdd(u32* p, u32 v) { return atomicAdd(p, v); }
#define wg_workgroupBarrier __syncthreads
// What was written before is seen by all workgroups before what is written behind, and so is what is read.
#define wg_deviceFence __threadfence
`;
