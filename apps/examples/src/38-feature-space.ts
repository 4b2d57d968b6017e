// Made-up patients: FeatureSpace makes vectors of a table with numbers, categories and crosses, and a network tells who is ill.
import * as tf from 'eagre';

const { FeatureSpace } = tf.keras.utils;
const PATIENTS = Number(process.env.PATIENTS ?? 1500);
const EPOCHS = Number(process.env.EPOCHS ?? 12);

tf.keras.utils.setRandomSeed(1337);

// ---- the table: age, blood pressure and a kind of pain make illness likely; a rare kind of `thal` decides with the sex

const thals = ['fixed', 'normal', 'reversible'];
const draws = tf.random.uniform([PATIENTS, 7]).array() as number[][];
const patients = draws.map(([a, b, c, d, e, f, luck]) => {
  const [age, trestbps] = [Math.floor(29 + 48 * (a as number)), Math.floor(94 + 106 * (b as number))];
  const [sex, cp, ca] = [c, d, e].map((u, i) => Math.floor((u as number) * [2, 5, 4][i]!)) as [
    number,
    number,
    number,
  ];
  const thal = thals[Math.floor((f as number) * 3)] as string;
  const score =
    (age - 53) / 10 +
    (trestbps - 147) / 40 +
    (cp === 4 ? 2 : -0.5) +
    (thal === 'reversible' && sex === 1 ? 3 : -1);
  const target = 1 / (1 + Math.exp(-2 * score)) > (luck as number) ? 1 : 0;
  return { age, sex, cp, trestbps, ca, thal, target };
});
type Patient = (typeof patients)[number];
type Raw = Record<Exclude<keyof Patient, 'target'>, tf.Tensor>;
type Pairs<X> = tf.data.Dataset<[X, tf.Tensor]>;

function dataframeToDataset(part: readonly Patient[]): Pairs<Raw> {
  const column = (name: keyof Patient, dtype: tf.DType): tf.Tensor =>
    tf.constant(part.map((patient) => patient[name]) as never, dtype);
  const features: Raw = {
    age: column('age', 'float32'),
    sex: column('sex', 'int32'),
    cp: column('cp', 'int32'),
    trestbps: column('trestbps', 'float32'),
    ca: column('ca', 'int32'),
    thal: column('thal', 'string'),
  };
  const ds = tf.data.Dataset.fromTensorSlices([features, column('target', 'float32')] as const);
  return ds.shuffle(part.length) as unknown as Pairs<Raw>;
}
const split = Math.floor(PATIENTS * 0.8);
const trainDs = dataframeToDataset(patients.slice(0, split)).batch(32) as unknown as Pairs<Raw>;
const valDs = dataframeToDataset(patients.slice(split)).batch(32) as unknown as Pairs<Raw>;

// ---- the space of features

export const featureSpace = new FeatureSpace({
  features: {
    // Categories, as integers and as strings.
    sex: 'integerCategorical',
    cp: 'integerCategorical',
    ca: 'integerCategorical',
    thal: 'stringCategorical',
    // Numbers: in bins, and normalized.
    age: FeatureSpace.floatDiscretized({ numBins: 10 }),
    trestbps: FeatureSpace.floatNormalized(),
  },
  // Pairs of features, hashed.
  crosses: [FeatureSpace.cross(['sex', 'thal'], 16), ['ca', 'cp']],
  crossingDim: 24,
  outputMode: 'concat',
});
featureSpace.adapt(trainDs.map((x) => x));

const [x] = trainDs.iterator().getNext();
export const preprocessed = featureSpace(x as never) as tf.Tensor;
console.log('preprocessed x:', preprocessed.shape, preprocessed.dtype);

// ---- two ways to use it: in the pipeline while the model trains, and inside the model that is handed out

const encode = (ds: Pairs<Raw>): Pairs<tf.Tensor> =>
  ds.map((features, y) => [featureSpace(features as never), y]).prefetch(2) as unknown as Pairs<tf.Tensor>;
const dictInputs = featureSpace.getInputs();
const encodedFeatures = featureSpace.getEncodedFeatures() as tf.keras.KerasTensor;

const hidden = new tf.keras.layers.Dense(32, { activation: 'relu' })(encodedFeatures);
const dropped = new tf.keras.layers.Dropout(0.5)(hidden);
const predictions = new tf.keras.layers.Dense(1, { activation: 'sigmoid' })(dropped);

const trainingModel = new tf.keras.Model({ inputs: encodedFeatures, outputs: predictions });
trainingModel.compile({ optimizer: 'adam', loss: 'binaryCrossentropy', metrics: ['accuracy'] });
export const inferenceModel = new tf.keras.Model({ inputs: dictInputs, outputs: predictions } as never);

const { history } = await trainingModel.fit(encode(trainDs), {
  epochs: EPOCHS,
  validationData: encode(valDs),
  verbose: 0,
});
export const accuracy = history.val_accuracy?.at(-1) as number;
console.log('accuracy on others:', accuracy);

// ---- a new patient, as a row of the table

const sample: Record<string, number | string> = {
  age: 60,
  sex: 1,
  cp: 4,
  trestbps: 145,
  ca: 0,
  thal: 'reversible',
};
const row = Object.fromEntries(
  Object.entries(sample).map(([name, value]) => {
    const dtype = featureSpace.features[name]?.dtype as 'float32';
    return [name, tf.constant([[value]] as never, dtype)];
  }),
);
export const probability = (
  (await inferenceModel.predict(row as never, { verbose: 0 })) as tf.Tensor
).item<number>();
console.log(`This patient is ill with a probability of ${(100 * probability).toFixed(1)} %.`);
