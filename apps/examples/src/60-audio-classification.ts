// Tones told apart by their spectrograms: signals with noise, mel spectrograms with tf.signal, and a small convolutional network.
import * as tf from 'eagre';

const { layers } = tf.keras;
const EXAMPLES = Number(process.env.EXAMPLES ?? 240);
const EPOCHS = Number(process.env.EPOCHS ?? 8);
const RATE = 4000;
const SAMPLES = 2000;

tf.keras.utils.setRandomSeed(5);

// ---- the sounds: a steady tone, one that rises, one that falls, and a chord, all of any pitch, in noise

export const kinds = ['steady', 'rising', 'falling', 'chord'] as const;
const time = tf.range(0, SAMPLES, 1).cast('float32').div(RATE);
const sine = (frequency: tf.Tensor, slope: tf.Tensor): tf.Tensor =>
  time
    .mul(frequency)
    .add(time.square().mul(slope.div(2)))
    .mul(2 * Math.PI)
    .sin();

/** A tone of each label [n]: [n, SAMPLES]. */
function sounds(labels: tf.Tensor): tf.Tensor {
  const n = labels.shape[0] as number;
  const pitch = tf.random.uniform([n, 1], { minval: 300, maxval: 700 });
  const kind = labels.expandDims(1);
  const slope = kind.equal(1).cast('float32').sub(kind.equal(2).cast('float32')).mul(600);
  const start = pitch.sub(slope.mul(0.25));
  const fifth = kind
    .equal(3)
    .cast('float32')
    .mul(sine(pitch.mul(1.5), slope));
  const noise = tf.random.normal([n, SAMPLES]).mul(0.3);
  return sine(start, slope).add(fifth).add(noise);
}

// ---- from sounds to pictures: short-time Fourier transforms, the mel scale, logarithms

const [FRAME, STEP, BANDS] = [256, 128, 32];
const melWeights = tf.signal.linearToMelWeightMatrix(BANDS, FRAME / 2 + 1, RATE, 80, 1600);
export const logMel = (audio: tf.Tensor): tf.Tensor =>
  tf.signal.stft(audio, FRAME, STEP).abs().matmul(melWeights).add(1e-3).log();

const labels = tf.range(EXAMPLES).mod(kinds.length).cast('int32');
const audio = sounds(labels);
const spectrograms = logMel(audio).expandDims(-1);
console.log('sounds', audio.shape, 'become spectrograms', spectrograms.shape);

// The sound comes back from its transform, but for its ends.
const spectrum = tf.signal.stft(audio, FRAME, STEP);
const back = tf.signal.inverseStft(spectrum, FRAME, STEP, {
  windowFn: tf.signal.inverseStftWindowFn(STEP),
});
const inner = (x: tf.Tensor): tf.Tensor => x.at(':', `${FRAME}:${SAMPLES - 2 * FRAME}`);
export const difference = inner(back).sub(inner(audio)).abs().max().item() as number;
console.log('back from the transform, off by', difference);

// ---- the network

const normalization = new layers.Normalization({ axis: null });
normalization.adapt(spectrograms);
export const model = new tf.keras.Sequential([
  layers.Input({ shape: spectrograms.shape.slice(1) }),
  normalization,
  new layers.Conv2D(8, 3, { activation: 'relu' }),
  new layers.MaxPooling2D(),
  new layers.Conv2D(16, 3, { activation: 'relu' }),
  new layers.MaxPooling2D(),
  new layers.Flatten(),
  new layers.Dense(32, { activation: 'relu' }),
  new layers.Dense(kinds.length),
]);
model.compile({
  optimizer: new tf.keras.optimizers.Adam({ learningRate: 3e-3 }),
  loss: new tf.keras.losses.SparseCategoricalCrossentropy({ fromLogits: true }),
  metrics: ['accuracy'],
});
export const history = await model.fit(spectrograms, labels, { epochs: EPOCHS, batchSize: 16, verbose: 0 });
console.log('loss', history.history.loss?.map((x) => (x as number).toFixed(3)).join(' '));

const testLabels = tf.range(80).mod(kinds.length).cast('int32');
const testSounds = sounds(testLabels);
const scores = (await model.predict(logMel(testSounds).expandDims(-1), { verbose: 0 })) as tf.Tensor;
export const accuracy = scores
  .argMax(-1)
  .cast('int32')
  .equal(testLabels)
  .cast('float32')
  .mean()
  .item() as number;
console.log('of new sounds it knows', accuracy);

// ---- the same, from sound to kind, as one function that can be saved

export const classify = tf.function((sound: tf.Tensor) => {
  const x = logMel(sound).expandDims([0, -1]);
  return tf.nn.softmax(model(x) as tf.Tensor).at(0);
});
const chord = testSounds.at(3);
export const heard = kinds[(classify(chord) as tf.Tensor).argMax().item() as number];
console.log('a chord is heard as', heard);
