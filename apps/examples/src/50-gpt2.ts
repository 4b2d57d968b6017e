// GPT-2 from Hugging Face's files: the layers of the model, a table of names for its weights, and texts with keys and values kept.
//
// Without settings it loads a small model with random weights. For the real one download config.json, model.safetensors and vocab.json, and run
// MODEL=path/to/gpt2 PREFIX= npx tsx --tsconfig ../tsconfig.run.json src/50-gpt2.ts
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from 'eagre';

const { layers } = tf.keras;
type Cache = readonly tf.keras.layers.AttentionCache[];

// ---- the model: the names of layers are those of weights in files

/** What config.json says of the architecture. */
export interface GPT2Config {
  readonly vocab_size: number;
  readonly n_positions: number;
  readonly n_embd: number;
  readonly n_layer: number;
  readonly n_head: number;
  readonly layer_norm_epsilon: number;
}

const gelu = (x: tf.Tensor): tf.Tensor => tf.keras.activations.gelu(x, { approximate: true });

/** Attention and a network of two layers, each behind a normalization and beside a shortcut. */
class Block extends layers.Layer {
  norm1: tf.keras.layers.LayerNormalization;
  attention: tf.keras.layers.CachedMultiHeadAttention;
  norm2: tf.keras.layers.LayerNormalization;
  expand: tf.keras.layers.Dense;
  project: tf.keras.layers.Dense;

  constructor({ n_embd: size, n_head: heads, layer_norm_epsilon: epsilon }: GPT2Config, name: string) {
    super({ name });
    this.norm1 = new layers.LayerNormalization({ epsilon, name: 'norm1' });
    this.attention = new layers.CachedMultiHeadAttention(heads, size / heads, { name: 'attention' });
    this.norm2 = new layers.LayerNormalization({ epsilon, name: 'norm2' });
    this.expand = new layers.Dense(4 * size, { activation: gelu, name: 'expand' });
    this.project = new layers.Dense(size, { name: 'project' });
  }

  override call(x: tf.Tensor): tf.Tensor {
    const seen = x.add(this.attention(this.norm1(x), { useCausalMask: true }));
    return this.feedForward(seen);
  }

  /** The same for positions from `index` on, with the keys and values of those before. */
  step(x: tf.Tensor, cache: Cache[number], index: tf.Tensor): [tf.Tensor, Cache[number]] {
    const options = { cache, cacheUpdateIndex: index, useCausalMask: true } as const;
    const [y, next] = this.attention(this.norm1(x), options);
    return [this.feedForward(x.add(y)), next];
  }

  feedForward(x: tf.Tensor): tf.Tensor {
    return x.add(this.project(this.expand(this.norm2(x))));
  }
}

/** Predicts the next token: logits [batch, time, vocabulary] of tokens [batch, time]. */
export class GPT2 extends tf.keras.models.CausalLM {
  readonly config: GPT2Config;
  tokens: tf.keras.layers.ReversibleEmbedding;
  positions: tf.keras.layers.Embedding;
  blocks: Block[];
  norm: tf.keras.layers.LayerNormalization;

  constructor(config: GPT2Config) {
    super({ name: 'gpt2' });
    this.config = config;
    // The same matrix turns tokens into vectors, and vectors into logits.
    this.tokens = new layers.ReversibleEmbedding(config.vocab_size, config.n_embd, { name: 'tokens' });
    this.positions = new layers.Embedding(config.n_positions, config.n_embd, { name: 'positions' });
    this.blocks = Array.from({ length: config.n_layer }, (_, i) => new Block(config, `h${i}`));
    this.norm = new layers.LayerNormalization({ epsilon: config.layer_norm_epsilon, name: 'norm' });
  }

  override call(tokens: tf.Tensor): tf.Tensor {
    let x = this.embed(tokens, tf.constant(0, 'int32'));
    for (const block of this.blocks) x = block(x);
    return this.tokens(this.norm(x), { reverse: true });
  }

  override buildCache(batchSize: number, maxLength: number): Cache {
    const { n_positions: most } = this.config;
    if (maxLength > most) throw new tf.errors.InvalidArgumentError(`this model has ${most} positions`);
    return this.blocks.map((block) => block.attention.buildCache(batchSize, maxLength));
  }

  override callWithCache(tokens: tf.Tensor, cache: Cache, index: tf.Tensor): [tf.Tensor, Cache] {
    let x = this.embed(tokens, index);
    const next = this.blocks.map((block, i) => {
      const [y, ofBlock] = block.step(x, cache[i] as Cache[number], index);
      x = y;
      return ofBlock;
    });
    return [this.tokens(this.norm(x), { reverse: true }), next];
  }

  embed(tokens: tf.Tensor, index: tf.Tensor): tf.Tensor {
    const places = tf.range(0, tf.shape(tokens).at(1), 1, { dtype: 'int32' }).add(index);
    return this.tokens(tokens).add(this.positions(places));
  }
}

// ---- the weights

/** Where each weight is in Hugging Face's files. A matrix for queries, keys and values lies there as one, [n, 3 · n]. */
export function gpt2Names(
  { n_embd: n, n_head: heads }: GPT2Config,
  prefix = '',
): tf.keras.saving.WeightNames {
  const part =
    (which: 0 | 1 | 2, shape: number[]) =>
    (fused: tf.Tensor): tf.Tensor =>
      (tf.split(fused, 3, -1)[which] as tf.Tensor).reshape(shape);
  const table: Record<string, tf.keras.saving.WeightSource> = {
    'tokens/embeddings': `${prefix}wte.weight`,
    'positions/embeddings': `${prefix}wpe.weight`,
    'norm/gamma': `${prefix}ln_f.weight`,
    'norm/beta': `${prefix}ln_f.bias`,
  };
  const block = `${prefix}h.{i}`;
  for (const [ours, theirs] of [
    ['norm1', 'ln_1'],
    ['norm2', 'ln_2'],
  ]) {
    table[`h{i}/${ours}/gamma`] = `${block}.${theirs}.weight`;
    table[`h{i}/${ours}/beta`] = `${block}.${theirs}.bias`;
  }
  // GPT-2 has its matrices as (in, out), as Keras does: nothing has to be transposed.
  for (const [ours, theirs] of [
    ['expand', 'mlp.c_fc'],
    ['project', 'mlp.c_proj'],
  ]) {
    table[`h{i}/${ours}/kernel`] = `${block}.${theirs}.weight`;
    table[`h{i}/${ours}/bias`] = `${block}.${theirs}.bias`;
  }
  (['query', 'key', 'value'] as const).forEach((name, which) => {
    const [from, size] = [`${block}.attn.c_attn`, n / heads];
    const at = which as 0 | 1 | 2;
    table[`h{i}/attention/${name}/kernel`] = {
      from: `${from}.weight`,
      convert: part(at, [n, heads, size]),
    };
    table[`h{i}/attention/${name}/bias`] = { from: `${from}.bias`, convert: part(at, [heads, size]) };
  });
  table['h{i}/attention/attention_output/kernel'] = {
    from: `${block}.attn.c_proj.weight`,
    convert: (w) => w.reshape([heads, n / heads, n]),
  };
  table['h{i}/attention/attention_output/bias'] = `${block}.attn.c_proj.bias`;
  return table;
}

/** The model in a folder of Hugging Face, with its weights. */
export async function loadGPT2(folder: string, prefix = ''): Promise<GPT2> {
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as GPT2Config;
  const model = new GPT2(config);
  model.build([null, null]);
  await tf.keras.saving.loadSafetensors(model, folder, {
    names: gpt2Names(config, prefix),
    // Older files hold the causal mask, too.
    ignore: [`${prefix}h.{i}.attn.bias`, `${prefix}h.{i}.attn.masked_bias`, 'lm_head.weight'],
  });
  return model;
}

// ---- texts

const small = fileURLToPath(new URL('../golden/gpt2', import.meta.url));
export const model = await loadGPT2(process.env.MODEL ?? small, process.env.PREFIX ?? 'transformer.');
model.summary();

tf.random.setSeed(1);
const prompts = [[5, 17, 40], [8]];
const { samplers } = tf.keras;
export const greedy = await model.generate(prompts, { maxLength: 16, sampler: 'greedy' });
console.log('greedily:', greedy);
for (const sampler of [new samplers.TopKSampler(5), new samplers.TopPSampler(0.9, { temperature: 0.7 })])
  console.log(sampler.constructor.name, await model.generate(prompts, { maxLength: 16, sampler }));

// Token by token; each costs one run of a graph.
export const streamed: number[] = [];
for (const [token] of model.generateStream([prompts[0] as number[]], { maxLength: 16, sampler: 'greedy' }))
  streamed.push(token as number);
console.log('token by token:', streamed.join(' '));
