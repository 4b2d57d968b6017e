/** `tf.keras.dtypePolicies`. */
import { defineFunction, type NamedFunction } from '@eagre/core/internal';
import {
  DTypePolicy,
  DTypePolicyMap,
  type PolicyName,
  type QuantizedPolicyName,
  quantizedPolicyOf,
} from '@eagre/layers';

export {
  AWQDTypePolicy,
  DTypePolicy,
  DTypePolicy as FloatDTypePolicy,
  DTypePolicyMap,
  GPTQDTypePolicy,
  Int4DTypePolicy,
  QuantizedDTypePolicy,
  QuantizedFloat8DTypePolicy,
} from '@eagre/layers';

type Written = Readonly<Record<string, unknown>>;

/** The policy of a name, of what `serialize` wrote, or as it is. @throws InvalidArgumentError for anything else */
export const get: NamedFunction<
  [identifier: PolicyName | QuantizedPolicyName | DTypePolicy | Written],
  ['identifier'],
  unknown,
  DTypePolicy
> = /* @__PURE__ */ defineFunction(
  'keras.dtypePolicies.get',
  { identifier: { plain: true } },
  {},
  (identifier: unknown) => {
    if (identifier instanceof DTypePolicy) return identifier;
    const quantized = quantizedPolicyOf(identifier);
    if (quantized !== null) return quantized;
    const { class_name: name, config } = (identifier ?? {}) as {
      readonly class_name?: string;
      readonly config?: Written;
    };
    if (config !== undefined && name === 'DTypePolicyMap') return DTypePolicyMap.fromConfig(config);
    return config === undefined ? new DTypePolicy(identifier as PolicyName) : DTypePolicy.fromConfig(config);
  },
);
/** A policy as plain JSON, in Keras's form. */
export const serialize: NamedFunction<[policy: DTypePolicy], ['policy'], unknown, Written> =
  /* @__PURE__ */ defineFunction('keras.dtypePolicies.serialize', { policy: true }, {}, (policy) =>
    get(policy as DTypePolicy).toJSON(),
  );
/** The policy that `serialize`, or Keras, wrote. */
export const deserialize: NamedFunction<[config: Written], ['config'], unknown, DTypePolicy> =
  /* @__PURE__ */ defineFunction(
    'keras.dtypePolicies.deserialize',
    { config: { plain: true } },
    {},
    (config) => get({ identifier: config as Written }),
  );
