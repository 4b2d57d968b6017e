// Word vectors by skip-grams: words that stand in the same places get vectors that point the same way.
import * as tf from 'eagre';

const { layers } = tf.keras;
const SENTENCES = Number(process.env.SENTENCES ?? 2000);
const EPOCHS = Number(process.env.EPOCHS ?? 12);
const SEQUENCE_LENGTH = 6;
const WINDOW = 3;
const NUM_NS = 4;
const EMBEDDING_DIM = 16;

tf.keras.utils.setRandomSeed(42);
const { floor } = Math;

// ---- made-up sentences: who does what where, of animals at sea or of machines in town

const topics = [
  { who: ['whale', 'seal', 'shark'], does: ['swims', 'dives'], where: ['ocean', 'reef', 'bay'] },
  { who: ['truck', 'tram', 'taxi'], does: ['drives', 'brakes'], where: ['street', 'tunnel', 'bridge'] },
];
const draws = tf.random.uniform([SENTENCES, 4]).array() as number[][];
const sentences = draws.map(([topic, who, does, where]) => {
  const oneOf = (list: readonly string[], u: number | undefined) => list[floor((u as number) * list.length)];
  const t = topics[floor((topic as number) * 2)] as (typeof topics)[number];
  return `The ${oneOf(t.who, who)} ${oneOf(t.does, does)} in the ${oneOf(t.where, where)}.`;
});

const vectorizeLayer = new layers.TextVectorization({ outputSequenceLength: SEQUENCE_LENGTH });
vectorizeLayer.adapt(sentences);
export const vocabulary = vectorizeLayer.getVocabulary();
const sequences = (vectorizeLayer(tf.constant(sentences)).array() as bigint[][]).map((row) =>
  row.map(Number),
);

// ---- a word, one of its neighbours, and words drawn at random, the frequent ones more often

const random = tf.random
  .uniform([SENTENCES * SEQUENCE_LENGTH * 2 * WINDOW * NUM_NS * 4])
  .data() as Float32Array;
let drawn = 0;
const next = (): number => random[drawn++ % random.length] as number;
/** As the log-uniform sampler of TensorFlow: indices are ordered by frequency. */
const sample = (range: number): number => floor(Math.exp(next() * Math.log(range + 1))) - 1;

const [targets, contexts, labels]: [number[], number[][], number[][]] = [[], [], []];
for (const sequence of sequences)
  sequence.forEach((target, i) => {
    sequence.slice(Math.max(0, i - WINDOW), i + WINDOW + 1).forEach((context, k) => {
      // Frequent words tell little: 'the' and 'in' are no targets.
      if (k === Math.min(i, WINDOW) || target < 4 || context === 0) return;
      const negatives: number[] = [];
      while (negatives.length < NUM_NS) {
        const word = sample(vocabulary.length);
        if (word !== context) negatives.push(word);
      }
      targets.push(target);
      contexts.push([context, ...negatives]);
      labels.push([1, ...negatives.map(() => 0)]);
    });
  });
export const pairs = targets.length;
const dataset = tf.data.Dataset.fromTensorSlices([
  { target: tf.constant(targets, 'int64'), context: tf.constant(contexts, 'int64') },
  tf.constant(labels),
])
  .shuffle(10_000)
  .batch(256, { dropRemainder: true })
  .cache()
  .prefetch(tf.data.AUTOTUNE);

// ---- the model: the products of a word's vector with those of its contexts

class Word2Vec extends tf.keras.Model {
  targetEmbedding: tf.keras.layers.Embedding;
  contextEmbedding: tf.keras.layers.Embedding;

  constructor(vocabSize: number, embeddingDim: number) {
    super();
    this.targetEmbedding = new layers.Embedding(vocabSize, embeddingDim, { name: 'w2v_embedding' });
    this.contextEmbedding = new layers.Embedding(vocabSize, embeddingDim);
  }

  override call({ target, context }: { target: tf.Tensor; context: tf.Tensor }): tf.Tensor {
    const wordEmb = this.targetEmbedding(target);
    const contextEmb = this.contextEmbedding(context);
    return tf.einsum('be,bce->bc', wordEmb, contextEmb);
  }
}
export const word2vec = new Word2Vec(vocabulary.length, EMBEDDING_DIM);
word2vec.compile({
  optimizer: new tf.keras.optimizers.Adam(0.01),
  loss: new tf.keras.losses.CategoricalCrossentropy({ fromLogits: true }),
  metrics: ['accuracy'],
});
export const { history } = await word2vec.fit(dataset, { epochs: EPOCHS, verbose: 2 });

// ---- what is near

const weights = tf.math.l2Normalize(word2vec.targetEmbedding.embeddings.read(), 1);

export function nearest(word: string, k = 2): string[] {
  const similarity = weights.matmul(weights.at(vocabulary.indexOf(word)).expandDims(1)).squeeze(1);
  const { indices } = tf.math.topK(similarity, { k: k + 1 });
  return (indices.array() as number[]).slice(1).map((i) => vocabulary[i] as string);
}
for (const word of ['whale', 'tram', 'reef']) console.log(word, '->', nearest(word).join(', '));
