// The state of a generation, and the graphs that advance it.
import { concat, constant, type Tensor, Variable, zeros } from '@eagre/core';
import { iota, outsideScopes } from '@eagre/core/internal';
import { TensorSpec, type TracedFunction, tfFunction } from '@eagre/graph';
import type { AttentionCache } from '../layers/attention/cached-attention.ts';
import type { CausalLM } from './causal-lm.ts';
import type { Sampler } from './samplers.ts';

// Types in a circle: a model has the state of its generation, which calls the model.

/** What graphs are traced for. */
export interface GenerationSettings {
  readonly batchSize: number;
  readonly maxLength: number;
  readonly sampler: Sampler;
  readonly stop: readonly number[];
}

interface Step {
  /** int32 [batch] */
  readonly tokens: Tensor;
  /** Whether every text has ended: bool, a scalar. */
  readonly isOver: Tensor;
}

/** Variables that hold tokens and caches, and two functions that read and write them: of the prompts, and of one position. */
export class Generation {
  readonly #model: CausalLM;
  readonly #settings: GenerationSettings;
  /** int32 [batch, maxLength]; prompts, and what follows as far as it is known. */
  readonly #tokens: Variable;
  /** Of the prompts, int32 [batch]. */
  readonly #lengths: Variable;
  /** The last position that has a token in every text, int32. */
  readonly #index: Variable;
  /** Which texts have ended, bool [batch]. */
  readonly #ended: Variable;
  readonly #caches: readonly (readonly [keys: Variable, values: Variable])[];
  readonly #prefill: TracedFunction<(tokens: Tensor) => void>;
  readonly #step: TracedFunction<() => Step>;
  #isBusy = false;

  constructor(model: CausalLM, settings: GenerationSettings) {
    this.#model = model;
    this.#settings = settings;
    const { batchSize, maxLength } = settings;
    // What no training changes, and no file saves: it belongs to none of the model's attributes.
    const state = (value: Tensor): Variable => new Variable(value, { trainable: false });
    [this.#tokens, this.#lengths, this.#index, this.#ended, this.#caches] = outsideScopes(() => {
      build(model, batchSize);
      return [
        state(zeros([batchSize, maxLength], 'int32')),
        state(zeros([batchSize], 'int32')),
        state(zeros([], 'int32')),
        state(zeros([batchSize], 'bool')),
        model.buildCache(batchSize, maxLength).map(([k, v]) => [state(k), state(v)] as const),
      ] as const;
    });
    this.#prefill = tfFunction((tokens: Tensor) => this.#fill(tokens), {
      inputSignature: [new TensorSpec([batchSize, null], 'int32')],
    });
    this.#step = tfFunction(() => this.#advance());
  }

  /** Whether somebody reads its tokens. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  fits({ batchSize, maxLength, sampler, stop }: GenerationSettings): boolean {
    const own = this.#settings;
    return (
      own.batchSize === batchSize &&
      own.maxLength === maxLength &&
      own.sampler === sampler &&
      own.stop.join() === stop.join()
    );
  }

  *run(prompts: readonly (readonly number[])[]): IterableIterator<readonly number[]> {
    this.#isBusy = true;
    try {
      const { batchSize, maxLength } = this.#settings;
      const lengths = prompts.map((prompt) => prompt.length);
      const shortest = Math.min(...lengths);
      const padded = prompts.map((prompt) => [...prompt, ...Array(maxLength - prompt.length).fill(0)]);
      this.#tokens.assign(constant(padded, 'int32'));
      this.#lengths.assign(constant(lengths, 'int32'));
      this.#index.assign(constant(shortest - 1, 'int32'));
      this.#ended.assign(zeros([batchSize], 'bool'));
      // The last token of the shortest prompt is left to the first step, which chooses what follows.
      const known = prompts.map((prompt) => prompt.slice(0, shortest - 1));
      if (shortest > 1) this.#prefill(constant(known, 'int32'));
      for (let position = shortest; position < maxLength; position++) {
        const { tokens, isOver } = this.#step();
        yield Array.from(tokens.data(), Number);
        if (isOver.item()) return;
      }
    } finally {
      this.#isBusy = false;
    }
  }

  /** Writes the keys and values of tokens at the first positions. */
  #fill(tokens: Tensor): void {
    const [, caches] = this.#model.callWithCache(tokens, this.#read(), constant(0, 'int32'));
    this.#write(caches);
  }

  /** Chooses the tokens of the next position. */
  #advance(): Step {
    const { batchSize, sampler, stop, maxLength } = this.#settings;
    const index = this.#index.read();
    const next = index.add(1);
    const all = this.#tokens.read();
    const last = all.gather(index, { axis: 1 });
    const [logits, caches] = this.#model.callWithCache(last.expandDims(1), this.#read(), index);
    this.#write(caches);
    const drawn = sampler.getNextToken(sampler.computeProbabilities(logits.at(':', -1)));
    const given = all.gather(next.minimum(maxLength - 1), { axis: 1 });
    const isPrompt = next.less(this.#lengths.read());
    const ended = this.#ended.read();
    const tokens = isPrompt.where(given, ended.where(last, drawn.cast('int32')));
    const places = concat([iota(batchSize).expandDims(1), next.broadcastTo([batchSize, 1])], 1);
    this.#tokens.assign(all.tensorScatterNdUpdate(places, tokens));
    const stops = stop.map((id) => tokens.equal(id).logicalAnd(isPrompt.logicalNot()));
    const nowEnded = stops.reduce((a, b) => a.logicalOr(b), ended);
    this.#ended.assign(nowEnded);
    this.#index.assign(next);
    return { tokens, isOver: nowEnded.all() };
  }

  #read(): AttentionCache[] {
    return this.#caches.map(([keys, values]) => [keys.read(), values.read()]);
  }

  #write(caches: readonly AttentionCache[]): void {
    this.#caches.forEach(([keys, values], i) => {
      const [k, v] = caches[i] as AttentionCache;
      keys.assign(k);
      values.assign(v);
    });
  }
}

/** Gives the model its weights. */
function build(model: CausalLM, batchSize: number): void {
  if (!model.built) model(zeros([batchSize, 1], 'int32'));
}
