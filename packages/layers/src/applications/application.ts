// What all applications share: their options, the images that they take, and what stands behind their features.
import { InvalidArgumentError, type PartialShape, UnimplementedError } from '@eagre/core';
import {
  checkCount,
  checkNumber,
  checkOneOf,
  checkText,
  defineFunction,
  kerasDefaults,
  type NamedFunction,
  shown,
  showShape,
} from '@eagre/core/internal';
import type { ActivationLike } from '../activations.ts';
import type { Layer } from '../layer/layer.ts';
import { checkPartialShape } from '../layer/specs.ts';
import { resolveActivation } from '../layers/common.ts';
import { Dense } from '../layers/core/dense.ts';
import { GlobalAveragePooling2D, GlobalMaxPooling2D } from '../layers/pooling/pooling.ts';
import { Input } from '../models/functional.ts';
import { KerasTensor } from '../models/keras-tensor.ts';
import { Model } from '../models/model.ts';
import { loadWeightsSync } from '../saving/weight-files.ts';

/** What every application takes. */
export interface ApplicationOptions {
  /** Whether the classifier stands behind the features; true by default. */
  readonly includeTop?: boolean;
  /** A file of weights (`.safetensors`, `.npz`) or a checkpoint of TensorFlow; `null`, the default, for random weights. */
  readonly weights?: string | null;
  /** The symbolic tensor of images that the model begins with, in place of an `Input`. */
  readonly inputTensor?: KerasTensor | null;
  /** [height, width, channels]; without the top, height and width may be null. */
  readonly inputShape?: PartialShape | null;
  /** Without the top: the mean (`'avg'`) or the largest value (`'max'`) over the places of an image; `null` for neither. */
  readonly pooling?: 'avg' | 'max' | null;
  /** How many classes the classifier tells apart; 1000 by default. */
  readonly classes?: number;
  /** Of the classifier: `'softmax'` by default, `null` for logits. */
  readonly classifierActivation?: ActivationLike;
  /** The model's name; that of the architecture by default. */
  readonly name?: string | null;
}

/** A function that makes a model: `MobileNetV2({ inputShape: [96, 96, 3], classes: 5 })`. `O` has the options that only it takes. */
export type Application<O = unknown> = NamedFunction<[], [], ApplicationOptions & O, Model>;

/** The options with their defaults. */
export interface Settings {
  readonly includeTop: boolean;
  readonly pooling: 'avg' | 'max' | null;
  readonly classes: number;
  readonly classifierActivation: ActivationLike;
  /** Null where it was not given. */
  readonly name: string | null;
}

/** Reads an option that only some take: checked, or its default. */
export type Setting<T> = (given: unknown, name: string, op: string) => T;
type SettingsOf<O> = { readonly [K in keyof O]-?: Setting<Exclude<O[K], undefined>> };
type Known<O> = Settings & { readonly [K in keyof O]-?: Exclude<O[K], undefined> };

/** How an application is built. */
export interface Architecture<O> {
  /** Height and width of the images unless they are given; null for any. */
  readonly size: number | null;
  /** The size with the top, where it differs. */
  readonly sizeWithoutTop?: number | null;
  /** The least height and width. */
  readonly least: number;
  /** What the model is called unless it is given a name. */
  readonly name: string | ((settings: Known<O>, rows: number | null) => string);
  /** The options that only it takes. */
  readonly settings: SettingsOf<O>;
  /** The features of images. */
  features(images: KerasTensor, settings: Known<O>): KerasTensor;
  /** The classifier; `averageAndClassify` by default. */
  top?(features: KerasTensor, settings: Known<O>): KerasTensor;
  /** What stands in its place; `pooled` by default. */
  withoutTop?(features: KerasTensor, settings: Known<O>): KerasTensor;
}

/** True or false. */
export const flag =
  (otherwise: boolean): Setting<boolean> =>
  (given = otherwise, name, op) => {
    checkOneOf(given, [true, false], name, op);
    return given as boolean;
  };
/** A number above 0. */
export const positive =
  (otherwise: number): Setting<number> =>
  (given = otherwise, name, op) => {
    checkNumber(given, name, op);
    if (!((given as number) > 0))
      throw new InvalidArgumentError(`${name} must be a number above 0, got ${shown(given)}`, op);
    return given as number;
  };
/** A share, from 0 to less than 1. */
export const share =
  (otherwise: number): Setting<number> =>
  (given = otherwise, name, op) => {
    checkNumber(given, name, op, 0);
    if ((given as number) >= 1)
      throw new InvalidArgumentError(`${name} must be a share below 1, got ${shown(given)}`, op);
    return given as number;
  };
/** An integer of at least 1. */
export const count =
  (otherwise: number): Setting<number> =>
  (given = otherwise, name, op) => {
    checkCount(given, name, op, 1);
    return given as number;
  };

/** A layer, or a function of what is before it. */
export type Step = Layer | ((x: KerasTensor) => KerasTensor);

/** Steps, one behind the other. */
export const through = (x: KerasTensor, ...steps: readonly Step[]): KerasTensor =>
  steps.reduce((y: KerasTensor, step) => (step as (x: KerasTensor) => KerasTensor)(y), x);

/** The number of channels of images, or of features. */
export const channelsOf = (x: KerasTensor): number => x.shape.at(-1) as number;

/** Means over the places of an image, and a dense layer on them, after what comes `between`. */
export function averageAndClassify(
  x: KerasTensor,
  { classes, classifierActivation: activation }: Settings,
  { name = 'avg_pool', between = [], ...options }: TopOptions = {},
): KerasTensor {
  return through(
    x,
    new GlobalAveragePooling2D({ name }),
    ...between,
    new Dense(classes, { activation, name: 'predictions', ...options }),
  );
}
interface TopOptions extends Pick<ConstructorParameters<typeof Dense>[0] & object, 'kernelInitializer'> {
  /** Of the layer of means. */
  readonly name?: string | null;
  readonly between?: readonly Step[];
}

/** What `pooling` says of the features. */
export function pooled(
  x: KerasTensor,
  { pooling }: Settings,
  names: { readonly avg: string; readonly max: string } | { readonly avg?: null; readonly max?: null } = {},
): KerasTensor {
  if (pooling === null) return x;
  const name = names[pooling] ?? null;
  return (pooling === 'avg' ? new GlobalAveragePooling2D({ name }) : new GlobalMaxPooling2D({ name }))(x);
}
/** The same by layers that have names of their own. */
export const pooledByName = (x: KerasTensor, settings: Settings): KerasTensor =>
  pooled(x, settings, { avg: 'avg_pool', max: 'max_pool' });

const common = {
  includeTop: true,
  weights: true,
  inputTensor: true,
  inputShape: true,
  pooling: true,
  classes: true,
  classifierActivation: true,
  name: true,
} as const;

/** Declares an application. @param name as it is exported. */
export function defineApplication<O extends object = object>(
  name: string,
  architecture: Architecture<O>,
): Application<O> {
  const op = `applications.${name}`;
  const own = Object.keys(architecture.settings) as (keyof O & string)[];
  const options = { ...common, ...Object.fromEntries(own.map((key) => [key, true])) };
  return defineFunction<Application>(op, {}, options, (given) =>
    build(architecture, given as ApplicationOptions & O, op),
  ) as Application<O>;
}

function build<O>(architecture: Architecture<O>, given: ApplicationOptions & O, op: string): Model {
  const { weights = null, inputTensor = null } = given;
  checkWeights(weights, op);
  const settings = read(architecture, given, op);
  if (weights !== null && settings.includeTop) checkActivation(settings.classifierActivation, op);
  if (inputTensor !== null && !(inputTensor instanceof KerasTensor))
    throw new InvalidArgumentError(
      `inputTensor must be a symbolic tensor, a result of tf.Input or of a layer, got ${shown(inputTensor)}`,
      op,
    );
  const shape = shapeOfImages(architecture, given.inputShape ?? null, inputTensor, settings.includeTop, op);
  const images = inputTensor ?? Input(shape);
  const features = architecture.features(images, settings);
  const outputs = settings.includeTop
    ? (architecture.top ?? averageAndClassify)(features, settings)
    : (architecture.withoutTop ?? pooled)(features, settings);
  const { name } = architecture;
  const inputs = sourcesOf(images);
  const model = new Model(inputs.length === 1 ? inputs[0] : inputs, outputs, {
    name: given.name ?? (typeof name === 'string' ? name : name(settings, shape[0])),
  });
  if (weights !== null) loadWeightsSync(model, weights);
  return model;
}

function checkWeights(weights: unknown, op: string): void {
  if (weights === null) return;
  checkText(weights, 'weights', op);
  if (weights === 'imagenet')
    throw new UnimplementedError(
      "weights of ImageNet cannot be downloaded here: give weights the path of a file that you have, or make the model without, and read them by 'await model.loadWeights(path)'",
      op,
    );
}

/** @throws InvalidArgumentError for what the classifier of a file of weights was not trained with */
function checkActivation(activation: ActivationLike, op: string): void {
  const known = [resolveActivation('softmax'), resolveActivation(null)];
  if (!known.includes(resolveActivation(activation)))
    throw new InvalidArgumentError(
      `classifierActivation must be 'softmax' or null where weights are read, got ${shown(activation)}`,
      op,
    );
}

function read<O>({ settings }: Architecture<O>, given: ApplicationOptions & O, op: string): Known<O> {
  const { pooling = null, classifierActivation = 'softmax', name = null } = given;
  checkOneOf(pooling, ['avg', 'max', null], 'pooling', op);
  if (name !== null) checkText(name, 'name', op);
  const own = Object.entries<Setting<unknown>>(settings).map(([key, setting]) => [
    key,
    setting((given as Readonly<Record<string, unknown>>)[key], key, op),
  ]);
  return {
    includeTop: flag(true)(given.includeTop, 'includeTop', op),
    pooling,
    classes: count(1000)(given.classes, 'classes', op),
    classifierActivation,
    name,
    ...Object.fromEntries(own),
  } as Known<O>;
}

/** [height, width, channels] of the images. @throws InvalidArgumentError for images that the network cannot take */
function shapeOfImages<O>(
  { size, sizeWithoutTop = null, least }: Architecture<O>,
  given: PartialShape | null,
  tensor: KerasTensor | null,
  includeTop: boolean,
  op: string,
): PartialShape {
  if (kerasDefaults.imageDataFormat === 'channelsFirst')
    throw new UnimplementedError(
      "the networks are of images whose channels are last; call tf.keras.config.setImageDataFormat('channelsLast') first",
      op,
    );
  const otherwise = includeTop ? size : sizeWithoutTop;
  const shape = given === null ? [otherwise, otherwise, 3] : checkPartialShape(given, 'inputShape', op);
  const fail = (message: string): never => {
    throw new InvalidArgumentError(`${message}, got inputShape ${showShape(shape)}`, op);
  };
  if (shape.length !== 3) fail('images have height, width and channels');
  if (includeTop && size !== null && shape.includes(null))
    fail('a model with its top must know the size of its images; give a size, or includeTop: false');
  if (shape.slice(0, 2).some((n) => n !== null && n < least))
    fail(`images must have at least ${least} × ${least} pixels`);
  if (given !== null && tensor !== null) {
    const own = tensor.shape.slice(1);
    const agree = own.length === 3 && own.every((n, i) => n === null || shape[i] === null || n === shape[i]);
    if (!agree) fail(`inputTensor has images ${showShape(own)}`);
  }
  return shape;
}

/** The inputs that a symbolic tensor depends on. */
function sourcesOf(tensor: KerasTensor): KerasTensor[] {
  const { producer } = tensor;
  return producer === null ? [tensor] : [...new Set(producer.inputs.flatMap(sourcesOf))];
}
