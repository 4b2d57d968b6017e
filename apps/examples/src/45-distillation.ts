// A small network learns from a larger one: a model whose loss also compares its outputs with those of the teacher.
import * as tf from 'eagre';

const { keras } = tf;
const { layers, ops } = keras;

const EXAMPLES = Number(process.env.EXAMPLES ?? 8000);
const EPOCHS = Number(process.env.EPOCHS ?? 3);

keras.utils.setRandomSeed(45);

interface DistillOptions extends tf.CompileOptions {
  readonly studentLossFn: tf.losses.Loss;
  readonly distillationLossFn: tf.losses.Loss;
  readonly alpha?: number;
  readonly temperature?: number;
}
type LossArguments = Parameters<tf.Model['computeLoss']>[0];

class Distiller extends keras.Model {
  teacher: tf.Model;
  student: tf.Model;
  studentLossFn!: tf.losses.Loss;
  distillationLossFn!: tf.losses.Loss;
  alpha = 0.1;
  temperature = 3;

  constructor(student: tf.Model, teacher: tf.Model) {
    super();
    this.teacher = teacher;
    this.student = student;
  }

  /** alpha weighs the loss of the student, 1 - alpha that against the teacher; the temperature softens the probabilities. */
  override compile(options: DistillOptions): void {
    const { studentLossFn, distillationLossFn, alpha = 0.1, temperature = 3, ...rest } = options;
    super.compile(rest);
    this.studentLossFn = studentLossFn;
    this.distillationLossFn = distillationLossFn;
    this.alpha = alpha;
    this.temperature = temperature;
  }

  override computeLoss({ x, y, yPred }: LossArguments): tf.Tensor {
    const teacherPred = this.teacher(x as tf.Tensor, { training: false });
    const studentLoss = this.studentLossFn(y as tf.Tensor, yPred as tf.Tensor);
    const distillationLoss = this.distillationLossFn(
      ops.softmax(teacherPred.div(this.temperature), { axis: 1 }),
      ops.softmax((yPred as tf.Tensor).div(this.temperature), { axis: 1 }),
    ).mul(this.temperature ** 2);
    return studentLoss.mul(this.alpha).add(distillationLoss.mul(1 - this.alpha));
  }

  override call(x: tf.Tensor): tf.Tensor {
    return this.student(x);
  }
}

const teacher = new keras.Sequential(
  [
    keras.Input({ shape: [28, 28, 1] }),
    new layers.Conv2D(32, 3, { strides: 2, padding: 'same' }),
    new layers.LeakyReLU({ negativeSlope: 0.2 }),
    new layers.MaxPooling2D(2, { strides: 1, padding: 'same' }),
    new layers.Conv2D(64, 3, { strides: 2, padding: 'same' }),
    new layers.Flatten(),
    new layers.Dense(10),
  ],
  { name: 'teacher' },
);
const student = new keras.Sequential(
  [
    keras.Input({ shape: [28, 28, 1] }),
    new layers.Conv2D(4, 3, { strides: 2, padding: 'same' }),
    new layers.LeakyReLU({ negativeSlope: 0.2 }),
    new layers.MaxPooling2D(2, { strides: 1, padding: 'same' }),
    new layers.Conv2D(8, 3, { strides: 2, padding: 'same' }),
    new layers.Flatten(),
    new layers.Dense(10),
  ],
  { name: 'student' },
);
const studentScratch = keras.models.cloneModel(student);

// MNIST's 10,000 test images: 1.6 MB, fetched once. The last 2,000 are held back.
const [images, labels] = await tf.keras.datasets.mnist.loadTest();
const pixels = tf.constant(images).cast('float32').div(255).expandDims(-1);
const [xTrain, yTrain] = [pixels.at(`:${EXAMPLES}`), tf.constant(labels).at(`:${EXAMPLES}`)];
const [xTest, yTest] = [pixels.at('-2000:'), tf.constant(labels).at('-2000:')];

const compiled = () => ({
  optimizer: new keras.optimizers.Adam(),
  loss: new keras.losses.SparseCategoricalCrossentropy({ fromLogits: true }),
  metrics: [new keras.metrics.SparseCategoricalAccuracy()],
});
teacher.compile(compiled());
await teacher.fit(xTrain, yTrain, { epochs: EPOCHS, verbose: 2 });
export const teacherScores = await teacher.evaluate(xTest, yTest, { verbose: 0 });
const teacherBefore = teacher.getWeights();

const distiller = new Distiller(student, teacher);
distiller.compile({
  optimizer: new keras.optimizers.Adam(),
  metrics: [new keras.metrics.SparseCategoricalAccuracy()],
  studentLossFn: new keras.losses.SparseCategoricalCrossentropy({ fromLogits: true }),
  distillationLossFn: new keras.losses.KLDivergence(),
  alpha: 0.1,
  temperature: 10,
});
teacher.trainable = false;
export const { history } = await distiller.fit(xTrain, yTrain, { epochs: EPOCHS, verbose: 2 });
export const distilledScores = await distiller.evaluate(xTest, yTest, { verbose: 0 });
export const teacherChanged = teacher
  .getWeights()
  .some((w, i) => ops.any(w.notEqual(teacherBefore[i] as tf.Tensor)).item());

studentScratch.compile(compiled());
await studentScratch.fit(xTrain, yTrain, { epochs: EPOCHS, verbose: 2 });
export const scratchScores = await studentScratch.evaluate(xTest, yTest, { verbose: 0 });
console.log({ teacherScores, distilledScores, scratchScores });
