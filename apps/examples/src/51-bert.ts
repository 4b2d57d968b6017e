// BERT from Hugging Face's files: an encoder with masks and token types, the heads of its pretraining, and a table of names for its weights.
//
// Without settings it loads a small model with random weights; MODEL=path/to/bert-base-uncased loads the real one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from 'eagre';

const { layers } = tf.keras;

// ---- the model: the names of layers are those of weights in files

/** What config.json says of the architecture. */
export interface BertConfig {
  readonly vocab_size: number;
  readonly hidden_size: number;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly intermediate_size: number;
  readonly max_position_embeddings: number;
  readonly type_vocab_size: number;
  readonly layer_norm_eps: number;
}

const gelu = (x: tf.Tensor): tf.Tensor => tf.keras.activations.gelu(x, { approximate: false });

/** Attention and a network of two layers, each beside a shortcut and before a normalization. */
class EncoderLayer extends layers.Layer {
  attention: tf.keras.layers.MultiHeadAttention;
  norm1: tf.keras.layers.LayerNormalization;
  expand: tf.keras.layers.Dense;
  project: tf.keras.layers.Dense;
  norm2: tf.keras.layers.LayerNormalization;

  constructor(config: BertConfig, name: string) {
    super({ name });
    const { hidden_size: size, num_attention_heads: heads, layer_norm_eps: epsilon } = config;
    this.attention = new layers.MultiHeadAttention(heads, size / heads, { name: 'attention' });
    this.norm1 = new layers.LayerNormalization({ epsilon, name: 'norm1' });
    this.expand = new layers.Dense(config.intermediate_size, { activation: gelu, name: 'expand' });
    this.project = new layers.Dense(size, { name: 'project' });
    this.norm2 = new layers.LayerNormalization({ epsilon, name: 'norm2' });
  }

  override call(x: tf.Tensor, { attentionMask }: { attentionMask: tf.Tensor }): tf.Tensor {
    const seen = this.norm1(x.add(this.attention(x, { attentionMask })));
    return this.norm2(seen.add(this.project(this.expand(seen))));
  }
}

/** Vectors [batch, time, size] of tokens [batch, time], and one for the whole text. */
class Encoder extends layers.Layer {
  tokens: tf.keras.layers.ReversibleEmbedding;
  positions: tf.keras.layers.Embedding;
  types: tf.keras.layers.Embedding;
  norm: tf.keras.layers.LayerNormalization;
  encoder: EncoderLayer[];
  pooler: tf.keras.layers.Dense;

  constructor(config: BertConfig) {
    super({ name: 'bert' });
    const { hidden_size: size } = config;
    this.tokens = new layers.ReversibleEmbedding(config.vocab_size, size, { name: 'tokens' });
    this.positions = new layers.Embedding(config.max_position_embeddings, size, { name: 'positions' });
    this.types = new layers.Embedding(config.type_vocab_size, size, { name: 'types' });
    this.norm = new layers.LayerNormalization({ epsilon: config.layer_norm_eps, name: 'norm' });
    this.encoder = Array.from(
      { length: config.num_hidden_layers },
      (_, i) => new EncoderLayer(config, `layer${i}`),
    );
    this.pooler = new layers.Dense(size, { activation: 'tanh', name: 'pooler' });
  }

  override call([tokens, mask, types]: [tf.Tensor, tf.Tensor, tf.Tensor]): [tf.Tensor, tf.Tensor] {
    const places = tf.range(0, tf.shape(tokens).at(1), 1, { dtype: 'int32' });
    let x = this.norm(this.tokens(tokens).add(this.positions(places)).add(this.types(types)));
    // No token looks at padding: [batch, 1, time], for every query the same.
    const attentionMask = mask
      .expandDims(1)
      .notEqual(0)
      .tile([1, tf.shape(tokens).at(1), 1]);
    for (const layer of this.encoder) x = layer(x, { attentionMask });
    return [x, this.pooler(x.at(':', 0))];
  }
}

/** The encoder and the heads of its pretraining: logits of each token, and whether the second sentence follows the first. */
export class BertForPreTraining extends tf.keras.Model {
  bert: Encoder;
  transform: tf.keras.layers.Dense;
  norm: tf.keras.layers.LayerNormalization;
  bias: tf.Variable;
  relationship: tf.keras.layers.Dense;

  constructor(config: BertConfig) {
    super({ name: 'bert_for_pre_training' });
    this.bert = new Encoder(config);
    this.transform = new layers.Dense(config.hidden_size, { activation: gelu, name: 'transform' });
    this.norm = new layers.LayerNormalization({ epsilon: config.layer_norm_eps, name: 'norm' });
    this.bias = new tf.Variable(tf.zeros([config.vocab_size]), { name: 'bias' });
    this.relationship = new layers.Dense(2, { name: 'relationship' });
  }

  /** @param inputs tokens, which of them are no padding, and the sentence of each, int32 [batch, time]. */
  override call(inputs: [tf.Tensor, tf.Tensor, tf.Tensor]): [tf.Tensor, tf.Tensor] {
    const [x, pooled] = this.bert(inputs) as unknown as [tf.Tensor, tf.Tensor];
    const logits = this.bert.tokens(this.norm(this.transform(x)), { reverse: true });
    return [logits.add(this.bias), this.relationship(pooled)];
  }
}

// ---- the weights

/** Where each weight is in Hugging Face's files. PyTorch has matrices as (out, in). */
export function bertNames({
  hidden_size: n,
  num_attention_heads: heads,
}: BertConfig): tf.keras.saving.WeightNames {
  const table: Record<string, tf.keras.saving.WeightSource> = {
    'bert/tokens/embeddings': 'bert.embeddings.word_embeddings.weight',
    'bert/positions/embeddings': 'bert.embeddings.position_embeddings.weight',
    'bert/types/embeddings': 'bert.embeddings.token_type_embeddings.weight',
    bias: 'cls.predictions.bias',
  };
  const norm = (ours: string, theirs: string): void => {
    table[`${ours}/gamma`] = `${theirs}.weight`;
    table[`${ours}/beta`] = `${theirs}.bias`;
  };
  const dense = (ours: string, theirs: string): void => {
    table[`${ours}/kernel`] = { from: `${theirs}.weight`, convert: (w) => w.transpose() };
    table[`${ours}/bias`] = `${theirs}.bias`;
  };
  const [ours, theirs] = ['bert/layer{i}', 'bert.encoder.layer.{i}'];
  norm('bert/norm', 'bert.embeddings.LayerNorm');
  norm(`${ours}/norm1`, `${theirs}.attention.output.LayerNorm`);
  norm(`${ours}/norm2`, `${theirs}.output.LayerNorm`);
  norm('norm', 'cls.predictions.transform.LayerNorm');
  dense(`${ours}/expand`, `${theirs}.intermediate.dense`);
  dense(`${ours}/project`, `${theirs}.output.dense`);
  dense('bert/pooler', 'bert.pooler.dense');
  dense('transform', 'cls.predictions.transform.dense');
  dense('relationship', 'cls.seq_relationship');
  for (const name of ['query', 'key', 'value']) {
    const from = `${theirs}.attention.self.${name}`;
    table[`${ours}/attention/${name}/kernel`] = {
      from: `${from}.weight`,
      convert: (w) => w.transpose().reshape([n, heads, n / heads]),
    };
    table[`${ours}/attention/${name}/bias`] = {
      from: `${from}.bias`,
      convert: (b) => b.reshape([heads, n / heads]),
    };
  }
  table[`${ours}/attention/attention_output/kernel`] = {
    from: `${theirs}.attention.output.dense.weight`,
    convert: (w) => w.transpose().reshape([heads, n / heads, n]),
  };
  table[`${ours}/attention/attention_output/bias`] = `${theirs}.attention.output.dense.bias`;
  return table;
}

/** The model in a folder of Hugging Face, with its weights. */
export async function loadBert(folder: string): Promise<BertForPreTraining> {
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as BertConfig;
  const model = new BertForPreTraining(config);
  const one = tf.ones([1, 2], 'int32');
  model([one, one, one]);
  await tf.keras.saving.loadSafetensors(model, folder, {
    names: bertNames(config),
    // Older files hold what can be computed, and the tied weights a second time.
    ignore: [
      'bert.embeddings.position_ids',
      'cls.predictions.decoder.weight',
      'cls.predictions.decoder.bias',
    ],
  });
  return model;
}

// ---- two sentences, of which the first is shorter

const small = fileURLToPath(new URL('../golden/bert', import.meta.url));
export const model = await loadBert(process.env.MODEL ?? small);
model.summary();

const tokens = tf.constant(
  [
    [2, 31, 7, 3, 0, 0],
    [2, 31, 8, 3, 44, 3],
  ],
  'int32',
);
const mask = tokens.notEqual(0).cast('int32');
const types = tf.constant(
  [
    [0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 1, 1],
  ],
  'int32',
);
export const [logits, relationship] = model([tokens, mask, types]) as unknown as [tf.Tensor, tf.Tensor];
console.log('likeliest tokens:', logits.argMax(-1).array());
console.log('the second sentence follows the first, or not:', relationship.softmax().array());

// As a graph, which runs in one native call.
const predict = tf.function(
  (...inputs: [tf.Tensor, tf.Tensor, tf.Tensor]) => model(inputs) as unknown as [tf.Tensor, tf.Tensor],
);
export const [traced] = predict(tokens, mask, types);
console.log('largest difference as a graph:', traced.sub(logits).abs().max().item());
