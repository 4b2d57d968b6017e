/** The subset of WGSL in which kernels are written, as a tree. All printers start from it. */

/**
 * A type by its name, or an array; one without `length` is that of a storage buffer. Elements of storage buffers may be `float16` or `bfloat16`: they
 * are read as f32, and rounded when they are written.
 */
export type Type =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'atomic'; readonly of: 'u32' | 'i32' }
  | { readonly kind: 'array'; readonly of: Type; readonly length: Expression | undefined };

/** What has a value. */
export type Expression =
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'unary'; readonly op: '-' | '!' | '~' | '&'; readonly of: Expression }
  | { readonly kind: 'binary'; readonly op: string; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'index'; readonly of: Expression; readonly at: Expression }
  | { readonly kind: 'member'; readonly of: Expression; readonly name: string }
  | {
      readonly kind: 'call';
      readonly name: string;
      /** Of `bitcast<f32>`. */
      readonly type: Type | undefined;
      readonly args: readonly Expression[];
    };

/** What is done. */
export type Statement =
  | {
      readonly kind: 'declare';
      /** `let` and `const` cannot be assigned to. */
      readonly mutable: boolean;
      readonly name: string;
      readonly type: Type | undefined;
      readonly value: Expression | undefined;
    }
  | { readonly kind: 'assign'; readonly to: Expression; readonly op: string; readonly value: Expression }
  | { readonly kind: 'call'; readonly call: Expression }
  | {
      readonly kind: 'if';
      readonly test: Expression;
      readonly then: readonly Statement[];
      readonly else: readonly Statement[] | undefined;
    }
  | {
      readonly kind: 'for';
      readonly init: Statement | undefined;
      readonly test: Expression | undefined;
      readonly step: Statement | undefined;
      readonly body: readonly Statement[];
    }
  | { readonly kind: 'return'; readonly value: Expression | undefined }
  | { readonly kind: 'break' }
  | { readonly kind: 'continue' };

/** A field of a struct. */
export interface Field {
  readonly name: string;
  readonly type: Type;
}

/** A storage buffer or a uniform block. */
export interface Binding {
  readonly number: number;
  readonly name: string;
  readonly type: Type;
  readonly space: 'storage' | 'uniform';
  /** Whether the kernel writes to it. */
  readonly written: boolean;
}

/** The dtype of the elements of a buffer of 16 bit floats; undefined for other buffers. */
export function narrowOf({ type }: Binding): 'float16' | 'bfloat16' | undefined {
  if (type.kind !== 'array' || type.of.kind !== 'name') return undefined;
  const { name } = type.of;
  return name === 'float16' || name === 'bfloat16' ? name : undefined;
}

/** The functions of `math.ts` between the bits of 16 bit floats and f32. */
export const narrowFunctions = {
  float16: { load: 'halfToF', store: 'fToHalf' },
  bfloat16: { load: 'bfloatToF', store: 'fToBfloat' },
} as const;

/** A parameter of a function. */
export interface Parameter {
  readonly name: string;
  readonly type: Type;
  /** Of an entry point: `global_invocation_id`, … */
  readonly builtin: string | undefined;
}

/** A function of a kernel. */
export interface FunctionDeclaration {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly result: Type | undefined;
  readonly body: readonly Statement[];
}

/** A kernel: its memory, its functions, and where it begins. */
export interface KernelModule {
  readonly structs: readonly { readonly name: string; readonly fields: readonly Field[] }[];
  readonly constants: readonly { readonly name: string; readonly type: Type; readonly value: Expression }[];
  /** By number. */
  readonly bindings: readonly Binding[];
  readonly shared: readonly Field[];
  readonly functions: readonly FunctionDeclaration[];
  readonly entry: FunctionDeclaration;
  /** The entry point with its reductions made by subgroups: see `reductions.ts`. Undefined where it has none. */
  readonly entryOfSubgroups: FunctionDeclaration | undefined;
  readonly workgroup: readonly [x: number, y: number, z: number];
}
