// The precision of layers: of their weights, and of what they compute.
import { InvalidArgumentError } from '@eagre/core';
import {
  argumentsOf,
  configOf,
  defineFunction,
  isPlain,
  kerasDefaults,
  type NamedFunction,
  naming,
  type Option,
  optionsFrom,
  setOptions,
  takesOptions,
} from '@eagre/core/internal';
import { show } from './show.ts';

/** The floats that layers compute in. */
export type FloatDType = 'float16' | 'bfloat16' | 'float32' | 'float64';
/** What layers may be of that move values, or compute with whole numbers. */
export type IntegerDType =
  | 'int8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'uint64'
  | 'bool';
/** What a layer is of. */
export type LayerDType = FloatDType | IntegerDType;
/** Precisions of floats by name: one for everything, or 16 bits for what is computed from weights of 32. */
export type FloatPolicyName = FloatDType | 'mixed_float16' | 'mixed_bfloat16';
/** Precisions by name. */
export type PolicyName = FloatPolicyName | IntegerDType;

const floatNames: readonly FloatPolicyName[] = [
  'float32',
  'float64',
  'float16',
  'bfloat16',
  'mixed_float16',
  'mixed_bfloat16',
];
const names: readonly PolicyName[] = [
  ...floatNames,
  'int8',
  'int16',
  'int32',
  'int64',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'bool',
];

const byName = names.filter((name) => name !== 'int8');

/** The integers that weights are kept as, the floats of 8 bits that are multiplied, or how integers of few bits are chosen. */
export type QuantizationMode = 'int8' | 'int4' | 'float8' | 'gptq' | 'awq';

/** All arguments of `DTypePolicy`, by name. */
export interface DTypePolicyOptions {
  /** A dtype, or `mixed_float16` and `mixed_bfloat16`, which compute in 16 bits and keep weights in 32. */
  readonly name: PolicyName;
}

/**
 * In which precision a layer keeps its weights and computes: `new Dense(8, { dtype: 'mixed_bfloat16' })`. With a mixed policy weights are
 * float32, and are read in 16 bits where the layer computes (Micikevicius and others, "Mixed precision training", 2018). Layers that move values, or add and
 * multiply them, may be of integers or truths, to which they convert floats: `new Flatten({ dtype: 'int32' })`.
 */
export class DTypePolicy {
  /** A dtype, or `mixed_float16` and `mixed_bfloat16`, which compute in 16 bits and keep weights in 32. */
  declare readonly name: PolicyName;

  constructor(...args: [name: PolicyName | DTypePolicyOptions]) {
    // Of the class that is made: others have options of their own.
    setOptions(this, argumentsOf<DTypePolicyOptions>(new.target, new.target, args));
  }
  /** Of the results of a layer. */
  get computeDtype(): LayerDType {
    return this.name.replace('mixed_', '') as LayerDType;
  }
  /** Of the weights. */
  get variableDtype(): LayerDType {
    return this.name.startsWith('mixed_') ? 'float32' : (this.name as LayerDType);
  }
  /** The integers that weights are kept as; null for floats. */
  get quantizationMode(): QuantizationMode | null {
    return null;
  }
  getConfig(): Record<string, unknown> {
    return configOf(this);
  }
  /** A policy of the options that `getConfig` gave. */
  static fromConfig(config: Readonly<Record<string, unknown>>): DTypePolicy {
    return new DTypePolicy(optionsFrom(config, DTypePolicy) as unknown as DTypePolicyOptions);
  }
  /** In Keras's form. */
  toJSON(): Record<string, unknown> {
    return {
      module: 'keras',
      class_name: this.constructor.name,
      config: this.getConfig(),
      registered_name: null,
    };
  }
}
takesOptions<DTypePolicyOptions, DTypePolicy>(
  {
    positional: ['name'],
    options: {
      name: {
        read: (given) => {
          if (!names.includes(given as PolicyName))
            throw new InvalidArgumentError(
              `a policy is one of ${names.join(', ')}, got ${show(given)}`,
              'DTypePolicy',
            );
          return given as PolicyName;
        },
      },
    },
  },
  DTypePolicy,
);

/** Of floats, which are kept as integers. */
export type QuantizedPolicyName =
  `${'int8' | 'int4' | `int4/${number}` | 'float8' | `gptq/${number}/${number}` | `awq/4/${number}`}_from_${FloatPolicyName}`;
const QUANTIZED = /^(int8|int4(?:\/.*)?|float8|(?:gptq|awq)\/.*)_from_(.*)$/;

/** Options of `QuantizedDTypePolicy`. */
export interface QuantizedDTypePolicyOptions {
  /** `int4` has one scale for each output; with groups it is the mode of an `Int4DTypePolicy`. */
  readonly mode: 'int8' | 'int4';
  /** The policy of the floats; the global one unless given. */
  readonly sourceName?: FloatPolicyName | null;
}

/** The policy of layers whose large weights are kept as int8: `int8_from_float32`. `layer.quantize` gives it to a layer. */
export class QuantizedDTypePolicy extends DTypePolicy {
  /** What is kept. */
  declare readonly mode: QuantizationMode;
  /** The policy of the floats. */
  declare readonly sourceName: FloatPolicyName;

  constructor(
    ...args: [
      mode: 'int8' | 'int4' | QuantizedDTypePolicyOptions,
      sourceName?: FloatPolicyName | QuantizedDTypePolicyOptions,
    ]
  ) {
    super(argumentsOf<QuantizedDTypePolicyOptions>(QuantizedDTypePolicy, new.target, args) as never);
    Object.defineProperty(this, 'name', { value: `${this.mode}_from_${this.sourceName}`, enumerable: true });
  }
  override get computeDtype(): LayerDType {
    return named(this.sourceName).computeDtype;
  }
  override get variableDtype(): LayerDType {
    return named(this.sourceName).variableDtype;
  }
  override get quantizationMode(): QuantizationMode {
    return this.mode;
  }

  /** In Keras's form. */
  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), module: 'keras.dtype_policies' };
  }
  /** A policy of the options that `getConfig` gave. */
  static override fromConfig(config: Readonly<Record<string, unknown>>): QuantizedDTypePolicy {
    return new QuantizedDTypePolicy(
      optionsFrom(config, QuantizedDTypePolicy) as unknown as QuantizedDTypePolicyOptions,
    );
  }
}
const sourceName: Option<FloatPolicyName> = {
  read: (given: unknown, _: string, of: object) => {
    const name = (given ?? dtypePolicy().name) as FloatPolicyName;
    if (!floatNames.includes(name))
      throw new InvalidArgumentError(
        `sourceName must be one of ${floatNames.join(', ')}, got ${show(given)}`,
        'QuantizedDTypePolicy',
      );
    const { mode } = of as { readonly mode?: string };
    if ((name === 'float16' || name === 'mixed_float16') && mode === 'int8')
      throw new InvalidArgumentError(
        'float16 is too narrow for the sums of int8; use mixed_bfloat16 or float32',
        'QuantizedDTypePolicy',
      );
    return name;
  },
};
takesOptions<QuantizedDTypePolicyOptions, QuantizedDTypePolicy>(
  {
    positional: ['mode', 'sourceName'],
    required: 1,
    options: {
      mode: {
        read: (given) => {
          if (given === 'int8' || given === 'int4') return given;
          throw new InvalidArgumentError(
            `the mode must be 'int8' or 'int4', got ${show(given)}`,
            'QuantizedDTypePolicy',
          );
        },
      },
      sourceName,
    },
  },
  QuantizedDTypePolicy,
);

/** Options of `Int4DTypePolicy`. */
export interface Int4DTypePolicyOptions {
  /** `int4/` and how many elements have a scale together; -1 for all. */
  readonly mode: `int4/${number}`;
  /** The policy of the floats; the global one unless given. */
  readonly sourceName?: FloatPolicyName | null;
}

/** The policy of layers whose large weights are kept in 4 bits, in groups: `int4/128_from_float32`. `layer.quantize` gives it to a layer. */
export class Int4DTypePolicy extends QuantizedDTypePolicy {
  /** How many elements have a scale together; null for all. */
  readonly blockSize: number | null;

  constructor(
    ...args: [
      mode: `int4/${number}` | Int4DTypePolicyOptions,
      sourceName?: FloatPolicyName | Int4DTypePolicyOptions,
    ]
  ) {
    super(argumentsOf<Int4DTypePolicyOptions>(Int4DTypePolicy, new.target, args) as never);
    const size = Number((this.mode as string).slice('int4/'.length));
    this.blockSize = size === -1 ? null : size;
    (this as { mode: string }).mode = 'int4';
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), mode: `int4/${this.blockSize ?? -1}` };
  }
  /** A policy of the options that `getConfig` gave. */
  static override fromConfig(config: Readonly<Record<string, unknown>>): Int4DTypePolicy {
    return new Int4DTypePolicy(optionsFrom(config, Int4DTypePolicy) as unknown as Int4DTypePolicyOptions);
  }
}
takesOptions<Int4DTypePolicyOptions, Int4DTypePolicy>(
  {
    positional: ['mode', 'sourceName'],
    required: 1,
    options: {
      mode: {
        read: (given: unknown) => {
          if (typeof given === 'string' && /^int4\/(-1|[1-9]\d{0,8})$/.test(given)) return given as 'int4/1';
          throw new InvalidArgumentError(
            `the mode must be 'int4/' and a positive integer or -1, got ${show(given)}`,
            'Int4DTypePolicy',
          );
        },
      },
      sourceName,
    } as never,
  },
  Int4DTypePolicy,
);

/** Options of `QuantizedFloat8DTypePolicy`. */
export interface QuantizedFloat8DTypePolicyOptions {
  /** The kind of quantization: 8-bit floats. */
  readonly mode: 'float8';
  /** The policy of the floats; the global one unless given. */
  readonly sourceName?: FloatPolicyName | null;
  /** How many steps the scales remember; 1024 unless given. */
  readonly amaxHistoryLength?: number;
}

/** The policy of layers that multiply floats of 8 bits: `float8_from_float32`. `layer.quantize` gives it to a layer. */
export class QuantizedFloat8DTypePolicy extends QuantizedDTypePolicy {
  /** How many steps the scales remember. */
  declare readonly amaxHistoryLength: number;

  constructor(
    ...args: [
      mode: 'float8' | QuantizedFloat8DTypePolicyOptions,
      sourceName?: FloatPolicyName | QuantizedFloat8DTypePolicyOptions,
      options?: Pick<QuantizedFloat8DTypePolicyOptions, 'amaxHistoryLength'>,
    ]
  ) {
    super(
      argumentsOf<QuantizedFloat8DTypePolicyOptions>(QuantizedFloat8DTypePolicy, new.target, args) as never,
    );
  }
  /** A policy of the options that `getConfig` gave. */
  static override fromConfig(config: Readonly<Record<string, unknown>>): QuantizedFloat8DTypePolicy {
    return new QuantizedFloat8DTypePolicy(
      optionsFrom(config, QuantizedFloat8DTypePolicy) as unknown as QuantizedFloat8DTypePolicyOptions,
    );
  }
}
takesOptions<QuantizedFloat8DTypePolicyOptions, QuantizedFloat8DTypePolicy>(
  {
    positional: ['mode', 'sourceName', 'amaxHistoryLength'],
    required: 1,
    options: {
      mode: {
        read: (given: unknown) => {
          if (given === 'float8') return given;
          throw new InvalidArgumentError(
            `the mode must be 'float8', got ${show(given)}`,
            'QuantizedFloat8DTypePolicy',
          );
        },
      },
      sourceName,
      amaxHistoryLength: {
        read: (given: unknown = 1024) => {
          if (Number.isSafeInteger(given) && (given as number) > 0) return given as number;
          throw new InvalidArgumentError(
            `amaxHistoryLength must be a positive integer, got ${show(given)}`,
            'QuantizedFloat8DTypePolicy',
          );
        },
      },
    } as never,
  },
  QuantizedFloat8DTypePolicy,
);

/** The weights that a policy of `gptq` or `awq` says. */
interface FewBits {
  /** Of each weight. */
  readonly weightBits: number;
  /** How many elements have a scale together; -1 for all. */
  readonly groupSize: number;
}
/** Reads `gptq/4/128`, and leaves the mode alone. */
function readFewBits(policy: QuantizedDTypePolicy & FewBits): void {
  const [mode, bits, size] = policy.mode.split('/');
  Object.assign(policy, { mode, weightBits: Number(bits), groupSize: Number(size) });
}
const fewBits = (name: string, form: RegExp, said: string): Option<string> => ({
  read: (given: unknown) => {
    if (typeof given === 'string' && form.test(given)) return given;
    throw new InvalidArgumentError(
      `the mode must be ${said} and a positive integer or -1, got ${show(given)}`,
      name,
    );
  },
});

/** Options of `GPTQDTypePolicy`. */
export interface GPTQDTypePolicyOptions {
  /** `gptq/`, 2, 3, 4 or 8 bits, and how many elements have a scale together; -1 for all. */
  readonly mode: `gptq/${number}/${number}`;
  /** The policy of the floats; the global one unless given. */
  readonly sourceName?: FloatPolicyName | null;
}

/** The policy of layers whose weights `model.quantize('gptq')` chose: `gptq/4/128_from_float32`. */
export class GPTQDTypePolicy extends QuantizedDTypePolicy implements FewBits {
  declare readonly weightBits: 2 | 3 | 4 | 8;
  declare readonly groupSize: number;

  constructor(
    ...args: [
      mode: `gptq/${number}/${number}` | GPTQDTypePolicyOptions,
      sourceName?: FloatPolicyName | GPTQDTypePolicyOptions,
    ]
  ) {
    super(argumentsOf<GPTQDTypePolicyOptions>(GPTQDTypePolicy, new.target, args) as never);
    readFewBits(this);
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), mode: `gptq/${this.weightBits}/${this.groupSize}` };
  }
  /** A policy of the options that `getConfig` gave. */
  static override fromConfig(config: Readonly<Record<string, unknown>>): GPTQDTypePolicy {
    return new GPTQDTypePolicy(optionsFrom(config, GPTQDTypePolicy) as unknown as GPTQDTypePolicyOptions);
  }
}
takesOptions<GPTQDTypePolicyOptions, GPTQDTypePolicy>(
  {
    positional: ['mode', 'sourceName'],
    required: 1,
    options: {
      mode: fewBits('GPTQDTypePolicy', /^gptq\/[2348]\/(-1|[1-9]\d{0,8})$/, "'gptq/', 2, 3, 4 or 8, '/'"),
      sourceName,
    } as never,
  },
  GPTQDTypePolicy,
);

/** Options of `AWQDTypePolicy`. */
export interface AWQDTypePolicyOptions {
  /** `awq/4/` and how many elements have a scale together; -1 for all. */
  readonly mode: `awq/4/${number}`;
  /** The policy of the floats; the global one unless given. */
  readonly sourceName?: FloatPolicyName | null;
}

/** The policy of layers whose weights `model.quantize('awq')` chose: `awq/4/128_from_float32`. */
export class AWQDTypePolicy extends QuantizedDTypePolicy implements FewBits {
  declare readonly weightBits: 4;
  declare readonly groupSize: number;

  constructor(
    ...args: [
      mode: `awq/4/${number}` | AWQDTypePolicyOptions,
      sourceName?: FloatPolicyName | AWQDTypePolicyOptions,
    ]
  ) {
    super(argumentsOf<AWQDTypePolicyOptions>(AWQDTypePolicy, new.target, args) as never);
    readFewBits(this);
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), mode: `awq/4/${this.groupSize}` };
  }
  /** A policy of the options that `getConfig` gave. */
  static override fromConfig(config: Readonly<Record<string, unknown>>): AWQDTypePolicy {
    return new AWQDTypePolicy(optionsFrom(config, AWQDTypePolicy) as unknown as AWQDTypePolicyOptions);
  }
}
takesOptions<AWQDTypePolicyOptions, AWQDTypePolicy>(
  {
    positional: ['mode', 'sourceName'],
    required: 1,
    options: {
      mode: fewBits('AWQDTypePolicy', /^awq\/4\/(-1|[1-9]\d{0,8})$/, "'awq/4/'"),
      sourceName,
    } as never,
  },
  AWQDTypePolicy,
);

const QUANTIZED_CLASSES = {
  QuantizedDTypePolicy,
  Int4DTypePolicy,
  QuantizedFloat8DTypePolicy,
  GPTQDTypePolicy,
  AWQDTypePolicy,
} as const;
/** The policy of a mode: `int8`, `int4/128`, `float8`, `gptq/4/128`, `awq/4/128`. @throws InvalidArgumentError for another one */
export function policyOfMode(mode: string, source: FloatPolicyName): QuantizedDTypePolicy {
  if (mode === 'float8') return new QuantizedFloat8DTypePolicy(mode, source);
  if (mode.startsWith('gptq/')) return new GPTQDTypePolicy(mode as never, source);
  if (mode.startsWith('awq/')) return new AWQDTypePolicy(mode as never, source);
  if (mode.includes('/')) return new Int4DTypePolicy(mode as never, source);
  return new QuantizedDTypePolicy(mode as never, source);
}
/** The policy of a name such as `int8_from_float32`, or of what was written of one; null of anything else. */
export function quantizedPolicyOf(given: unknown): DTypePolicy | null {
  const found = typeof given === 'string' ? QUANTIZED.exec(given) : null;
  if (found !== null) return policyOfMode(found[1] as string, found[2] as FloatPolicyName);
  if (!isPlain(given) || !isPlain(given['config'])) return null;
  const { class_name: name, config } = given as { readonly class_name: never; readonly config: object };
  const Class = Object.hasOwn(QUANTIZED_CLASSES, name) ? QUANTIZED_CLASSES[name as 'Int4DTypePolicy'] : null;
  return Class === null ? null : Class.fromConfig(config as Record<string, unknown>);
}

// By its name alone, `int8` would be a mode of quantization.
type AnyPolicyName = Exclude<PolicyName, 'int8'> | QuantizedPolicyName;
/** A policy, its name, or what Keras writes. */
export type PolicyLike = AnyPolicyName | DTypePolicy | Readonly<Record<string, unknown>>;

/** Options of `DTypePolicyMap`. */
export interface DTypePolicyMapOptions {
  /** Of layers that have no other; the global policy at the time unless given. */
  readonly defaultPolicy?: PolicyLike | null;
  /** Policies by paths of layers, `encoder/dense`, or by patterns of whole paths, `encoder/.*`. */
  readonly policyMap?: Readonly<Record<string, PolicyLike>> | null;
}

/**
 * Policies of layers by their paths: `new MultiHeadAttention(2, 8, { dtype: new DTypePolicyMap('float32', { 'attention/query': 'bfloat16' }) })`. Layers
 * hand it on to those inside, each of which takes the policy of its path. A path is a key itself, or matches one as a regular expression.
 */
export class DTypePolicyMap extends DTypePolicy implements Iterable<string> {
  readonly #default: AnyPolicyName | DTypePolicy | null;
  readonly #policies = new Map<string, DTypePolicy>();

  constructor(
    ...args: [
      defaultPolicy?: PolicyLike | null | DTypePolicyMapOptions,
      policyMap?: Readonly<Record<string, PolicyLike>> | null | DTypePolicyMapOptions,
    ]
  ) {
    const options = argumentsOf<DTypePolicyMapOptions>(DTypePolicyMap, new.target, args);
    super(options as never);
    const { defaultPolicy = null, policyMap } = options;
    const otherwise =
      defaultPolicy === null
        ? null
        : naming('defaultPolicy', () => policyOf(defaultPolicy, 'DTypePolicyMap'));
    if (otherwise instanceof DTypePolicyMap)
      throw new InvalidArgumentError('defaultPolicy cannot be a DTypePolicyMap', 'DTypePolicyMap');
    this.#default = typeof defaultPolicy === 'string' ? defaultPolicy : otherwise;
    naming('policyMap', () => {
      for (const [path, policy] of Object.entries(policyMap ?? {})) this.set(path, policy);
    });
    Object.defineProperty(this, 'name', { get: () => `map_${this.defaultPolicy.name}`, enumerable: true });
  }

  /** Of layers that have no other. */
  get defaultPolicy(): DTypePolicy {
    return policyOf(this.#default);
  }
  override get computeDtype(): LayerDType {
    return this.defaultPolicy.computeDtype;
  }
  override get variableDtype(): LayerDType {
    return this.defaultPolicy.variableDtype;
  }
  override get quantizationMode(): QuantizationMode | null {
    return this.defaultPolicy.quantizationMode;
  }
  /** How many keys there are. */
  get size(): number {
    return this.#policies.size;
  }

  /** The policy of a path; the default one where no key matches. @throws InvalidArgumentError where several match */
  get(path: string): DTypePolicy {
    const own = this.#policies.get(path);
    if (own !== undefined) return own;
    const matching = [...this.#policies.keys()].filter((key) => wholePath(key).test(path));
    if (matching.length > 1)
      throw new InvalidArgumentError(
        `the path '${path}' matches several keys, ${matching.map((key) => `'${key}'`).join(', ')}; each path may match one`,
        'DTypePolicyMap.get',
      );
    return matching.length === 0
      ? this.defaultPolicy
      : (this.#policies.get(matching[0] as string) as DTypePolicy);
  }
  /** Adds a key. @throws InvalidArgumentError for one that is there already, and for one that is no regular expression */
  set(path: string, policy: PolicyLike): this {
    if (typeof path !== 'string')
      throw new InvalidArgumentError(`a key must be a string, got ${show(path)}`, 'DTypePolicyMap.set');
    if (this.#policies.has(path))
      throw new InvalidArgumentError(
        `the key '${path}' is there already, with the policy ${this.#policies.get(path)?.name}; delete it first`,
        'DTypePolicyMap.set',
      );
    wholePath(path);
    const read = policyOf(policy, 'DTypePolicyMap');
    if (read instanceof DTypePolicyMap)
      throw new InvalidArgumentError('a policy of a map cannot be a DTypePolicyMap', 'DTypePolicyMap.set');
    this.#policies.set(path, read);
    return this;
  }
  /** Whether it is a key itself. */
  has(path: string): boolean {
    return this.#policies.has(path);
  }
  /** Takes a key away; whether it was there. */
  delete(path: string): boolean {
    return this.#policies.delete(path);
  }
  /** The keys in the order in which they came. */
  keys(): IterableIterator<string> {
    return this.#policies.keys();
  }
  entries(): IterableIterator<[string, DTypePolicy]> {
    return this.#policies.entries();
  }
  [Symbol.iterator](): Iterator<string> {
    return this.#policies.keys();
  }

  override getConfig(): Record<string, unknown> {
    const own = this.#default;
    // As in Keras: with the global policy, those of the map leave their names open, too.
    const open = (policy: DTypePolicy): Record<string, unknown> => {
      const { config, ...rest } = policy.toJSON() as { readonly config: Record<string, unknown> };
      return {
        ...rest,
        config:
          policy instanceof QuantizedDTypePolicy
            ? { ...config, source_name: null }
            : { ...config, name: null },
      };
    };
    return {
      default_policy: own instanceof DTypePolicy ? own.toJSON() : own,
      policy_map: Object.fromEntries(
        [...this.#policies].map(([path, policy]) => [path, own === null ? open(policy) : policy.toJSON()]),
      ),
    };
  }
  /** In Keras's form. */
  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), module: 'keras.dtype_policies' };
  }
  /** A map of the options that `getConfig` gave. */
  static override fromConfig(config: Readonly<Record<string, unknown>>): DTypePolicyMap {
    const { default_policy: defaultPolicy = null, policy_map: policyMap = {} } = config as {
      readonly default_policy?: PolicyLike | null;
      readonly policy_map?: Readonly<Record<string, PolicyLike>>;
    };
    return new DTypePolicyMap({ defaultPolicy, policyMap });
  }
}
takesOptions<DTypePolicyMapOptions, DTypePolicyMap>(
  {
    positional: ['defaultPolicy', 'policyMap'],
    required: 0,
    objects: ['policyMap'],
    options: { defaultPolicy: true, policyMap: true },
  },
  DTypePolicyMap,
);

/** A pattern for the whole of a path. @throws InvalidArgumentError for what is no regular expression */
function wholePath(key: string): RegExp {
  try {
    return new RegExp(`^(?:${key})$`, 'u');
  } catch (cause) {
    throw new InvalidArgumentError(`the key ${show(key)} is no regular expression`, 'DTypePolicyMap', {
      cause,
    });
  }
}

const known = new Map<string, DTypePolicy>();
/** The policy of a name, always the same one. */
function named(name: PolicyName): DTypePolicy {
  let policy = known.get(name);
  if (policy === undefined) known.set(name, (policy = new DTypePolicy(name)));
  return policy;
}

let global: DTypePolicy | null = null;

/** The policy of layers that are given none: that of `setDtypePolicy`, else `floatx()`. */
export const dtypePolicy: NamedFunction<[], [], unknown, DTypePolicy> = /* @__PURE__ */ defineFunction(
  'keras.config.dtypePolicy',
  {},
  {},
  () => global ?? named(kerasDefaults.floatx),
);

/** Sets the policy of the layers that are made from now on: `tf.keras.mixedPrecision.setGlobalPolicy('mixed_bfloat16')`. */
export const setDtypePolicy: NamedFunction<
  [policy: Exclude<PolicyName, 'int8'> | DTypePolicy],
  ['policy'],
  unknown,
  void
> = /* @__PURE__ */ defineFunction(
  'keras.config.setDtypePolicy',
  { policy: { plain: true } },
  {},
  (policy) => {
    global = policyOf(policy);
  },
);

/** The policy of an option, which may be a name, a policy, or what Keras writes. @throws InvalidArgumentError for anything else */
export function policyOf(given: unknown, of = 'DTypePolicy'): DTypePolicy {
  if (given === undefined || given === null) return global ?? named(kerasDefaults.floatx);
  if (given instanceof DTypePolicy) return given;
  const { class_name: className, config } = given as {
    readonly class_name?: unknown;
    readonly config?: { readonly name?: unknown };
  };
  const quantized = quantizedPolicyOf(given);
  if (quantized !== null) return quantized;
  if (isPlain(given) && className === 'DTypePolicyMap' && isPlain(config))
    return DTypePolicyMap.fromConfig(config as Record<string, unknown>);
  const isWritten = isPlain(given) && className === 'DTypePolicy' && isPlain(config);
  // Of a map that leaves it to the global policy.
  if (isWritten && config?.name === null) return global ?? named(kerasDefaults.floatx);
  const name = (isWritten ? config?.name : given) as PolicyName;
  if (!names.includes(name) || given === 'int8')
    throw new InvalidArgumentError(`dtype must be a policy (${byName.join(', ')}), got ${show(given)}`, of);
  return named(name);
}

/** Whether a precision has 16 bits. */
export const isHalfPrecision = (dtype: LayerDType): boolean => dtype === 'float16' || dtype === 'bfloat16';

/** The policy of a layer with this path; that of a map without a path is its default. */
export const policyAt = (policy: DTypePolicy, path: string | null): DTypePolicy =>
  policy instanceof DTypePolicyMap && path !== null ? policy.get(path) : policy;
