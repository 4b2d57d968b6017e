// A miniature GPT: Transformer blocks with causal attention learn Shakespeare, and write with keys and values kept.
import * as tf from 'eagre';

const { layers } = tf.keras;
const CHARACTERS = Number(process.env.CHARACTERS ?? 200_000);
const EPOCHS = Number(process.env.EPOCHS ?? 4);
const MAXLEN = 40;
const EMBED_DIM = 64;
const NUM_HEADS = 2;
const FEED_FORWARD_DIM = 128;
const BATCH = 64;
type Cache = readonly tf.keras.layers.AttentionCache[];

tf.keras.utils.setRandomSeed(3);
const text = (await tf.keras.datasets.tinyShakespeare.loadText()).slice(0, CHARACTERS);
const vocab = ['', '[UNK]', ...new Set(text)];
const vocabSize = vocab.length;
const ids = Int32Array.from(text, (char) => vocab.indexOf(char));

// ---- the layers

/** Rows are queries and columns are keys: a position sees itself and what is before it. */
function causalAttentionMask(batchSize: tf.Tensor, nDest: tf.Tensor, nSrc: tf.Tensor): tf.Tensor {
  const i = tf.range(nDest).cast('int32').expandDims(1);
  const j = tf.range(nSrc).cast('int32');
  const mask = i.greaterEqual(j.sub(nSrc).add(nDest));
  return tf.tile(mask.expandDims(0), [batchSize, 1, 1]);
}

class TransformerBlock extends layers.Layer {
  att: tf.keras.layers.CachedMultiHeadAttention;
  ffn: tf.keras.Sequential;
  layernorm1 = new layers.LayerNormalization({ epsilon: 1e-6 });
  layernorm2 = new layers.LayerNormalization({ epsilon: 1e-6 });
  dropout1: tf.keras.layers.Dropout;
  dropout2: tf.keras.layers.Dropout;

  constructor(embedDim: number, numHeads: number, ffDim: number, rate = 0.1) {
    super();
    this.att = new layers.CachedMultiHeadAttention(numHeads, embedDim);
    this.ffn = new tf.keras.Sequential([
      new layers.Dense(ffDim, { activation: 'relu' }),
      new layers.Dense(embedDim),
    ]);
    this.dropout1 = new layers.Dropout(rate);
    this.dropout2 = new layers.Dropout(rate);
  }

  override call(inputs: tf.Tensor): tf.Tensor {
    const inputShape = tf.shape(inputs);
    const [batchSize, seqLen] = [inputShape.at(0), inputShape.at(1)];
    const attentionMask = causalAttentionMask(batchSize, seqLen, seqLen);
    const attentionOutput = this.dropout1(this.att(inputs, inputs, { attentionMask }));
    return this.feedForward(inputs.add(attentionOutput));
  }

  /** The same for positions from `index` on, with the keys and values of those before. */
  step(inputs: tf.Tensor, cache: Cache[number], index: tf.Tensor): [tf.Tensor, Cache[number]] {
    const options = { cache, cacheUpdateIndex: index, useCausalMask: true } as const;
    const [attentionOutput, next] = this.att(inputs, options);
    return [this.feedForward(inputs.add(attentionOutput)), next];
  }

  feedForward(seen: tf.Tensor): tf.Tensor {
    const out1 = this.layernorm1(seen);
    return this.layernorm2(out1.add(this.dropout2(this.ffn(out1))));
  }
}

class TokenAndPositionEmbedding extends layers.Layer {
  tokenEmb: tf.keras.layers.Embedding;
  posEmb: tf.keras.layers.Embedding;

  constructor(maxlen: number, vocabSize: number, embedDim: number) {
    super();
    this.tokenEmb = new layers.Embedding(vocabSize, embedDim);
    this.posEmb = new layers.Embedding(maxlen, embedDim);
  }

  override call(x: tf.Tensor): tf.Tensor {
    return this.step(x, tf.constant(0, 'int32'));
  }

  /** The same for positions from `index` on. */
  step(x: tf.Tensor, index: tf.Tensor): tf.Tensor {
    const positions = tf.range(0, tf.shape(x).at(-1), 1, { dtype: 'int32' }).add(index);
    return this.tokenEmb(x).add(this.posEmb(positions));
  }
}

// ---- the model: of its two outputs only the first has a loss

const inputs = layers.Input({ shape: [MAXLEN], dtype: 'int32' });
const embeddingLayer = new TokenAndPositionEmbedding(MAXLEN, vocabSize, EMBED_DIM);
const transformerBlock = new TransformerBlock(EMBED_DIM, NUM_HEADS, FEED_FORWARD_DIM);
const head = new layers.Dense(vocabSize);
const x = transformerBlock(embeddingLayer(inputs));
export const model = new tf.keras.Model({ inputs, outputs: [head(x), x] });
const lossFn = new tf.keras.losses.SparseCategoricalCrossentropy({ fromLogits: true });
model.compile({ optimizer: new tf.keras.optimizers.Adam(0.003), loss: [lossFn, null] });
model.summary();

// ---- data

const textDs = tf.data.Dataset.fromTensorSlices(ids)
  .batch(MAXLEN + 1, { dropRemainder: true })
  .map((tokens) => [tokens.at(':-1'), tokens.at('1:')])
  .shuffle(10_000)
  .batch(BATCH, { dropRemainder: true })
  .prefetch(tf.data.AUTOTUNE);

// ---- writing, after each epoch too

/** One of the k likeliest characters. */
function sampleFrom(logits: tf.Tensor, k = 10): number {
  const { values, indices } = tf.math.topK(logits, { k });
  return indices.at(tf.random.categorical(values.expandDims(0), 1).item()).item();
}

class TextGenerator extends tf.keras.callbacks.Callback {
  samples: string[] = [];
  maxTokens: number;
  startTokens: number[];

  constructor(maxTokens: number, startTokens: number[]) {
    super();
    this.maxTokens = maxTokens;
    this.startTokens = startTokens;
  }

  override async onEpochEnd(): Promise<void> {
    const tokens = [...this.startTokens];
    while (tokens.length < this.maxTokens) {
      // Padded on the right; causal attention does not see the padding.
      const padded = tf.keras.utils.padSequences([tokens], { maxlen: MAXLEN, padding: 'post' });
      const [y] = await model.predict<tf.Tensor[]>(padded, { verbose: 0 });
      tokens.push(sampleFrom((y as tf.Tensor).at(0, tokens.length - 1)));
    }
    this.samples.push(tokens.map((id) => vocab[id]).join(''));
    console.log(`generated text:\n${this.samples.at(-1)}\n`);
  }
}

export const textGenCallback = new TextGenerator(
  MAXLEN,
  [...'First '].map((char) => vocab.indexOf(char)),
);
export const { history } = await model.fit(textDs, { epochs: EPOCHS, callbacks: [textGenCallback] });

// ---- the same with keys and values kept: each token costs one run of a graph, of one position

/** The layers of the model, which can remember what they have seen. */
class Writer extends tf.keras.models.CausalLM {
  embedding = embeddingLayer;
  block = transformerBlock;
  head = head;

  override call(tokens: tf.Tensor): tf.Tensor {
    return this.head(this.block(this.embedding(tokens)));
  }

  override buildCache(batchSize: number, maxLength: number): Cache {
    return [this.block.att.buildCache(batchSize, maxLength)];
  }

  override callWithCache(tokens: tf.Tensor, cache: Cache, index: tf.Tensor): [tf.Tensor, Cache] {
    const [y, next] = this.block.step(this.embedding.step(tokens, index), cache[0] as Cache[number], index);
    return [this.head(y), [next]];
  }
}

export const writer = new Writer();
const start = textGenCallback.startTokens;
const sampler = new tf.keras.samplers.TopKSampler(3, { temperature: 0.8 });
export const texts = await writer.generate([start, start], { maxLength: MAXLEN, sampler });
for (const ids of texts) console.log(`with keys and values kept:\n${ids.map((id) => vocab[id]).join('')}`);

// The logits are those of the whole model.
export const [tokens] = texts as [number[]];
const cache = writer.buildCache(1, MAXLEN);
const [logitsOfSteps] = writer.callWithCache(tf.constant([tokens], 'int32'), cache, tf.constant(0, 'int32'));
export const [logitsAtOnce] = model<tf.Tensor[]>(tf.constant([tokens], 'int32'));
export const difference = logitsOfSteps
  .sub(logitsAtOnce as tf.Tensor)
  .abs()
  .max()
  .item();
console.log('largest difference to the logits of the whole model:', difference);
