/** `tf.keras.saving`: objects of Keras as plain JSON, and what is the user's among them. */
import { InvalidArgumentError } from '@eagre/core';
import {
  customObjects as allCustomObjects,
  customObject,
  defineFunction,
  enterCustomObjects,
  isPlain,
  kind,
  type NamedFunction,
  registeredName,
  type SerializedObject,
  scoped,
  shown,
} from '@eagre/core/internal';
import { constraints, initializers, layers, regularizers } from '@eagre/layers';
import { losses, metrics } from '@eagre/metrics';
import * as optimizers from '@eagre/optimizers';

export { type RegisterOptions, registerKerasSerializable } from '@eagre/core/internal';
export {
  type Comparison,
  KerasFileEditor,
  type LoadedSafetensors,
  type LoadOptions,
  type LoadSafetensorsOptions,
  type LoadWeightsOptions,
  loadModel,
  loadSafetensors,
  loadWeights,
  type SaveOptions,
  type SaveSafetensorsOptions,
  type SaveWeightsOptions,
  saveModel,
  saveModelToBytes,
  saveSafetensors,
  saveWeights,
  type WeightNames,
  type WeightSource,
  type WeightsDict,
} from '@eagre/layers';

type Objects = Readonly<Record<string, unknown>>;
type Base = abstract new (...args: never) => object;

interface Family {
  readonly module: string;
  readonly base: Base;
  write(object: never): object;
  read(written: never): object;
}
/** Where Keras has its models. */
const MODELS: readonly unknown[] = ['keras', 'keras.src.models.functional'];
const asJson = (object: { toJSON(): object }): object => object.toJSON();
const families = (): readonly Family[] => [
  { module: 'keras.layers', base: layers.Layer, write: layers.serialize, read: layers.deserialize },
  {
    module: 'keras.optimizers',
    base: optimizers.Optimizer,
    write: optimizers.serialize,
    read: optimizers.deserialize,
  },
  {
    module: 'keras.optimizers.schedules',
    base: optimizers.schedules.LearningRateSchedule,
    write: optimizers.schedules.serialize,
    read: optimizers.schedules.deserialize,
  },
  { module: 'keras.losses', base: losses.Loss, write: losses.serialize, read: losses.deserialize },
  { module: 'keras.metrics', base: metrics.Metric, write: metrics.serialize, read: metrics.deserialize },
  { module: 'keras.initializers', base: initializers.Initializer, write: asJson, read: initializers.get },
  { module: 'keras.regularizers', base: regularizers.Regularizer, write: asJson, read: regularizers.get },
  { module: 'keras.constraints', base: constraints.Constraint, write: asJson, read: constraints.get },
];

/**
 * Makes classes and functions of the user's known by name while `fn` runs, or, with `using`, until the block ends:
 * `tf.keras.saving.customObjectScope({ Scaled }, () => tf.layers.deserialize(config))`.
 */
export const customObjectScope: {
  <T>(objects: Objects, fn: () => T): T;
  <T>(options: {
    /** Classes and functions by the names that files have for them. */
    readonly objects: Objects;
    /** What runs while the names hold. */
    readonly fn: () => T;
  }): T;
  (
    objects:
      | Objects
      | {
          /** Classes and functions by the names that files have for them. */
          readonly objects: Objects;
        },
  ): Disposable;
} = /* @__PURE__ */ defineFunction<
  NamedFunction<[objects: Objects, fn?: () => unknown], ['objects', 'fn'], unknown, unknown>
>(
  'keras.saving.customObjectScope',
  { objects: { plain: true }, fn: kind.optional(true) },
  {},
  (objects, fn = undefined) => {
    if (!isPlain(objects))
      throw new InvalidArgumentError(
        `objects must be classes and functions by name, got ${shown(objects)}`,
        'keras.saving.customObjectScope',
      );
    return scoped(() => enterCustomObjects(objects), 'keras.saving.customObjectScope', fn);
  },
) as never;

/**
 * What is known by name: classes and functions that are registered, by their names in files, `Custom>squash`, and those of scopes. The
 * object is a copy: `registerKerasSerializable` and `customObjectScope` make more known.
 */
export const getCustomObjects: NamedFunction<[], [], unknown, Objects> = /* @__PURE__ */ defineFunction(
  'keras.saving.getCustomObjects',
  {},
  {},
  () => allCustomObjects(),
);

/** What a class or a function is called in files: `Custom>squash` of one that is registered, else its own name. */
export const getRegisteredName: NamedFunction<[obj: object], ['obj'], unknown, string> =
  /* @__PURE__ */ defineFunction('keras.saving.getRegisteredName', { obj: true }, {}, (obj: unknown) => {
    if (typeof obj !== 'function')
      throw new InvalidArgumentError(
        `expected a class or a function, got ${shown(obj)}`,
        'keras.saving.getRegisteredName',
      );
    return registeredName(obj) ?? obj.name;
  });

/** The class or the function of a name in files, among `customObjects` too; null where there is none. */
export const getRegisteredObject: NamedFunction<
  [name: string, customObjects?: Objects | null],
  ['name', 'customObjects'],
  unknown,
  object | null
> = /* @__PURE__ */ defineFunction(
  'keras.saving.getRegisteredObject',
  { name: true, customObjects: { plain: true } },
  {},
  (name: unknown, customObjects: unknown = null) => {
    const fail = (message: string): never => {
      throw new InvalidArgumentError(message, 'keras.saving.getRegisteredObject');
    };
    if (typeof name !== 'string') return fail(`name must be a string, got ${shown(name)}`);
    if (customObjects !== null && !isPlain(customObjects))
      return fail(`customObjects must be classes and functions by name, got ${shown(customObjects)}`);
    const own = (customObjects ?? {}) as Objects;
    return customObject(name) ?? (Object.hasOwn(own, name) ? (own[name] as object) : null);
  },
);

/** A layer, a model, an optimizer, schedule, loss, metric, initializer, regularizer or constraint as plain JSON, in Keras's form; null of null. */
export const serializeKerasObject: NamedFunction<
  [obj: object | null],
  ['obj'],
  unknown,
  SerializedObject | null
> = /* @__PURE__ */ defineFunction('keras.saving.serializeKerasObject', { obj: true }, {}, (obj: unknown) => {
  if (obj === null) return null;
  const family = isPlain(obj) ? undefined : families().find(({ base }) => obj instanceof base);
  if (family === undefined)
    throw new InvalidArgumentError(
      `expected a layer, an optimizer, or another object of Keras's classes, got ${shown(obj)}`,
      'keras.saving.serializeKerasObject',
    );
  return JSON.parse(JSON.stringify(family.write(obj as never))) as SerializedObject;
});

/** The object that `serializeKerasObject`, or Keras, wrote. `customObjects` are classes of your own by name. */
export const deserializeKerasObject: NamedFunction<
  [config: SerializedObject | null, customObjects?: Objects | null],
  ['config', 'customObjects'],
  unknown,
  object | null
> = /* @__PURE__ */ defineFunction(
  'keras.saving.deserializeKerasObject',
  { config: { plain: true }, customObjects: { plain: true } },
  {},
  (config: unknown, customObjects: unknown = null) => {
    if (config === null) return null;
    const what = 'keras.saving.deserializeKerasObject';
    if (!isPlain(config) || typeof config['class_name'] !== 'string' || !isPlain(config['config']))
      throw new InvalidArgumentError(`expected { module, class_name, config }, got ${shown(config)}`, what);
    const { class_name: name, registered_name: registered, module } = config as unknown as SerializedObject;
    return customObjectScope((customObjects ?? {}) as Objects, () => {
      const own = customObject(registered ?? name) ?? customObject(name);
      const family = families().find(
        ({ base, module: known }) =>
          known === (MODELS.includes(module) ? 'keras.layers' : module) ||
          (typeof own === 'function' && own.prototype instanceof base),
      );
      if (family === undefined)
        throw new InvalidArgumentError(
          `the class '${name}' of the configuration is not known: register it with registerKerasSerializable first`,
          what,
        );
      return family.read(config as never);
    });
  },
);
