// The precision of layers: of their weights, and of what they compute.
import { InvalidArgumentError } from '@eagre/core';
import {
  argumentsOf,
  configOf,
  defineFunction,
  isPlain,
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
    setOptions(this, argumentsOf<DTypePolicyOptions>(DTypePolicy, new.target, args));
  }
  /** Of the results of a layer. */
  get computeDtype(): FloatDType {
    return this.name.replace('mixed_', '') as FloatDType;
  }
  /** Of the weights. */
  get variableDtype(): FloatDType {
    return this.name.startsWith('mixed_') ? 'float32' : (this.name as FloatDType);
  }
  /** Null: no policy here is of integers. */
  get quantizationMode(): null {
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
    return { module: 'keras', class_name: 'DTypePolicy', config: this.getConfig(), registered_name: null };
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

const known = new Map<string, DTypePolicy>();
/** The policy of a name, always the same one. */
function named(name: PolicyName): DTypePolicy {
  let policy = known.get(name);
  if (policy === undefined) known.set(name, (policy = new DTypePolicy(name)));
  return policy;
}

let global: DTypePolicy | null = null;

/** The policy of layers that are given none: float32, unless `setDtypePolicy` was called. */
export const dtypePolicy: NamedFunction<[], [], unknown, DTypePolicy> = /* @__PURE__ */ defineFunction(
  'keras.config.dtypePolicy',
  {},
  {},
  () => global ?? named('float32'),
);

/** Sets the policy of the layers that are made from now on: `tf.keras.mixedPrecision.setGlobalPolicy('mixed_bfloat16')`. */
export const setDtypePolicy: NamedFunction<[policy: PolicyName | DTypePolicy], ['policy'], unknown, void> =
  /* @__PURE__ */ defineFunction('keras.config.setDtypePolicy', { policy: { plain: true } }, {}, (policy) => {
    global = policyOf(policy);
  });

/** The policy of an option, which may be a name, a policy, or what Keras writes. @throws InvalidArgumentError for anything else */
export function policyOf(given: unknown, of = 'DTypePolicy'): DTypePolicy {
  if (given === undefined || given === null) return global ?? named('float32');
  if (given instanceof DTypePolicy) return given;
  const { class_name: className, config } = given as {
    readonly class_name?: unknown;
    readonly config?: { readonly name?: unknown };
  };
  const isWritten = isPlain(given) && className === 'DTypePolicy' && isPlain(config);
  const name = (isWritten ? config?.name : given) as PolicyName;
  if (!names.includes(name))
    throw new InvalidArgumentError(`dtype must be a policy (${names.join(', ')}), got ${show(given)}`, of);
  return named(name);
}

/** Whether a precision has 16 bits. */
export const isHalfPrecision = (dtype: FloatDType): boolean => dtype === 'float16' || dtype === 'bfloat16';
