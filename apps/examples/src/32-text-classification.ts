// From texts in folders to a classifier of texts: a vectorizer learns the words, convolutions learn what they mean.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from 'eagre';

const { layers } = tf.keras;
const REVIEWS = Number(process.env.REVIEWS ?? 2000);
const EPOCHS = Number(process.env.EPOCHS ?? 3);
const BATCH = 32;

tf.keras.utils.setRandomSeed(1337);

// ---- made-up reviews in two folders: good words, bad words, and `not` before them, which turns them round

const words = {
  pos: 'great wonderful moving brilliant funny superb charming gripping'.split(' '),
  neg: 'awful boring dreadful clumsy tedious poor lifeless confusing'.split(' '),
  other: 'the film actors story scenes music was were and with plot a of in camera'.split(' '),
};
const draws = tf.random.uniform([REVIEWS * 40]).data() as Float32Array;
let drawn = 0;
const oneOf = (list: readonly string[]): string =>
  list[Math.floor((draws[drawn++ % draws.length] as number) * list.length)] as string;

function review(kind: 'pos' | 'neg'): string {
  const opposite = kind === 'pos' ? 'neg' : 'pos';
  const filler = () => Array.from({ length: 4 }, () => oneOf(words.other)).join(' ');
  const opinion = () =>
    oneOf(['yes', 'no']) === 'yes' ? oneOf(words[kind]) : `not ${oneOf(words[opposite])}`;
  const [a, b, c] = [filler(), filler(), filler()];
  return `The ${a} ${opinion()}!<br />${b} ${opinion()}, ${c} ${opinion()}.`;
}

const folder = mkdtempSync(join(tmpdir(), 'eagre-reviews-'));
for (const part of ['train', 'test'] as const)
  for (const kind of ['neg', 'pos'] as const) {
    mkdirSync(join(folder, part, kind), { recursive: true });
    for (let i = 0; i < REVIEWS / (part === 'train' ? 2 : 8); i++)
      writeFileSync(join(folder, part, kind, `${i}.txt`), review(kind));
  }

const fromTrain = { batchSize: BATCH, validationSplit: 0.2, seed: 1337 };
const rawTrainDs = tf.keras.utils.textDatasetFromDirectory(join(folder, 'train'), {
  ...fromTrain,
  subset: 'training',
});
const rawValDs = tf.keras.utils.textDatasetFromDirectory(join(folder, 'train'), {
  ...fromTrain,
  subset: 'validation',
});
const rawTestDs = tf.keras.utils.textDatasetFromDirectory(join(folder, 'test'), { batchSize: BATCH });
export const counts = [rawTrainDs, rawValDs, rawTestDs].map((ds) => ds.cardinality());
console.log('batches in the three parts:', counts);
for await (const [texts, labels] of rawTrainDs.take(1))
  for (let i = 0; i < 3; i++) console.log(texts.at(i).item<string>(), labels.at(i).item());

// ---- words as integers

const MAX_FEATURES = 200;
const EMBEDDING_DIM = 32;
const SEQUENCE_LENGTH = 40;

const customStandardization = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll('<br />', ' ')
    .replace(/[!-/:-@[-`{-~]/g, '');

export const vectorizeLayer = new layers.TextVectorization({
  standardize: customStandardization,
  maxTokens: MAX_FEATURES,
  outputMode: 'int',
  outputSequenceLength: SEQUENCE_LENGTH,
});
const trainTexts: string[] = [];
for await (const [texts] of rawTrainDs) trainTexts.push(...(texts.array() as string[]));
vectorizeLayer.adapt(trainTexts);

const vectorizeText = (text: tf.Tensor, label: tf.Tensor): [tf.Tensor, tf.Tensor] => [
  vectorizeLayer(text.expandDims(-1)),
  label,
];
const [trainDs, valDs, testDs] = [rawTrainDs, rawValDs, rawTestDs].map((ds) =>
  ds.map(vectorizeText).cache().prefetch(10),
) as [Pairs, Pairs, Pairs];
type Pairs = tf.data.Dataset<[tf.Tensor, tf.Tensor]>;

// ---- the model

const inputs = tf.keras.Input({ shape: [null], dtype: 'int64' });
let x = new layers.Embedding(MAX_FEATURES, EMBEDDING_DIM)(inputs);
x = new layers.Dropout(0.5)(x);
x = new layers.Conv1D(64, 7, { padding: 'valid', activation: 'relu', strides: 3 })(x);
x = new layers.Conv1D(64, 7, { padding: 'valid', activation: 'relu', strides: 3 })(x);
x = new layers.GlobalMaxPooling1D()(x);
x = new layers.Dense(64, { activation: 'relu' })(x);
x = new layers.Dropout(0.5)(x);
const predictions = new layers.Dense(1, { activation: 'sigmoid', name: 'predictions' })(x);
export const model = new tf.keras.Model(inputs, predictions);
model.compile({ loss: 'binaryCrossentropy', optimizer: 'adam', metrics: ['accuracy'] });
export const { history } = await model.fit(trainDs, { validationData: valDs, epochs: EPOCHS });
export const evaluated = await model.evaluate(testDs);

// ---- end to end: strings in, probabilities out

const strings = tf.keras.Input({ shape: [1], dtype: 'string' });
const indices = vectorizeLayer(strings);
export const endToEndModel = new tf.keras.Model(strings, model(indices));
endToEndModel.compile({ loss: 'binaryCrossentropy', optimizer: 'adam', metrics: ['accuracy'] });
export const endToEnd = await endToEndModel.evaluate(
  rawTestDs.map((text, label) => [text.expandDims(-1), label]),
);
export const probabilities = await endToEndModel.predict(
  tf.constant([
    ['The film was great, moving and not boring'],
    ['Awful plot, not funny and a dreadful camera'],
  ]),
);
console.log({ evaluated, endToEnd }, probabilities);
rmSync(folder, { recursive: true });
