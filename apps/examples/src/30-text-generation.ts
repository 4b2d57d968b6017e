// Shakespeare, letter by letter: a recurrent network learns which character comes next, then writes by itself.
import * as tf from 'eagre';

const CHARACTERS = Number(process.env.CHARACTERS ?? 200_000);
const EPOCHS = Number(process.env.EPOCHS ?? 4);
const SEQUENCE = 50;
const BATCH = 32;

tf.random.setSeed(42);
// Found in $EAGRE_DATASETS/tinyshakespeare, or downloaded once; where neither works, the error says what to do.
const text = (await tf.keras.datasets.tinyShakespeare.loadText()).slice(0, CHARACTERS);
const vocab = [...new Set(text)].sort();
console.log(text.slice(0, 250), `\n${vocab.length} unique characters`);

// ---- characters as ids, and back

export const idsFromChars = new tf.keras.layers.StringLookup({ vocabulary: vocab, maskToken: null });
export const charsFromIds = new tf.keras.layers.StringLookup({
  vocabulary: idsFromChars.getVocabulary(),
  invert: true,
  maskToken: null,
});
export const textFromIds = (ids: tf.Tensor): string => (charsFromIds(ids).array() as string[]).join('');

// ---- pairs of a sequence and the same sequence one character later

const allIds = idsFromChars(tf.constant([...text]));
export const dataset = tf.data.Dataset.fromTensorSlices(allIds)
  .batch(SEQUENCE + 1, { dropRemainder: true })
  .map((sequence) => [sequence.at(':-1'), sequence.at('1:')])
  .shuffle(10_000)
  .batch(BATCH, { dropRemainder: true })
  .prefetch(tf.data.AUTOTUNE);

// ---- the model

interface StateOptions {
  training?: boolean;
  states?: tf.Tensor | null;
  returnState?: boolean;
}

class MyModel extends tf.keras.Model {
  embedding: tf.keras.layers.Embedding;
  gru: tf.keras.layers.GRU;
  dense: tf.keras.layers.Dense;

  constructor(vocabSize: number, embeddingDim: number, rnnUnits: number) {
    super();
    this.embedding = new tf.keras.layers.Embedding(vocabSize, embeddingDim);
    this.gru = new tf.keras.layers.GRU(rnnUnits, { returnSequences: true, returnState: true });
    this.dense = new tf.keras.layers.Dense(vocabSize);
  }

  override call(
    inputs: tf.Tensor,
    { states = null, returnState = false, training = false }: StateOptions = {},
  ) {
    const embedded = this.embedding(inputs, { training });
    const [sequence, state] = this.gru<tf.Tensor[]>(embedded, { initialState: states, training });
    const x = this.dense(sequence as tf.Tensor, { training });
    return returnState ? [x, state as tf.Tensor] : x;
  }
}

export const model = new MyModel(idsFromChars.vocabularySize(), 64, 128);
const loss = new tf.keras.losses.SparseCategoricalCrossentropy({ fromLogits: true });

// Before any training all characters are about equally likely.
const [exampleInputs, exampleTargets] = dataset.take(1).iterator().getNext();
const untrained = model(exampleInputs);
export const exponential = Math.exp(loss(exampleTargets, untrained).item());
console.log('Prediction shape:', untrained.shape, '# (batch size, sequence length, vocabulary size)');
console.log('exp(mean loss):', exponential);
model.summary();

model.compile({ optimizer: new tf.keras.optimizers.Adam(0.005), loss });
export const { history } = await model.fit(dataset, { epochs: EPOCHS });

// ---- one step of writing: characters in, a character and the states out

class OneStep extends tf.keras.Model {
  model: MyModel;
  temperature: number;
  predictionMask: tf.Tensor;

  constructor(model: MyModel, temperature = 1) {
    super();
    this.model = model;
    this.temperature = temperature;
    // The token of unknown characters is never written.
    const skipIds = idsFromChars(tf.constant(['[UNK]'])).expandDims(1);
    this.predictionMask = tf.scatterNd(skipIds, [-Infinity], [idsFromChars.vocabularySize()]);
  }

  generateOneStep(inputs: tf.Tensor, states: tf.Tensor | null = null): [tf.Tensor, tf.Tensor] {
    // A sequence of one character for each text.
    const inputIds = idsFromChars(inputs).expandDims(-1);
    const [all, after] = this.model<[tf.Tensor, tf.Tensor]>(inputIds, { states, returnState: true });
    const logits = all.at(':', -1).div(this.temperature).add(this.predictionMask);
    const predictedIds = tf.random.categorical(logits, 1).squeeze(-1);
    return [charsFromIds(predictedIds), after];
  }
}

export const oneStep = new OneStep(model, 0.5);
let states: tf.Tensor | null = null;
let nextChar: tf.Tensor = tf.constant(['R']);
export let written = 'R';
for (let n = 0; n < 300; n++) {
  [nextChar, states] = oneStep.generateOneStep(nextChar, states);
  written += nextChar.at(0).item<string>();
}
console.log(written);
