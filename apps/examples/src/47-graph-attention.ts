// A graph attention network: papers that cite each other, made here, get a subject from their words and from their neighbours.
import * as tf from 'eagre';

const { keras } = tf;
const { layers, ops } = keras;

const EPOCHS = Number(process.env.EPOCHS ?? 60);
const [PAPERS, WORDS, SUBJECTS] = [600, 60, 5];

keras.utils.setRandomSeed(47);

// ---- A graph: each subject has words that its papers use more often, and most citations stay within a subject.

const subjects = keras.random.randint([PAPERS], 0, SUBJECTS);
const usual = keras.random.uniform([SUBJECTS, WORDS]).less(0.2).cast('float32').mul(0.12).add(0.1);
const words = keras.random
  .uniform([PAPERS, WORDS])
  .less(ops.take(usual, subjects, 0))
  .cast('float32');
const subjectOf = subjects.data();
const dice = keras.random.uniform([PAPERS, PAPERS]).data() as Float32Array;
const pairs: [target: number, source: number][] = [];
// Sorted by the citing paper, and each cites itself.
for (let i = 0; i < PAPERS; i++)
  for (let j = 0; j < PAPERS; j++)
    if (i === j || (dice[i * PAPERS + j] as number) < (subjectOf[i] === subjectOf[j] ? 0.03 : 0.001))
      pairs.push([i, j]);
const edges = tf.constant(pairs, 'int32');
console.log(`${PAPERS} papers, ${pairs.length} citations, words: ${words.shape}`);

const indices = tf.range(PAPERS).cast('int32');
const [trainIndices, testIndices] = tf.split(indices, [PAPERS / 2, PAPERS / 2]) as [tf.Tensor, tf.Tensor];
const [trainLabels, testLabels] = tf.split(subjects, [PAPERS / 2, PAPERS / 2]) as [tf.Tensor, tf.Tensor];

export { testIndices };

// ---- Layers

class GraphAttention extends layers.Layer {
  units: number;
  kernel!: tf.Variable;
  kernelAttention!: tf.Variable;

  constructor(units: number) {
    super();
    this.units = units;
  }

  override build(inputShape: readonly (number | null)[]): void {
    const options = { trainable: true, initializer: 'glorotUniform' } as const;
    this.kernel = this.addWeight({
      shape: [inputShape.at(-1) as number, this.units],
      name: 'kernel',
      ...options,
    });
    this.kernelAttention = this.addWeight({
      shape: [this.units * 2, 1],
      name: 'kernel_attention',
      ...options,
    });
  }

  override call(nodeStates: tf.Tensor, edges: tf.Tensor): tf.Tensor {
    const transformed = ops.matmul(nodeStates, this.kernel);
    const targets = edges.at(':', 0);
    const papers = tf.shape(nodeStates).at(0);

    // A score for each pair of neighbours.
    const expanded = tf.reshape(tf.gather(transformed, edges), [tf.shape(edges).at(0), this.units * 2]);
    let scores = tf.nn.leakyRelu(ops.matmul(expanded, this.kernelAttention));
    scores = tf.squeeze(scores, -1);

    // Scores of a paper's neighbours add up to 1.
    scores = ops.exp(tf.clipByValue(scores, -2, 2));
    let scoresSum = tf.math.unsortedSegmentSum(scores, targets, papers);
    scoresSum = tf.repeat(scoresSum, ops.bincount(targets));
    const normed = scores.div(scoresSum);

    // The neighbours' states, by these weights.
    const neighbours = tf.gather(transformed, edges.at(':', 1));
    return tf.math.unsortedSegmentSum(neighbours.mul(normed.at(':', tf.newaxis)), targets, papers);
  }
}

class MultiHeadGraphAttention extends layers.Layer {
  attentionLayers: GraphAttention[];

  constructor(units: number, numHeads = 4) {
    super();
    this.attentionLayers = Array.from({ length: numHeads }, () => new GraphAttention(units));
  }

  override call(nodeStates: tf.Tensor, edges: tf.Tensor): tf.Tensor {
    const outputs = this.attentionLayers.map((layer) => layer(nodeStates, edges));
    return tf.nn.relu(tf.concat(outputs, -1));
  }
}

/** The whole graph is part of the model; a batch is some of its papers. */
class GraphAttentionNetwork extends keras.Model {
  preprocess: tf.keras.Layer;
  attentionLayers: MultiHeadGraphAttention[];
  outputLayer: tf.keras.Layer;

  constructor(hiddenUnits: number, numHeads: number, numLayers: number, outputDim: number) {
    super();
    this.preprocess = new layers.Dense(hiddenUnits * numHeads, { activation: 'relu' });
    const heads = () => new MultiHeadGraphAttention(hiddenUnits, numHeads);
    this.attentionLayers = Array.from({ length: numLayers }, heads);
    this.outputLayer = new layers.Dense(outputDim);
  }

  override call(nodeStates: tf.Tensor, edges: tf.Tensor): tf.Tensor {
    let x = this.preprocess(nodeStates);
    for (const layer of this.attentionLayers) x = layer(x, edges).add(x);
    return this.outputLayer(x);
  }

  override trainStep(indices: tf.Tensor, labels: tf.Tensor) {
    const tape = new tf.GradientTape();
    const yPred = tf.gather(this(words, edges), indices);
    const loss = this.computeLoss({ y: labels, yPred });
    const grads = tape.gradient(loss, this.trainableWeights);
    this.optimizer.applyGradients(grads, this.trainableWeights);
    return { ...this.computeMetrics(indices, labels, yPred), loss };
  }

  override predictStep(indices: tf.Tensor): tf.Tensor {
    return tf.nn.softmax(tf.gather(this(words, edges), indices));
  }

  override testStep(indices: tf.Tensor, labels: tf.Tensor) {
    const yPred = tf.gather(this(words, edges), indices);
    const loss = this.computeLoss({ y: labels, yPred });
    return { ...this.computeMetrics(indices, labels, yPred), loss };
  }
}

const model = new GraphAttentionNetwork(8, 4, 2, SUBJECTS);
model.compile({
  optimizer: new keras.optimizers.SGD(0.05, { momentum: 0.9 }),
  loss: new keras.losses.SparseCategoricalCrossentropy({ fromLogits: true }),
  metrics: ['accuracy'],
});
export const { history } = await model.fit(trainIndices, trainLabels, {
  validationSplit: 0.1,
  batchSize: 128,
  epochs: EPOCHS,
  callbacks: [
    new keras.callbacks.EarlyStopping({
      monitor: 'val_accuracy',
      minDelta: 1e-5,
      patience: 20,
      restoreBestWeights: true,
    }),
  ],
  verbose: 2,
});
export const scores = await model.evaluate(testIndices, testLabels, { verbose: 0 });
console.log(`accuracy on other papers: ${((scores.accuracy as number) * 100).toFixed(1)}%`);
export const probabilities = await model.predict(testIndices, { verbose: 0 });
export const sums = probabilities.at(':3').sum(1);
