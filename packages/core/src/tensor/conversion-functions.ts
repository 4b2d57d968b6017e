// `tf.registerTensorConversionFunction`: how objects of a class become tensors.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import { asIs, defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { checkFunction, checkNumber, shown } from '../arguments/checks.ts';
import { CompositeTensor } from '../composite/composite.ts';
import { conversions } from './convert.ts';
import { Tensor } from './tensor.ts';

// biome-ignore lint/suspicious/noExplicitAny: classes of whatever values
type AnyClass = abstract new (...args: any[]) => any;

/** Makes a tensor of an object; of `dtype`, where that is given. Null where it cannot. */
// biome-ignore lint/suspicious/noExplicitAny: objects of the class
export type ConversionFunction = (value: any, options: { readonly dtype?: DType }) => Tensor | null;

/**
 * Has every function of tensors take objects of a class: `conversionFunc(value, { dtype })` makes a tensor of each.
 *
 *     tf.registerTensorConversionFunction(Celsius, (t) => tf.constant(t.degrees));
 *     tf.add(new Celsius(20), 1);
 *
 * Functions of a lower `priority` (100 unless given) are asked first, and of the same one those that came first.
 * @throws InvalidArgumentError for what is no class of the user's own, and no function.
 */
export const registerTensorConversionFunction: NamedFunction<
  [baseType: AnyClass | readonly AnyClass[], conversionFunc: ConversionFunction, priority?: number],
  ['baseType', 'conversionFunc', 'priority'],
  unknown,
  void
> = /* @__PURE__ */ defineFunction(
  'registerTensorConversionFunction',
  { baseType: asIs, conversionFunc: asIs, priority: asIs },
  {},
  (baseType, conversionFunc, priority = 100) => {
    const op = 'registerTensorConversionFunction';
    const classes: readonly unknown[] = Array.isArray(baseType) ? baseType : [baseType];
    const builtIn: readonly unknown[] = [Object, Array, Number, String, Boolean, Function];
    for (const cls of classes)
      if (
        typeof cls !== 'function' ||
        // Arrow functions make no objects.
        typeof (cls as { prototype?: unknown }).prototype !== 'object' ||
        builtIn.includes(cls) ||
        cls === Tensor ||
        (cls as AnyClass).prototype instanceof Tensor ||
        (cls as AnyClass).prototype instanceof CompositeTensor
      )
        throw new InvalidArgumentError(`baseType must be a class of your own, got ${shown(cls)}`, op);
    checkFunction(conversionFunc, 'conversionFunc', op);
    checkNumber(priority, 'priority', op);
    conversions.push({ classes: classes as readonly AnyClass[], convert: conversionFunc as never, priority });
    conversions.sort((a, b) => a.priority - b.priority);
  },
);
