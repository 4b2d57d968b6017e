// A Transformer translates: an encoder reads a sentence, a decoder writes it in another language, word by word.
import * as tf from 'eagre';

const { layers } = tf.keras;
const PAIRS = Number(process.env.PAIRS ?? 3000);
const EPOCHS = Number(process.env.EPOCHS ?? 6);
const BATCH = 64;
const SEQUENCE_LENGTH = 12;
const VOCAB_SIZE = 64;
const EMBED_DIM = 48;
const LATENT_DIM = 96;
const NUM_HEADS = 4;

tf.keras.utils.setRandomSeed(7);

// ---- a made-up language: its own words, adjectives behind their nouns, and the verb at the end

const nouns = 'cat dog bird river house king child tree'.split(' ');
const adjectives = 'red old small quiet happy'.split(' ');
const verbs = 'sees finds likes follows'.split(' ');
const foreign = new Map(
  [...nouns, ...adjectives, ...verbs].map((word) => [word, `${[...word].reverse().join('')}a`]),
);

function pairs(count: number): [english: string, made: string][] {
  const draws = tf.random.uniform([count, 8]).array() as number[][];
  return draws.map((row) => {
    let k = 0;
    const oneOf = (list: readonly string[]) => list[Math.floor((row[k++] as number) * list.length)] as string;
    const phrase = (): [string, string] => {
      const noun = oneOf(nouns);
      const adjective = oneOf(['', ...adjectives]);
      if (adjective === '') return [`the ${noun}`, `le ${foreign.get(noun)}`];
      return [`the ${adjective} ${noun}`, `le ${foreign.get(noun)} ${foreign.get(adjective)}`];
    };
    const [subject, object, verb] = [phrase(), phrase(), oneOf(verbs)];
    return [
      `${subject[0]} ${verb} ${object[0]}`,
      `[start] ${subject[1]} ${object[1]} ${foreign.get(verb)} [end]`,
    ];
  });
}
const trainPairs = pairs(PAIRS);
const seen = new Set(trainPairs.map(([english]) => english));
export const testPairs = pairs(400).filter(([english]) => !seen.has(english));
console.log(trainPairs[0], `${trainPairs.length} training pairs, ${testPairs.length} others`);

// ---- words as integers; the brackets of [start] and [end] stay

const engVectorization = new layers.TextVectorization({
  maxTokens: VOCAB_SIZE,
  outputMode: 'int',
  outputSequenceLength: SEQUENCE_LENGTH,
});
const spaVectorization = new layers.TextVectorization({
  maxTokens: VOCAB_SIZE,
  outputMode: 'int',
  outputSequenceLength: SEQUENCE_LENGTH + 1,
  standardize: 'lower',
});
engVectorization.adapt(trainPairs.map(([english]) => english));
spaVectorization.adapt(trainPairs.map(([, made]) => made));

const eng = engVectorization(tf.constant(trainPairs.map(([english]) => english)));
const spa = spaVectorization(tf.constant(trainPairs.map(([, made]) => made)));
const trainDs = tf.data.Dataset.fromTensorSlices([
  { encoder_inputs: eng, decoder_inputs: spa.at(':', ':-1') },
  spa.at(':', '1:'),
])
  .shuffle(2048)
  .batch(BATCH)
  .prefetch(16);

// ---- the layers

class PositionalEmbedding extends layers.Layer {
  tokenEmbeddings: tf.keras.layers.Embedding;
  positionEmbeddings: tf.keras.layers.Embedding;

  constructor(sequenceLength: number, vocabSize: number, embedDim: number) {
    super();
    this.tokenEmbeddings = new layers.Embedding(vocabSize, embedDim);
    this.positionEmbeddings = new layers.Embedding(sequenceLength, embedDim);
  }

  override call(inputs: tf.Tensor): tf.Tensor {
    const positions = tf.range(0, tf.shape(inputs).at(-1), 1, { dtype: 'int32' });
    return this.tokenEmbeddings(inputs).add(this.positionEmbeddings(positions));
  }

  override computeMask(inputs: tf.Tensor): tf.Tensor {
    return inputs.notEqual(0);
  }
}

class TransformerEncoder extends layers.Layer {
  attention: tf.keras.layers.MultiHeadAttention;
  denseProj: tf.keras.Sequential;
  layernorm1 = new layers.LayerNormalization();
  layernorm2 = new layers.LayerNormalization();

  constructor(embedDim: number, denseDim: number, numHeads: number) {
    super();
    this.attention = new layers.MultiHeadAttention(numHeads, embedDim);
    this.denseProj = new tf.keras.Sequential([
      new layers.Dense(denseDim, { activation: 'relu' }),
      new layers.Dense(embedDim),
    ]);
    this.supportsMasking = true;
  }

  override call(inputs: tf.Tensor, { mask = null }: { mask?: tf.Tensor | null } = {}): tf.Tensor {
    const attentionMask = mask === null ? null : mask.expandDims(1);
    const attentionOutput = this.attention(inputs, inputs, { attentionMask });
    const projInput = this.layernorm1(inputs.add(attentionOutput));
    return this.layernorm2(projInput.add(this.denseProj(projInput)));
  }
}

type Masks = readonly (tf.Tensor | null)[];

class TransformerDecoder extends layers.Layer {
  attention1: tf.keras.layers.MultiHeadAttention;
  attention2: tf.keras.layers.MultiHeadAttention;
  denseProj: tf.keras.Sequential;
  layernorm1 = new layers.LayerNormalization();
  layernorm2 = new layers.LayerNormalization();
  layernorm3 = new layers.LayerNormalization();

  constructor(embedDim: number, latentDim: number, numHeads: number) {
    super();
    this.attention1 = new layers.MultiHeadAttention(numHeads, embedDim);
    this.attention2 = new layers.MultiHeadAttention(numHeads, embedDim);
    this.denseProj = new tf.keras.Sequential([
      new layers.Dense(latentDim, { activation: 'relu' }),
      new layers.Dense(embedDim),
    ]);
    this.supportsMasking = true;
  }

  override call(list: readonly tf.Tensor[], { mask = null }: { mask?: Masks | null } = {}): tf.Tensor {
    const [inputs, encoderOutputs] = list as [tf.Tensor, tf.Tensor];
    const [queryMask = null, keyMask = null] = mask ?? [];
    const length = tf.shape(inputs).at(1);
    const steps = tf.range(length).cast('int32');
    const causalMask = steps.expandDims(1).greaterEqual(steps).expandDims(0);
    const attended1 = this.attention1(inputs, inputs, inputs, { attentionMask: causalMask, queryMask });
    const out1 = this.layernorm1(inputs.add(attended1));
    const attended2 = this.attention2(out1, encoderOutputs, encoderOutputs, { queryMask, keyMask });
    const out2 = this.layernorm2(out1.add(attended2));
    return this.layernorm3(out2.add(this.denseProj(out2)));
  }
}

// ---- the model

const encoderInputs = tf.keras.Input({ shape: [null], dtype: 'int64', name: 'encoder_inputs' });
let x = new PositionalEmbedding(SEQUENCE_LENGTH, VOCAB_SIZE, EMBED_DIM)(encoderInputs);
const encoderOutputs = new TransformerEncoder(EMBED_DIM, LATENT_DIM, NUM_HEADS)(x);

const decoderInputs = tf.keras.Input({ shape: [null], dtype: 'int64', name: 'decoder_inputs' });
x = new PositionalEmbedding(SEQUENCE_LENGTH, VOCAB_SIZE, EMBED_DIM)(decoderInputs);
x = new TransformerDecoder(EMBED_DIM, LATENT_DIM, NUM_HEADS)([x, encoderOutputs]);
x = new layers.Dropout(0.1)(x);
const decoderOutputs = new layers.Dense(VOCAB_SIZE, { activation: 'softmax' })(x);
export const transformer = new tf.keras.Model(
  { encoder_inputs: encoderInputs, decoder_inputs: decoderInputs },
  decoderOutputs,
  { name: 'transformer' },
);
transformer.summary();
transformer.compile({
  optimizer: new tf.keras.optimizers.RMSprop(0.002),
  loss: new tf.keras.losses.SparseCategoricalCrossentropy({ ignoreClass: 0 }),
  metrics: ['accuracy'],
});
export const { history } = await transformer.fit(trainDs, { epochs: EPOCHS });

// ---- translating: the likeliest word each time, until the end

const spaVocab = spaVectorization.getVocabulary();

export function decodeSequence(sentence: string): string {
  const tokenized = engVectorization(tf.constant([sentence]));
  let decoded = '[start]';
  for (let i = 0; i < SEQUENCE_LENGTH; i++) {
    const target = spaVectorization(tf.constant([decoded])).at(':', ':-1');
    const predictions = transformer({ encoder_inputs: tokenized, decoder_inputs: target });
    const word = spaVocab[tf.argmax(predictions.at(0, i)).item()] as string;
    decoded += ` ${word}`;
    if (word === '[end]') break;
  }
  return decoded;
}
export const translations = testPairs.slice(0, 30).map(([english]) => decodeSequence(english));
for (const [i, text] of translations.slice(0, 5).entries()) console.log(`${testPairs[i]?.[0]} -> ${text}`);
