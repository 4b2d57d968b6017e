import { constant, InvalidArgumentError, type Tensor } from '@eagre/core';
import { argumentsOf, isPlain, type Option, shown, takesOptions } from '@eagre/core/internal';
import { metrics } from '@eagre/metrics';
import type { Tensors } from '../layer/batch-tensors.ts';
import { type CallOptions, type LayerOptions, type LayerOutput, ownsTemporaries } from '../layer/layer.ts';
import { layerOptions } from '../layers/weights.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';
import { Model } from '../models/model.ts';
import { deserializeLayer, type SerializedLayer, serializeLayer } from '../saving/serialization.ts';
import type { CompileOptions } from '../trainers/compile.ts';
import type { LossArguments } from '../trainers/steps.ts';
import {
  DistillationLoss,
  type DistillationLosses,
  deserializeDistillationLoss,
  FeatureDistillation,
  graphOf,
  lossesOf,
  total,
} from './losses.ts';

/** Options of `Distiller`. */
export interface DistillerOptions extends LayerOptions {
  /** A factor for each loss, 1 by default. */
  readonly distillationLossWeights?: readonly number[] | null;
  /** How much the loss of `compile` counts, from 0 to 1; the rest is what the distillation counts. 0.5 by default. */
  readonly studentLossWeight?: number;
}
/** All arguments of `Distiller`, by name. */
export interface DistillerArguments extends DistillerOptions {
  /** The trained model, which stays as it is. */
  readonly teacher: Model;
  /** The model that is trained. */
  readonly student: Model;
  /** How the outputs of both are compared: one loss or several. */
  readonly distillationLosses: DistillationLoss | readonly DistillationLoss[];
}

type Features = Readonly<Record<string, Tensors>>;
const refuse = (message: string): never => {
  throw new InvalidArgumentError(message, 'Distiller');
};

/**
 * Trains a student by the targets and by what a teacher, which stays as it is, makes of the same examples. `compile` needs a loss for the
 * targets; `fit` reports `student_loss`, `distillation_loss` and `total_loss` beside `loss`. Called, it gives the student's outputs.
 * @throws InvalidArgumentError for models whose symbolic inputs or outputs differ
 */
export class Distiller extends Model {
  /** The trained model, which stays as it is. */
  declare readonly teacher: Model;
  /** The model that is trained. */
  declare readonly student: Model;
  /** How the outputs of both are compared: one loss or several. */
  declare readonly distillationLosses: readonly DistillationLoss[];
  /** A factor for each loss. */
  declare readonly distillationLossWeights: readonly number[];
  /** How much the loss of `compile` counts, from 0 to 1; the rest is what the distillation counts. */
  declare readonly studentLossWeight: number;
  readonly studentLossTracker: metrics.Mean = new metrics.Mean('student_loss');
  readonly distillationLossTracker: metrics.Mean = new metrics.Mean('distillation_loss');
  readonly totalLossTracker: metrics.Mean = new metrics.Mean('total_loss');
  // Models of the same layers, which are no parts of this one.
  readonly #teacherFeatures: (x: Tensors) => Features;
  readonly #studentFeatures: ((x: Tensors) => Features) | undefined;
  #studentLoss: DistillationLosses | null = null;

  constructor(
    ...args:
      | [
          teacher: Model,
          student: Model,
          distillationLosses: DistillationLoss | readonly DistillationLoss[],
          options?: DistillerOptions,
        ]
      | [options: DistillerArguments]
  ) {
    super({
      name: 'distiller',
      ...argumentsOf<DistillerArguments>(Distiller, new.target, args),
    } as LayerOptions);
    const { teacher, student, distillationLosses: all } = this;
    checkAlike(teacher, student);
    for (const loss of all) loss.validateModelCompatibility(teacher, student);
    const byLayers = all.filter((loss) => loss instanceof FeatureDistillation);
    const ofTeacher = extractor(
      teacher,
      byLayers.map((loss) => loss.teacherLayerName),
    );
    const ofStudent = extractor(
      student,
      byLayers.map((loss) => loss.studentLayerName),
    );
    this.#teacherFeatures = (x) =>
      ofTeacher === undefined
        ? { final_output: teacher.invoke(x, { training: false }) }
        : (ofTeacher.invoke(x, { training: false }) as unknown as Features);
    this.#studentFeatures =
      ofStudent && ((x) => ofStudent.invoke(x, { training: true }) as unknown as Features);
    teacher.trainable = false;
  }

  // biome-ignore lint/suspicious/noExplicitAny: as the student takes them
  override call(inputs: any, ...rest: any[]): LayerOutput {
    const [options] = rest as [CallOptions | undefined];
    return this.student.invoke(inputs, options ?? {}) as LayerOutput;
  }

  /** As of any model, but the loss, which is for the student and the targets, has to be given. `'adam'` is the optimizer unless given. */
  override compile(options?: CompileOptions | null): void {
    const { loss, ...others } = options ?? {};
    if (loss === undefined || loss === null)
      refuse('compile needs a loss of the student: compile({ loss: … })');
    this.#studentLoss = lossesOf(loss, 'Distiller');
    super.compile({ optimizer: 'adam', ...others });
  }

  /**
   * The weighted sum of the student's loss and those of the distillation.
   * @throws InvalidArgumentError for sample weights, which no distillation takes into account
   */
  override computeLoss({ x, y, yPred, sampleWeight }: LossArguments): Tensor {
    if (sampleWeight !== undefined && sampleWeight !== null)
      return refuse('takes no sample weights and no class weights: leave them out');
    const zero = constant(0);
    const share = this.studentLossWeight;
    const ofStudent = share > 0 && y !== undefined && y !== null ? this.#supervised(y, yPred) : zero;
    const distilled = share < 1 ? this.#distilled(x, yPred) : zero;
    const total = ofStudent.mul(share).add(distilled.mul(1 - share));
    this.studentLossTracker.updateState(ofStudent);
    this.distillationLossTracker.updateState(distilled);
    this.totalLossTracker.updateState(total);
    return total;
  }
  #supervised(y: Tensors, yPred: Tensors): Tensor {
    if (this.#studentLoss === null) return refuse('compile it with a loss of the student first');
    return total(this.#studentLoss, y, yPred);
  }
  #distilled(x: Tensors | undefined, yPred: Tensors): Tensor {
    if (x === undefined) return refuse('computeLoss needs x, which the teacher sees');
    const teacher = this.#teacherFeatures(x);
    const student = this.#studentFeatures?.(x) ?? { final_output: yPred };
    const parts = this.distillationLosses.map((loss, i) => {
      let [a, b] = [teacher['final_output'], yPred];
      if (loss instanceof FeatureDistillation && loss.teacherLayerName !== null)
        [a, b] = [teacher[loss.teacherLayerName], student[loss.studentLayerName ?? 'final_output']];
      loss.validateOutputs(a, b);
      const value = loss.computeLoss(a, b);
      if (value.rank > 0)
        refuse(`${loss.constructor.name}.computeLoss must give a scalar, got shape [${value.shape}]`);
      return value.mul(this.distillationLossWeights[i]);
    });
    return parts.reduce((a, b) => a.add(b), constant(0));
  }

  override get kerasNames(): Partial<SerializedLayer> {
    return this.constructor === Distiller ? { module: 'keras.distillation' } : {};
  }
}
ownsTemporaries(Distiller);

/** What gives a model's output and those of some of its layers, in one go. */
function extractor(model: Model, names: readonly (string | null)[]): Model | undefined {
  const layers = [...new Set(names)].filter((name) => name !== null);
  if (layers.length === 0) return undefined;
  const outputs: Record<string, unknown> = { final_output: graphOf(model)?.given.outputs };
  for (const name of layers) outputs[name] = (model.getLayer(name) as unknown as { output: unknown }).output;
  return new Model({
    inputs: graphOf(model)?.given.inputs as never,
    outputs: outputs as never,
    name: `${model.name}_multi_feature_extractor`,
  });
}

function checkAlike(teacher: Model, student: Model): void {
  if (graphOf(teacher) === undefined || graphOf(student) === undefined) return;
  for (const side of ['inputs', 'outputs'] as const) {
    const [a, b]: (readonly KerasTensor[])[] = [teacher[side], student[side]];
    if (a.length !== b.length)
      refuse(`the teacher has ${a.length} ${side}, the student ${b.length}; they must be as many`);
    a.forEach((one, i) => {
      const other = b[i];
      const fits =
        one.shape.length === other.shape.length &&
        one.shape.every((n, k) => n === null || other.shape[k] === null || n === other.shape[k]);
      if (!fits)
        refuse(`${side} of the teacher have shape ${shown(one.shape)}, of the student ${shown(other.shape)}`);
      if (one.dtype !== other.dtype)
        refuse(`${side} of the teacher are ${one.dtype}, of the student ${other.dtype}`);
    });
  }
}

const model: Option<Model> = {
  read(given, name) {
    const made = isPlain(given) ? deserializeLayer(given) : given;
    return made instanceof Model ? made : refuse(`${name} must be a model, got ${shown(given)}`);
  },
  write: serializeLayer,
};
takesOptions<DistillerArguments, Distiller>(
  {
    positional: ['teacher', 'student', 'distillationLosses'],
    options: {
      teacher: model,
      student: model,
      distillationLosses: {
        read(given) {
          const all: readonly unknown[] = Array.isArray(given) ? given : [given];
          return all.map((one) => {
            const loss = isPlain(one) ? deserializeDistillationLoss(one as never) : one;
            if (loss instanceof DistillationLoss) return loss;
            return refuse(`distillationLosses must be distillation losses, got ${shown(one)}`);
          });
        },
        write: (all) => all.map((loss) => loss.toJSON()),
      },
      distillationLossWeights: {
        read(given, _, of) {
          const { length } = (of as Distiller).distillationLosses;
          if (given === undefined || given === null) return new Array<number>(length).fill(1);
          if (!Array.isArray(given) || given.length !== length || !given.every((w) => typeof w === 'number'))
            return refuse(
              `distillationLossWeights must be ${length} numbers, one for each loss, got ${shown(given)}`,
            );
          return given as number[];
        },
      },
      studentLossWeight: {
        read(given = 0.5) {
          if (typeof given === 'number' && given >= 0 && given <= 1) return given;
          return refuse(`studentLossWeight must be a number from 0 to 1, got ${shown(given)}`);
        },
      },
      ...layerOptions,
    },
  },
  Distiller,
);
