// Tells whether two images show the same digit: two towers that share their weights, and a contrastive loss.
import * as tf from 'eagre';

const { keras } = tf;
const { layers, ops } = keras;

const PAIRS = Number(process.env.EXAMPLES ?? 4000);
const EPOCHS = Number(process.env.EPOCHS ?? 6);
const MARGIN = 1;

keras.utils.setRandomSeed(44);

// MNIST's 10,000 test images: 1.6 MB, fetched once.
const [images, digits] = await tf.keras.datasets.mnist.loadTest();
const pixels = tf.constant(images).cast('float32').div(255);
const labels = Array.from(tf.constant(digits).data(), Number);

/** Pairs of images from `from` to `to`; label 0 for the same digit, 1 for different ones, by turns. */
function makePairs(from: number, to: number, count: number): [x1: tf.Tensor, x2: tf.Tensor, y: tf.Tensor] {
  const ofDigit: number[][] = Array.from({ length: 10 }, () => []);
  for (let i = from; i < to; i++) ofDigit[labels[i] as number]?.push(i);
  const drawn = keras.random.uniform([count, 2]).array() as [number, number][];
  const [first, second]: number[][] = [[], []];
  const y = drawn.map(([a, b], i) => {
    const one = from + (i % (to - from));
    const digit = labels[one] as number;
    const other = i % 2 === 0 ? digit : (digit + 1 + Math.floor(a * 9)) % 10;
    const among = ofDigit[other] as number[];
    first?.push(one);
    second?.push(among[Math.floor(b * among.length)] as number);
    return i % 2;
  });
  const take = (indices: number[] = []): tf.Tensor => ops.take(pixels, tf.constant(indices, 'int32'), 0);
  return [take(first), take(second), tf.constant(y)];
}
const [xTrain1, xTrain2, labelsTrain] = makePairs(0, 6000, PAIRS);
const [xVal1, xVal2, labelsVal] = makePairs(6000, 8000, 500);
const [xTest1, xTest2, labelsTest] = makePairs(8000, 10_000, 1000);

/** The distance between the vectors of two towers. */
function euclideanDistance([x, y]: tf.Tensor[] | tf.keras.KerasTensor[]): tf.Tensor {
  const sumSquare = ops.sum(ops.square((x as tf.Tensor).sub(y as tf.Tensor)), 1, { keepdims: true });
  return ops.sqrt(ops.maximum(sumSquare, keras.backend.epsilon()));
}

const input = keras.Input({ shape: [28, 28, 1] });
let x = new layers.BatchNormalization()(input);
x = new layers.Conv2D(4, [5, 5], { activation: 'tanh' })(x);
x = new layers.AveragePooling2D([2, 2])(x);
x = new layers.Conv2D(16, [5, 5], { activation: 'tanh' })(x);
x = new layers.AveragePooling2D([2, 2])(x);
x = new layers.Flatten()(x);
x = new layers.BatchNormalization()(x);
x = new layers.Dense(10, { activation: 'tanh' })(x);
const embeddingNetwork = new keras.Model(input, x);

const input1 = keras.Input({ shape: [28, 28, 1] });
const input2 = keras.Input({ shape: [28, 28, 1] });
// Each tower is the same network, so that both share its weights.
const tower1 = embeddingNetwork(input1);
const tower2 = embeddingNetwork(input2);
const mergeLayer = new layers.Lambda(euclideanDistance, { outputShape: [1] })([tower1, tower2]);
const normalLayer = new layers.BatchNormalization()(mergeLayer);
// From the start a larger distance means other digits; with a kernel below 0 a short run would spend itself on turning that round.
const outputLayer = new layers.Dense(1, { activation: 'sigmoid', kernelInitializer: 'ones' })(normalLayer);
const siamese = new keras.Model([input1, input2], outputLayer);

/** Draws the same digits together, and different ones apart up to the margin. */
function loss(margin = 1) {
  return function contrastiveLoss(yTrue: tf.Tensor, yPred: tf.Tensor): tf.Tensor {
    const squarePred = ops.square(yPred);
    const marginSquare = ops.square(ops.maximum(tf.constant(margin).sub(yPred), 0));
    return ops.mean(yTrue.mul(-1).add(1).mul(squarePred).add(yTrue.mul(marginSquare)));
  };
}

siamese.compile({ loss: loss(MARGIN), optimizer: 'RMSprop', metrics: ['accuracy'] });
siamese.summary();
export const { history } = await siamese.fit([xTrain1, xTrain2], labelsTrain, {
  validationData: [[xVal1, xVal2], labelsVal],
  batchSize: 16,
  epochs: EPOCHS,
  verbose: 2,
});

export const results = await siamese.evaluate([xTest1, xTest2], labelsTest, { verbose: 0 });
console.log('test loss, test accuracy:', results);
export const predictions = (await siamese.predict([xTest1, xTest2], { verbose: 0 })).reshape([-1]);
export const [same, different] = [0, 1].map((y) => ops.mean(predictions.at(labelsTest.equal(y))).item()) as [
  number,
  number,
];
console.log(
  `mean prediction for the same digit ${same.toFixed(2)}, for different ones ${different.toFixed(2)}`,
);
