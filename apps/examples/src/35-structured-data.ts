// A table of made-up pets: numbers are normalized, categories encoded, and a network tells which pets find a home.
import * as tf from 'eagre';

const { layers } = tf.keras;
const PETS = Number(process.env.PETS ?? 3000);
const EPOCHS = Number(process.env.EPOCHS ?? 8);

tf.keras.utils.setRandomSeed(5);

// ---- the table: the young, the healthy and the cheap are adopted, and cats of colour

const types = ['Cat', 'Dog'];
const colors = ['Black', 'White', 'Brown', 'Golden'];
const healths = ['Healthy', 'Minor Injury', 'Serious Injury'];
const draws = tf.random.uniform([PETS, 6]).array() as number[][];
const pick = (list: readonly string[], u: number): string => list[Math.floor(u * list.length)] as string;
const pets = draws.map(([a, b, c, d, e, luck]) => {
  const [type, color, health] = [
    pick(types, a as number),
    pick(colors, b as number),
    pick(healths, c as number),
  ];
  const [age, fee] = [Math.floor((d as number) * 12), Math.floor((e as number) * 300)];
  const score =
    3 - age / 2 - fee / 100 + (health === 'Healthy' ? 1 : -1) + (type === 'Cat' && color !== 'Black' ? 2 : 0);
  const adopted = 1 / (1 + Math.exp(-3 * score)) > (luck as number) ? 1 : 0;
  return { type, color, health, age, fee, adopted };
});
type Pet = (typeof pets)[number];
type Features = Record<'type' | 'color' | 'health' | 'age' | 'fee', tf.Tensor>;
type Pairs = tf.data.Dataset<[Features, tf.Tensor]>;

function dfToDataset(part: readonly Pet[], shuffle = true, batchSize = 32): Pairs {
  const column = (name: keyof Pet, dtype: tf.DType): tf.Tensor =>
    tf.constant(part.map((pet) => [pet[name]]) as never, dtype);
  const features: Features = {
    type: column('type', 'string'),
    color: column('color', 'string'),
    health: column('health', 'string'),
    age: column('age', 'int64'),
    fee: column('fee', 'float32'),
  };
  const ds = tf.data.Dataset.fromTensorSlices([features, column('adopted', 'float32')] as const);
  return (shuffle ? ds.shuffle(part.length) : ds).batch(batchSize).prefetch(batchSize) as unknown as Pairs;
}
const [n, m] = [Math.floor(PETS * 0.8), Math.floor(PETS * 0.9)];
const trainDs = dfToDataset(pets.slice(0, n));
const valDs = dfToDataset(pets.slice(n, m), false);
const testDs = dfToDataset(pets.slice(m), false);
const [features] = trainDs.iterator().getNext();
console.log('Every feature:', Object.keys(features), 'a batch of ages:', features.age);

// ---- preprocessing layers, which learn from the training data

function normalizationLayer(name: 'fee'): tf.keras.layers.Normalization {
  const normalizer = new layers.Normalization({ axis: null });
  normalizer.adapt(trainDs.map((x) => x[name]));
  return normalizer;
}

function categoryEncodingLayer(name: keyof Features, maxTokens: number | null = null) {
  const index =
    name === 'age' ? new layers.IntegerLookup({ maxTokens }) : new layers.StringLookup({ maxTokens });
  index.adapt(trainDs.map((x) => x[name]));
  const encoder = new layers.CategoryEncoding({ numTokens: index.vocabularySize(), outputMode: 'multiHot' });
  return (feature: tf.keras.KerasTensor): tf.keras.KerasTensor =>
    encoder(index(feature)) as tf.keras.KerasTensor;
}

export const fees = normalizationLayer('fee');

const allInputs: Record<string, tf.keras.KerasTensor> = {};
const encodedFeatures: tf.keras.KerasTensor[] = [];

const feeInput = tf.keras.Input({ shape: [1], name: 'fee' });
allInputs.fee = feeInput;
encodedFeatures.push(fees(feeInput));

const ageInput = tf.keras.Input({ shape: [1], name: 'age', dtype: 'int64' });
allInputs.age = ageInput;
encodedFeatures.push(categoryEncodingLayer('age', 8)(ageInput));

for (const name of ['type', 'color', 'health'] as const) {
  const input = tf.keras.Input({ shape: [1], name, dtype: 'string' });
  allInputs[name] = input;
  encodedFeatures.push(categoryEncodingLayer(name)(input));
}

// ---- the model

const allFeatures = tf.keras.layers.concatenate(encodedFeatures);
let x = new layers.Dense(32, { activation: 'relu' })(allFeatures);
x = new layers.Dropout(0.2)(x);
const output = new layers.Dense(1)(x);
export const model = new tf.keras.Model(allInputs, output);
model.compile({
  optimizer: new tf.keras.optimizers.Adam(0.005),
  loss: new tf.keras.losses.BinaryCrossentropy({ fromLogits: true }),
  metrics: ['accuracy'],
});
export const { history } = await model.fit(trainDs, { epochs: EPOCHS, validationData: valDs });
export const result = await model.evaluate(testDs, { verbose: 0 });
console.log(result);

// ---- one pet, by the names of its columns

const chance = (pet: Omit<Pet, 'adopted'>): number => {
  const inputs = {
    type: tf.constant([[pet.type]]),
    color: tf.constant([[pet.color]]),
    health: tf.constant([[pet.health]]),
    age: tf.constant([[pet.age]], 'int64'),
    fee: tf.constant([[pet.fee]]),
  };
  return tf.sigmoid(model(inputs)).item();
};
export const kitten = chance({ type: 'Cat', color: 'White', health: 'Healthy', age: 1, fee: 20 });
export const oldDog = chance({ type: 'Dog', color: 'Black', health: 'Serious Injury', age: 11, fee: 280 });
console.log(`chances: a kitten ${kitten.toFixed(3)}, an old dog ${oldDog.toFixed(3)}`);
