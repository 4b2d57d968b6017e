// The precision of layers: of their weights, and of what they compute.
import { InvalidArgumentError } from '@eagre/core';
import {
  argumentsOf,
  configOf,
  defineFunction,
  isPlain,
  kerasDefaults,
  type NamedFunction,
  optionsFrom,
  setOptions,
  takesOptions,
} from '@eagre/core/internal';
import { show } from './show.ts';

/** The floats that layers compute in. */
export type FloatDType = 'float16' | 'bfloat16' | 'float32' | 'float64';
/** Precisions by name: one for everything, or 16 bits for what is computed from weights of 32. */
export type PolicyName = FloatDType | 'mixed_float16' | 'mixed_bfloat16';

const names: readonly PolicyName[] = [
  'float32',
  'float64',
  'float16',
  'bfloat16',
  'mixed_float16',
  'mixed_bfloat16',
];

export interface DTypePolicyOptions {
  readonly name: PolicyName;
}

/**
 * In which precision a layer keeps its weights and computes: `new Dense(8, { dtype: 'mixed_bfloat16' })`. With a mixed policy weights are
 * float32, and are read in 16 bits where the layer computes (Micikevicius and others, "Mixed precision training", 2018).
 */
export class DTypePolicy {
  declare readonly name: PolicyName;

  constructor(...args: [name: PolicyName | DTypePolicyOptions]) {
    // Of the class that is made: others have options of their own.
    setOptions(this, argumentsOf<DTypePolicyOptions>(new.target, new.target, args));
  }
  /** Of the results of a layer. */
  get computeDtype(): FloatDType {
    return this.name.replace('mixed_', '') as FloatDType;
  }
  /** Of the weights. */
  get variableDtype(): FloatDType {
    return this.name.startsWith('mixed_') ? 'float32' : (this.name as FloatDType);
  }
  /** The integers that weights are kept as; null for floats. */
  get quantizationMode(): 'int8' | null {
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
export type QuantizedPolicyName = `int8_from_${PolicyName}`;
const PREFIX = 'int8_from_';

export interface QuantizedDTypePolicyOptions {
  readonly mode: 'int8';
  /** The policy of the floats; the global one unless given. */
  readonly sourceName?: PolicyName | null;
}

/** The policy of layers whose large weights are kept as int8: `int8_from_float32`. `layer.quantize` gives it to a layer. */
export class QuantizedDTypePolicy extends DTypePolicy {
  declare readonly mode: 'int8';
  declare readonly sourceName: PolicyName;

  constructor(
    ...args: [
      mode: 'int8' | QuantizedDTypePolicyOptions,
      sourceName?: PolicyName | QuantizedDTypePolicyOptions,
    ]
  ) {
    super(argumentsOf<QuantizedDTypePolicyOptions>(QuantizedDTypePolicy, new.target, args) as never);
    Object.defineProperty(this, 'name', { value: `${PREFIX}${this.sourceName}`, enumerable: true });
  }
  override get computeDtype(): FloatDType {
    return named(this.sourceName).computeDtype;
  }
  override get variableDtype(): FloatDType {
    return named(this.sourceName).variableDtype;
  }
  override get quantizationMode(): 'int8' {
    return 'int8';
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
takesOptions<QuantizedDTypePolicyOptions, QuantizedDTypePolicy>(
  {
    positional: ['mode', 'sourceName'],
    required: 1,
    options: {
      mode: {
        read: (given) => {
          if (given === 'int8') return given;
          throw new InvalidArgumentError(
            `the mode must be 'int8', got ${show(given)}`,
            'QuantizedDTypePolicy',
          );
        },
      },
      sourceName: {
        read: (given) => {
          const name = (given ?? dtypePolicy().name) as PolicyName;
          if (!names.includes(name))
            throw new InvalidArgumentError(
              `sourceName must be one of ${names.join(', ')}, got ${show(given)}`,
              'QuantizedDTypePolicy',
            );
          if (name === 'float16' || name === 'mixed_float16')
            throw new InvalidArgumentError(
              'float16 is too narrow for the sums of int8; use mixed_bfloat16 or float32',
              'QuantizedDTypePolicy',
            );
          return name;
        },
      },
    },
  },
  QuantizedDTypePolicy,
);

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
export const setDtypePolicy: NamedFunction<[policy: PolicyName | DTypePolicy], ['policy'], unknown, void> =
  /* @__PURE__ */ defineFunction('keras.config.setDtypePolicy', { policy: { plain: true } }, {}, (policy) => {
    global = policyOf(policy);
  });

/** The policy of an option, which may be a name, a policy, or what Keras writes. @throws InvalidArgumentError for anything else */
export function policyOf(given: unknown, of = 'DTypePolicy'): DTypePolicy {
  if (given === undefined || given === null) return global ?? named(kerasDefaults.floatx);
  if (given instanceof DTypePolicy) return given;
  const { class_name: className, config } = given as {
    readonly class_name?: unknown;
    readonly config?: { readonly name?: unknown };
  };
  if (typeof given === 'string' && given.startsWith(PREFIX))
    return new QuantizedDTypePolicy('int8', given.slice(PREFIX.length) as PolicyName);
  if (isPlain(given) && className === 'QuantizedDTypePolicy' && isPlain(config))
    return QuantizedDTypePolicy.fromConfig(config as Record<string, unknown>);
  const isWritten = isPlain(given) && className === 'DTypePolicy' && isPlain(config);
  const name = (isWritten ? config?.name : given) as PolicyName;
  if (!names.includes(name))
    throw new InvalidArgumentError(`dtype must be a policy (${names.join(', ')}), got ${show(given)}`, of);
  return named(name);
}

/** Whether a precision has 16 bits. */
export const isHalfPrecision = (dtype: FloatDType): boolean => dtype === 'float16' || dtype === 'bfloat16';
