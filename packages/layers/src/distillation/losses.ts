// How far a student is from its teacher.
import { FailedPreconditionError, InvalidArgumentError, nest, type Tensor } from '@eagre/core';
import {
  argumentsOf,
  checkText,
  configOf,
  customClass,
  isPlain,
  type Option,
  optionsFrom,
  type SerializedObject,
  serializedObject,
  setOptions,
  shown,
  snakeCase,
  takesOptions,
  unknownName,
} from '@eagre/core/internal';
import { losses } from '@eagre/metrics';
import type { Tensors } from '../layer/batch-tensors.ts';
import type { FunctionalGraph } from '../models/functional.ts';
import type { Model } from '../models/model.ts';
import { functionConfig, functionOf } from '../saving/keras-object.ts';

/** Compares outputs of the teacher with those of the student. */
export type DistillationFunction = losses.Loss | ((teacher: Tensor, student: Tensor) => Tensor);
/** The name of a loss, a loss, a function, or null for an output that does not count. */
export type DistillationLossLike = string | DistillationFunction | SerializedObject | null;
/** One loss, or as many as there are outputs, arranged as they are. */
export type DistillationLosses =
  | DistillationLossLike
  | readonly DistillationLosses[]
  | { readonly [name: string]: DistillationLosses };

type Compare = (teacher: Tensor, student: Tensor) => Tensor;
type Functions = Readonly<Record<string, unknown>>;

/** @internal What a model of symbolic inputs computes; undefined for a model that is only a class. */
export function graphOf(model: Model): FunctionalGraph | undefined {
  try {
    return model.described;
  } catch (error) {
    if (error instanceof FailedPreconditionError) return undefined;
    throw error;
  }
}

const notLosses = ['get', 'serialize', 'deserialize'];

/** The bare function of a name: Keras takes names of functions for these, and those of classes for objects. */
function namedFunction(name: string): unknown {
  const wanted = /^[A-Z]+$/.test(name) ? name.toLowerCase() : name;
  const functions = Object.keys(losses).filter((key) => /^[a-z]/.test(key) && !notLosses.includes(key));
  const key = functions.find((own) => own === wanted || snakeCase(own) === wanted);
  return key === undefined ? undefined : (losses as Functions)[key];
}
/** What a file calls a function of ours: of its names the long one. */
function nameOf(like: unknown): string | undefined {
  const names = Object.keys(losses).filter((key) => (losses as Functions)[key] === like);
  const name = names.sort((a, b) => b.length - a.length)[0];
  return name === undefined ? undefined : snakeCase(name);
}

/** @internal Losses of what was given or read from a file. @throws InvalidArgumentError where none is left */
export function lossesOf(given: unknown, of: string): DistillationLosses {
  const all = eachLoss(given);
  if (nest.flatten(all).every((part) => part === null))
    throw new InvalidArgumentError('at least one loss must not be null', of);
  return all as DistillationLosses;
}
function eachLoss(given: unknown): unknown {
  if (given === null || given === undefined) return null;
  if (typeof given === 'string') return namedFunction(given) ?? losses.get(given);
  if (Array.isArray(given)) return given.map(eachLoss);
  if (!isPlain(given)) {
    if (typeof given !== 'function')
      throw new InvalidArgumentError(`expected a loss, its name or a function, got ${shown(given)}`, 'loss');
    // A class is refused there.
    return given instanceof losses.Loss || !(given.prototype instanceof losses.Loss)
      ? given
      : losses.get(given as never);
  }
  if (typeof given['class_name'] !== 'string')
    return Object.fromEntries(Object.entries(given).map(([name, loss]) => [name, eachLoss(loss)]));
  const { class_name: name, config } = given;
  const known = name === 'function' && typeof config === 'string' ? namedFunction(config) : undefined;
  return known ?? functionOf(given) ?? losses.deserialize(given as never);
}

function written(loss: unknown): unknown {
  if (loss === null) return null;
  if (Array.isArray(loss)) return loss.map(written);
  if (isPlain(loss))
    return Object.fromEntries(Object.entries(loss).map(([name, part]) => [name, written(part)]));
  if (loss instanceof losses.Loss) return losses.serialize(loss);
  const config = nameOf(loss);
  if (config === undefined) return functionConfig(loss);
  return { module: 'builtins', class_name: 'function', config, registered_name: 'function' };
}

/** @param name stands where no loss is given */
const lossOption = (name: string): Option<DistillationLosses> => ({
  read(given, _, of) {
    return lossesOf(given === undefined ? name : given, of.constructor.name);
  },
  write: written,
});

/** @internal The sum of the losses of the outputs, each a scalar; of their means unless given. */
export function total(
  loss: DistillationLosses,
  teacher: Tensors,
  student: Tensors,
  of: (compare: Compare, teacher: Tensor, student: Tensor) => Tensor = (compare, a, b) => mean(compare(a, b)),
): Tensor {
  const parts = nest.flatten(
    nest.mapStructure(
      (compare: unknown, a: unknown, b: unknown) =>
        compare === null ? null : of(compare as Compare, a as Tensor, b as Tensor),
      loss as unknown,
      teacher as unknown,
      student as unknown,
    ),
  ) as (Tensor | null)[];
  return parts.filter((part) => part !== null).reduce((a, b) => a.add(b));
}
const mean = (loss: Tensor): Tensor => (loss.rank === 0 ? loss : loss.mean());

/**
 * What a student learns from a teacher by. Extend it, and write `computeLoss`. A class of your own that files hold is registered by
 * `registerKerasSerializable`.
 */
export class DistillationLoss {
  constructor(...args: readonly unknown[]) {
    setOptions(this, argumentsOf(new.target, new.target, args));
  }
  /** A new loss of the options that `getConfig` gave, here or in Keras. */
  static fromConfig(config: Readonly<Record<string, unknown>>): DistillationLoss {
    // biome-ignore lint/complexity/noThisInStatic: of the class that it is called on
    return new this(optionsFrom(config, this));
  }

  /**
   * The loss as a scalar tensor, of outputs of both models: a tensor, or several in a list or by name.
   * @throws FailedPreconditionError for a class that has not written it
   */
  computeLoss(_teacherOutputs: Tensors, _studentOutputs: Tensors): Tensor {
    throw new FailedPreconditionError('its class has no computeLoss method', this.constructor.name);
  }
  /** @throws InvalidArgumentError where outputs of both models are arranged otherwise */
  validateOutputs(teacherOutputs: Tensors, studentOutputs: Tensors): void {
    nest.assertSameStructure(teacherOutputs, studentOutputs);
  }
  /** Called when a `Distiller` is made; an own class may throw for models that it does not suit. */
  validateModelCompatibility(_teacher: Model, _student: Model): void {}

  /** What makes it again, by Keras's names. */
  getConfig(): Record<string, unknown> {
    return configOf(this);
  }
  /** What `JSON.stringify` writes: the class and its options, as in files of Keras. */
  toJSON(): SerializedObject {
    return serializedObject(this, 'keras.distillation');
  }
}
takesOptions<object, DistillationLoss>({ options: {} }, DistillationLoss);

/** Options of `LogitsDistillation`. */
export interface LogitsDistillationOptions {
  /** Outputs are divided by it; above 0, 3 by default. */
  readonly temperature?: number;
  /**
   * `'kl_divergence'` by default. As in Keras 3, that name stands for the bare function, which takes the divided outputs as they are. For
   * outputs that are logits write `new KLDivergence()` or `'KLDivergence'`: then both sides go through softmax first, and the loss is
   * multiplied by the square of the temperature.
   */
  readonly loss?: DistillationLosses;
}
/** How far the student's outputs are from the teacher's, both divided by a temperature. */
export class LogitsDistillation extends DistillationLoss {
  /** Outputs are divided by it. */
  declare readonly temperature: number;
  /** How the outputs of both models are compared. */
  declare readonly loss: DistillationLosses;

  constructor(
    ...args:
      | [temperature?: number, loss?: DistillationLosses]
      | [temperature: number, options?: Pick<LogitsDistillationOptions, 'loss'>]
      | [options?: LogitsDistillationOptions]
  ) {
    super(...args);
  }
  override computeLoss(teacherOutputs: Tensors, studentOutputs: Tensors): Tensor {
    return total(this.loss, teacherOutputs, studentOutputs, (compare, teacher, student) => {
      const [a, b] = [teacher.div(this.temperature), student.div(this.temperature)];
      if (!(compare instanceof losses.KLDivergence)) return mean(compare(a, b));
      return mean(compare(a.softmax(), b.softmax())).mul(this.temperature ** 2);
    });
  }
}
takesOptions<LogitsDistillationOptions, LogitsDistillation>(
  {
    positional: ['temperature', 'loss'],
    required: 0,
    objects: ['loss'],
    options: {
      temperature: {
        read(given = 3) {
          if (typeof given === 'number' && given > 0) return given;
          throw new InvalidArgumentError(
            `temperature must be a number above 0, got ${shown(given)}`,
            'LogitsDistillation',
          );
        },
      },
      loss: lossOption('kl_divergence'),
    },
  },
  LogitsDistillation,
);

interface LayerNames {
  /** The layer of the teacher whose output counts; the model's output unless given. */
  readonly teacherLayerName?: string | null;
  /** The layer of the student whose output counts; the model's output unless given. It counts only where the teacher's is given, too. */
  readonly studentLayerName?: string | null;
}
/** Options of `FeatureDistillation`. */
export interface FeatureDistillationOptions extends LayerNames {
  /** `'mse'` by default. */
  readonly loss?: DistillationLosses;
}
/** How far outputs of a layer of the student are from those of a layer of the teacher. Layers are of models that have symbolic inputs. */
export class FeatureDistillation extends DistillationLoss {
  /** How the outputs of both layers are compared. */
  declare readonly loss: DistillationLosses;
  /** The layer of the teacher whose output counts. */
  declare readonly teacherLayerName: string | null;
  /** The layer of the student whose output counts. It counts only where the teacher's is given, too. */
  declare readonly studentLayerName: string | null;

  constructor(
    ...args:
      | [loss?: DistillationLosses, teacherLayerName?: string | null, studentLayerName?: string | null]
      | [loss: DistillationLosses, options?: LayerNames]
      | [options?: FeatureDistillationOptions]
  ) {
    super(...args);
  }
  override validateModelCompatibility(teacher: Model, student: Model): void {
    const both = [
      ['teacher', teacher, this.teacherLayerName],
      ['student', student, this.studentLayerName],
    ] as const;
    if (both.every(([, , name]) => name === null)) return;
    for (const [which, model] of both)
      if (graphOf(model) === undefined)
        throw new InvalidArgumentError(
          `layers by name need models of symbolic inputs (tf.Input), which the ${which} is not; leave out the names, or take LogitsDistillation`,
          'FeatureDistillation',
        );
    for (const [, model, name] of both) if (name !== null) model.getLayer(name);
  }
  override validateOutputs(teacherOutputs: Tensors, studentOutputs: Tensors): void {
    super.validateOutputs(teacherOutputs, studentOutputs);
    nest.assertSameStructure(this.loss, teacherOutputs);
  }
  override computeLoss(teacherOutputs: Tensors, studentOutputs: Tensors): Tensor {
    return total(this.loss, teacherOutputs, studentOutputs);
  }
}
const layerName: Option<string | null> = {
  read(given, name) {
    if (given === undefined || given === null || typeof given === 'string') return given ?? null;
    throw new InvalidArgumentError(`${name} must be a string, got ${shown(given)}`, 'FeatureDistillation');
  },
};
takesOptions<FeatureDistillationOptions, FeatureDistillation>(
  {
    positional: ['loss', 'teacherLayerName', 'studentLayerName'],
    required: 0,
    objects: ['loss'],
    options: {
      loss: lossOption('mse'),
      teacherLayerName: layerName,
      studentLayerName: layerName,
    },
  },
  FeatureDistillation,
);

/** @internal The loss of what `JSON.stringify` wrote, or Keras. @throws InvalidArgumentError for an unknown class */
export function deserializeDistillationLoss(serialized: SerializedObject): DistillationLoss {
  const { class_name: name, registered_name: registered, config } = serialized;
  checkText(name, 'class_name', 'DistillationLoss');
  const own =
    customClass<typeof DistillationLoss>(registered ?? name, DistillationLoss) ??
    customClass<typeof DistillationLoss>(name, DistillationLoss);
  const known: Readonly<Record<string, typeof DistillationLoss>> = {
    LogitsDistillation,
    FeatureDistillation,
  };
  const Class = own ?? (Object.hasOwn(known, name) ? known[name] : undefined);
  if (Class === undefined)
    throw new InvalidArgumentError(
      `${unknownName(name, Object.keys(known), 'distillation loss')}; register your own classes with registerKerasSerializable`,
    );
  return Class.fromConfig(config as Readonly<Record<string, unknown>>);
}
