// Layers that give strings and integers the indices of a vocabulary, and back.
import { fileError } from '@eagre/backend';
import {
  constant,
  FailedPreconditionError,
  floormod,
  InvalidArgumentError,
  mul,
  type PartialShape,
  PermissionDeniedError,
  RaggedTensor,
  Tensor,
  type TensorLike,
  UnimplementedError,
} from '@eagre/core';
import {
  argumentsOf,
  checkConfig,
  columnOf,
  defineMethods,
  hostValues,
  kerasDefaults,
  knownTensor,
  type Option,
  portableBins,
  portableFind,
  setBuckets,
  stringTensor,
  type TableResource,
  takesOptions,
  textsOf,
  toTensor,
  tracesForFile,
} from '@eagre/core/internal';
import { nodeBuiltin } from '@eagre/formats/internal';
import {
  densified,
  isStored,
  kindOf,
  onValues,
  rowCount,
  type Stored,
  takesKinds,
} from '../../layer/kinds.ts';
import { Layer, type LayerOptions, ownsTemporaries, type Specs, type TensorSpec } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { isTryingOut } from '../../layer/specs.ts';
import { isSafe } from '../../saving/serialization-scope.ts';
import { checkOne, fail } from '../common.ts';
import { encoding, flag, integer, option, word } from '../options.ts';
import { layerOptions } from '../weights.ts';
import { type AdaptData, adaptBatches } from './adapt-data.ts';
import {
  type CategoryMode,
  checkSparse,
  encoded,
  encodedShape,
  encodedSpec,
  modes,
  sparseFlag,
} from './categories.ts';
import { hashBy, type Salt, salt } from './hashing.ts';
import { exact, integersOf, valuesOf } from './host-values.ts';
import { portableIndices, tableOfIndices, tableOfTokens } from './portable-lookup.ts';
import type { TokenIndex } from './token-bytes.ts';
import { type Token, TokenCounts, Vocabulary } from './vocabulary.ts';

/** What a lookup gives; `tfIdf` weights counts by how rare tokens are. */
export type LookupMode = CategoryMode | 'tfIdf';

interface LookupOptions<T> extends LayerOptions {
  /** How large the vocabulary may be, with what stands for unknown tokens and the mask; as large as needed by default. */
  readonly maxTokens?: number | null;
  /** How many indices stand for unknown tokens; 1 by default, with 0 they are errors. */
  readonly numOovIndices?: number;
  /** A token that gets the index 0 and is hidden; none by default. */
  readonly maskToken?: T | null;
  /** What an unknown index becomes where the lookup is inverted. */
  readonly oovToken?: T | null;
  /** All tokens in order, or a file with one in each line; `adapt` finds them where this is not given. */
  readonly vocabulary?: readonly T[] | Tensor | string | null;
  /** Of `tfIdf`: the weight of each token. */
  readonly idfWeights?: readonly number[] | Tensor | null;
  /** Whether indices become tokens instead; false by default. */
  readonly invert?: boolean;
  /** `int`, the default: indices. `oneHot`, `multiHot`, `count` and `tfIdf`: rows with a place for each token. */
  readonly outputMode?: LookupMode;
  /** Whether rows are as long as maxTokens; false by default. */
  readonly padToMaxTokens?: boolean;
  /** Whether rows are a sparse tensor, of other modes than `int`; false by default. */
  readonly sparse?: boolean;
}

/** Of sparse and ragged tensors each row is one example. */
type LookupData = AdaptData | Stored | Iterable<Stored | readonly [x: Stored, ...rest: unknown[]]>;

interface Tables {
  readonly vocabulary: Vocabulary;
  readonly indices: TableResource;
  readonly tokens: TableResource;
}

/** A layer with a vocabulary. */
abstract class IndexLookup<T extends Token = Token> extends Layer {
  /** How large the vocabulary may be, with what stands for unknown tokens and the mask. */
  declare readonly maxTokens: number | null;
  /** How many indices stand for unknown tokens. */
  declare readonly numOovIndices: number;
  /** A token that gets the index 0 and is hidden. */
  declare readonly maskToken: T | null;
  /** What an unknown index becomes where the lookup is inverted. */
  declare readonly oovToken: T | null;
  /** All tokens in order, or a file with one in each line; `adapt` finds them where this is not given. */
  declare readonly vocabulary: readonly T[] | null;
  /** Of `tfIdf`: the weight of each token. */
  declare readonly idfWeights: readonly number[] | null;
  /** Whether indices become tokens instead. */
  declare readonly invert: boolean;
  /** `int`: indices. `oneHot`, `multiHot`, `count` and `tfIdf`: rows with a place for each token. */
  declare readonly outputMode: LookupMode;
  /** Whether rows are as long as maxTokens. */
  declare readonly padToMaxTokens: boolean;
  /** Whether rows are a sparse tensor, of other modes than `int`. */
  declare readonly sparse: boolean;
  declare readonly salt: readonly [number, number] | null;
  #vocabulary: Vocabulary;
  /** Whether there is one: what `adapt` found may hold no token. */
  #isKnown = false;
  #ofVocabulary: Tables | null = null;
  #expected = 0;
  /** What `updateState` has counted. */
  #counts: TokenCounts | null = null;
  /** The weight of each index. */
  #idf: readonly number[] = [];

  /** A new layer of the options that `getConfig` gave, here or in Keras. */
  static override fromConfig(config: Readonly<Record<string, unknown>>): Layer {
    checkConfig(config, IndexLookup);
    const { vocabulary_size: size, ...options } = config;
    checkNoPath(options, 'a lookup');
    // biome-ignore lint/complexity/noThisInStatic: of the class that it is called on
    const layer = super.fromConfig.call(this, options) as IndexLookup;
    layer.expect(size);
    return layer;
  }
  /** @internal Takes the number of indices that a configuration tells, until the tokens are there. */
  expect(size: unknown): void {
    this.#expected = Number(size ?? 0);
  }

  constructor(options: LayerOptions) {
    super(options);
    const { maxTokens, outputMode, vocabulary } = this;
    this.#vocabulary = new Vocabulary([], this.name);
    checkSparse(this, outputMode);
    if (this.padToMaxTokens && maxTokens === null) fail(this, 'needs maxTokens with padToMaxTokens');
    if (this.invert && outputMode !== 'int') fail(this, "needs outputMode 'int' to be inverted");
    if (this.idfWeights !== null && outputMode !== 'tfIdf')
      fail(this, "takes idfWeights with outputMode 'tfIdf' only");
    if (vocabulary !== null) this.#take(vocabulary, this.idfWeights);
  }

  /** Whether the tokens are integers. */
  protected abstract readonly integers: boolean;
  /** Gives the tokens of a tensor that have no number, which is then negative, one of several indices behind a first one. */
  protected abstract setUnknown(
    data: BigInt64Array<ArrayBuffer>,
    tokens: Tensor,
    numbers: Int32Array,
    first: number,
  ): void;
  /** The same of all tokens of a tensor, in ops of TensorFlow. */
  protected abstract unknowns(tokens: Tensor): Tensor;

  get #masks(): boolean {
    return this.maskToken !== null && this.outputMode === 'int';
  }
  /** The first index of a token of the vocabulary. */
  get #start(): number {
    return (this.#masks ? 1 : 0) + this.numOovIndices;
  }
  get #depth(): number {
    if (this.padToMaxTokens) return this.maxTokens as number;
    return (this.#vocabulary.tokens.length === 0 && this.#expected) || this.vocabularySize();
  }

  /** How many indices there are. */
  vocabularySize(): number {
    return this.#vocabulary.tokens.length + this.#start;
  }

  /** The tokens in the order of their indices, those for the mask and for unknown tokens first. */
  getVocabulary(includeSpecialTokens?: boolean): T[];
  getVocabulary(options: {
    /** Whether those for the mask and for unknown tokens are among them; true by default. */
    readonly includeSpecialTokens?: boolean;
  }): T[];
  getVocabulary(includeSpecialTokens: unknown = true): Token[] {
    const oov = new Array<Token>(this.numOovIndices).fill(this.oovToken ?? (this.integers ? -1n : ''));
    const special = [...(this.#masks ? [this.maskToken as Token] : []), ...oov];
    return [...(includeSpecialTokens === true ? special : []), ...this.#vocabulary.tokens];
  }

  /** Takes other tokens, and, of `tfIdf`, their weights. */
  setVocabulary(
    vocabulary: readonly (Token | number)[] | Tensor | string,
    idfWeights?: readonly number[] | Tensor | null,
  ): void;
  setVocabulary(options: {
    /** All tokens in order, or a file with one in each line. */
    readonly vocabulary: readonly (Token | number)[] | Tensor | string;
    /** Of `tfIdf`: the weight of each token. */
    readonly idfWeights?: readonly number[] | Tensor | null;
  }): void;
  setVocabulary(vocabulary: unknown, idfWeights: unknown = null): void {
    this.#take(
      tokensOf(vocabulary, this.integers, this) as Token[],
      idfWeights === null ? null : weightsOf(idfWeights, this),
    );
  }

  /** Finds the tokens of examples, the most frequent first. Tensors of rank 1 are of one token for each example. */
  adapt(
    data:
      | LookupData
      | {
          /** Tokens: a tensor, or batches of them. */
          readonly data: LookupData;
        },
  ): void;
  adapt(data: LookupData): void {
    this.resetState();
    // A ragged tensor is an iterable of its rows too.
    for (const batch of isStored(data) ? [data] : adaptBatches(this, data as AdaptData))
      this.updateState(batch as TensorLike);
    this.#counts ??= new TokenCounts();
    this.finalizeState();
  }
  /** Counts the tokens of one batch of examples: what `adapt` does for each. `finalizeState` makes the vocabulary of all of them. */
  updateState(
    data:
      | TensorLike
      | Stored
      | {
          /** A batch of tokens. */
          readonly data: TensorLike | Stored;
        },
  ): void;
  updateState(data: TensorLike | Stored): void {
    const x = this.#tokens(data as TensorLike);
    if (isStored(x)) {
      this.count(storedRows(x));
      return;
    }
    this.#counts ??= new TokenCounts();
    const tokens = valuesOf(x);
    const rows = x.rank < 2 ? tokens.length : (x.shape[0] as number);
    const width = tokens.length / Math.max(1, rows);
    for (let i = 0; i < rows; i++) this.#counts.add(tokens, i * width, (i + 1) * width);
  }
  /** @internal Counts the tokens of rows. */
  count(rows: Iterable<readonly Token[]>): void {
    this.#counts ??= new TokenCounts();
    for (const row of rows) this.#counts.add(row);
  }
  /** @internal What `updateState` has counted, for more. */
  get counts(): TokenCounts {
    this.#counts ??= new TokenCounts();
    return this.#counts;
  }
  /** @internal The tokens by their bytes, with what is added to their numbers, and what stands for no token; null where bytes are not UTF-8. */
  get byBytes(): { readonly index: TokenIndex; readonly start: number; readonly mask: number } | null {
    this.#checkKnown();
    const index = this.#vocabulary.byBytes;
    return index === null ? null : { index, start: this.#start, mask: this.#masks ? 0 : -1 };
  }
  /** Forgets what `updateState` has counted; the vocabulary in use stays. */
  resetState(): void {
    this.#counts = null;
  }
  /** Takes the most frequent tokens that `updateState` has counted as the vocabulary; nothing where it was not called. */
  finalizeState(): void {
    if (this.#counts !== null) this.learn(this.#counts);
  }
  /** @internal Takes the most frequent tokens. */
  learn(counts: TokenCounts): void {
    if (this.vocabulary !== null) fail(this, 'was given a vocabulary, so there is nothing to adapt');
    const ranked = counts.ranked([this.maskToken, this.oovToken]);
    const most = this.maxTokens === null ? ranked.length : Math.max(0, this.maxTokens - this.#start);
    this.#vocabulary = new Vocabulary(ranked.slice(0, most), this.name);
    this.#isKnown = true;
    if (this.outputMode !== 'tfIdf') return;
    const idf = this.#vocabulary.tokens.map((token) => counts.idf(token));
    const mean = idf.reduce((a, b) => a + b, 0) / Math.max(1, idf.length);
    this.#idf = [...new Array<number>(this.#start).fill(mean), ...idf];
  }

  /** Keeps the vocabulary that `adapt` or `setVocabulary` gave in a file; one that is an option is in the configuration. */
  override saveAssets(store: Record<string, Uint8Array | string>): void {
    if (this.vocabulary !== null) return;
    const tokens = this.getVocabulary().map(String);
    const broken = tokens.find((token) => token.includes('\n'));
    if (broken !== undefined)
      fail(
        this,
        `has a token with a line break, ${show(broken)}, which files cannot keep; give the vocabulary as an option`,
      );
    store['vocabulary.txt'] = tokens.join('\n');
  }
  /** Keeps the weights of `tfIdf`, as Keras does. */
  override saveOwnVariables(store: Record<string, TensorLike>): void {
    if (this.#idf.length > 0) store['idf_weights'] = constant([...this.#idf], 'float32');
  }
  /** Takes them. */
  override loadOwnVariables(store: Readonly<Record<string, TensorLike>>): void {
    const weights = store['idf_weights'];
    if (weights !== undefined) this.#idf = weightsOf(weights, this);
  }
  /** Takes the vocabulary of such a file. */
  override loadAssets(store: Readonly<Record<string, Uint8Array>>): void {
    if (this.vocabulary !== null) return;
    const file = store['vocabulary.txt'];
    if (file === undefined) fail(this, 'has no vocabulary.txt in the file');
    const lines = linesOf(file);
    const tokens = this.integers ? lines.map((line) => integerOf(line, this)) : lines;
    // In files of older versions; otherwise they are there already, with zeros for what pads.
    const text = store['idf_weights.txt'];
    const weights = text === undefined ? this.#idf.slice(0, tokens.length) : linesOf(text).map(Number);
    this.#take(tokens, this.outputMode === 'tfIdf' ? weights : null);
  }

  override call(inputs: Tensor): Tensor {
    checkOne(this, inputs.shape);
    const given = this.integers && kindOf(inputs) === 'sparse' ? densified(inputs) : inputs;
    if (this.invert) return onValues(given, (ids) => this.#tokensAt(ids));
    return this.encode(this.indices(this.#tokens(given)));
  }
  /** As in Keras, integers that are sparse are looked up as dense ones. */
  #given(spec: TensorSpec): TensorSpec {
    return this.integers && spec.kind === 'sparse' ? { shape: spec.shape, dtype: spec.dtype } : spec;
  }
  /** @internal Indices in the form that the layer gives. */
  encode(ids: Tensor): Tensor {
    const mode = this.outputMode;
    if (mode === 'int') return ids;
    const { sparse } = this;
    const depth = this.#depth;
    if (mode !== 'tfIdf') return encoded(ids, { mode, depth, dtype: 'int64', sparse });
    // As in Keras, whatever the layer's precision.
    const dtype = kerasDefaults.floatx;
    const weights = Array.from({ length: depth }, (_, i) => this.#idf[i] ?? 0);
    return mul(encoded(ids, { mode: 'count', depth, dtype, sparse }), constant(weights, dtype));
  }
  /** @throws FailedPreconditionError without a vocabulary, unless only shapes are asked for */
  #checkKnown(): void {
    if (this.#isKnown || isTryingOut()) return;
    throw new FailedPreconditionError(
      'needs a vocabulary: give one, or call adapt(data). What adapt found is in .keras files and, as in Keras, not in .h5 and weights files: after those, call setVocabulary',
      this.name,
    );
  }
  /** @internal The index of each token, int64. */
  indices(x: Tensor): Tensor {
    this.#checkKnown();
    const { numOovIndices } = this;
    const firstUnknown = BigInt(this.#start - numOovIndices);
    const unknowns = {
      first: firstUnknown,
      count: numOovIndices,
      oneOf: (tokens: Tensor) => this.unknowns(tokens),
    };
    const inOps = (tokens: Tensor): Tensor =>
      portableIndices(this.#tables().indices, this.integers ? tokens.cast('int64') : tokens, unknowns);
    return onValues(x, (values) =>
      integersOf(this.constructor.name, values, (tokens) => this.#indicesOf(tokens), inOps),
    );
  }
  #indicesOf(tokens: Tensor): BigInt64Array<ArrayBuffer> {
    const numbers = this.#vocabulary.find(tokens);
    const { maskToken, numOovIndices } = this;
    const start = this.#start;
    const first = start - numOovIndices;
    const data = new BigInt64Array(numbers.length);
    const words = new Int32Array(data.buffer);
    let others = 0;
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i] as number;
      if (number < 0) others++;
      words[2 * i] = number < 0 ? first : number + start;
    }
    if (others === 0 || (numOovIndices === 1 && maskToken === null)) return data;
    const masked = maskToken === null ? null : this.#isMask(tokens);
    if (numOovIndices !== 1) {
      const known = masked === null ? numbers : numbers.map((number, i) => (masked[i] === 1 ? 0 : number));
      const unknown = known.findIndex((number) => number < 0);
      if (numOovIndices === 0 && unknown >= 0) {
        const token = valuesOf(tokens)[unknown] as Token;
        throw new InvalidArgumentError(
          `${show(typeof token === 'bigint' ? Number(token) : token)} is not in the vocabulary; numOovIndices: 1 would give unknown tokens an index`,
          this.name,
        );
      }
      this.setUnknown(data, tokens, known, first);
    }
    if (masked === null) return data;
    // Where rows are counted, the mask counts nowhere.
    const mask = this.#masks ? 0n : -1n;
    for (let i = 0; i < numbers.length; i++)
      if (masked[i] === 1 && (numbers[i] as number) < 0) data[i] = mask;
    return data;
  }
  /** 1 where a token is that of the mask. */
  #isMask(tokens: Tensor): Uint8Array {
    const mask = this.maskToken as Token;
    const found = new Uint8Array(tokens.size);
    if (typeof mask === 'string') {
      const texts = textsOf(tokens);
      for (let i = 0; i < found.length; i++) if (texts[i] === mask) found[i] = 1;
      return found;
    }
    const integers = hostValues(tokens) as BigInt64Array;
    for (let i = 0; i < found.length; i++) if (integers[i] === mask) found[i] = 1;
    return found;
  }
  /** The tables of a vocabulary, for functions that are saved: one of each. */
  #tables(): Tables {
    const vocabulary = this.#vocabulary;
    if (this.#ofVocabulary?.vocabulary === vocabulary) return this.#ofVocabulary;
    const start = this.#start;
    const indices = new Map(vocabulary.tokens.map((token, i): [Token, bigint] => [token, BigInt(i + start)]));
    // Where rows are counted, the mask counts nowhere.
    if (this.maskToken !== null) indices.set(this.maskToken, this.#masks ? 0n : -1n);
    const { name, integers } = this;
    this.#ofVocabulary = {
      vocabulary,
      indices: tableOfIndices(name, indices, integers),
      tokens: tableOfTokens(name, this.getVocabulary(), integers),
    };
    return this.#ofVocabulary;
  }
  /** @internal */
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    const mode = this.outputMode === 'tfIdf' ? 'count' : this.outputMode;
    return encodedShape(checkOne(this, inputShape), mode, mode === 'int' ? null : this.#depth);
  }
  override computeOutputSpec({ list }: Specs): Specs {
    const mode = this.outputMode === 'tfIdf' ? 'count' : this.outputMode;
    const dtype = this.outputMode === 'tfIdf' ? kerasDefaults.floatx : 'int64';
    const depth = mode === 'int' ? null : this.#depth;
    checkOne(this, list[0].shape);
    const int = this.invert && !this.integers ? 'string' : 'int64';
    return encodedSpec(this.#given(list[0]), { mode, depth, dtype, sparse: this.sparse }, int);
  }
  /** Nothing: there are no weights whose shapes depend on the inputs. */
  override getBuildConfig(): Record<string, unknown> {
    return {};
  }
  override getConfig(): Record<string, unknown> {
    const config = super.getConfig();
    const plain = (t: unknown): unknown => (typeof t === 'bigint' ? Number(t) : t);
    return {
      ...config,
      oov_token: plain(this.oovToken),
      mask_token: plain(this.maskToken),
      vocabulary: this.vocabulary === null ? null : this.vocabulary.map(plain),
      vocabulary_size: this.#vocabulary.tokens.length === 0 ? null : this.vocabularySize(),
    };
  }

  #tokensAt(inputs: Tensor): Tensor {
    this.#checkKnown();
    const all = this.getVocabulary();
    const oov = this.oovToken ?? (this.integers ? -1n : '');
    /** The places of the tokens of indices, of which there is one more. */
    const placesOf = (x: Tensor): Int32Array => {
      const numbers = hostValues(exact(x)) as BigInt64Array;
      const words = new Int32Array(numbers.buffer, numbers.byteOffset, 2 * numbers.length);
      const places = new Int32Array(numbers.length);
      for (let i = 0; i < places.length; i++) {
        const low = words[2 * i] as number;
        places[i] = words[2 * i + 1] === 0 && low >= 0 && low < all.length ? low : all.length;
      }
      return places;
    };
    const withOov = [...all, oov];
    const inOps = (ids: Tensor): Tensor => {
      const missing = this.integers ? constant(oov as bigint, 'int64') : constant(oov as string);
      return portableFind(this.#tables().tokens, ids.cast('int64'), missing);
    };
    if (this.integers) {
      const tokens = withOov as bigint[];
      const find = (x: Tensor): BigInt64Array<ArrayBuffer> =>
        BigInt64Array.from(Array.from(placesOf(x), (i) => tokens[i] as bigint));
      return integersOf(this.constructor.name, inputs, find, inOps);
    }
    if (tracesForFile() && knownTensor(inputs) === null) return inOps(inputs);
    const known = knownTensor(inputs);
    if (known === null)
      throw new UnimplementedError(
        'a traced function cannot make strings of values that only a run knows: call the layer outside',
        this.name,
      );
    const places = placesOf(known);
    const strings = new Array<string>(places.length);
    for (let i = 0; i < strings.length; i++) strings[i] = withOov[places[i] as number] as string;
    return stringTensor(strings, known.shape);
  }
  #tokens(given: TensorLike): Tensor {
    const x = isStored(given) ? (given as unknown as Tensor) : toTensor(given);
    if ((x.dtype === 'string') === this.integers)
      fail(this, `expects ${this.integers ? 'integers' : 'strings'}, got ${x.dtype}`);
    return x;
  }
  #take(vocabulary: readonly Token[], idfWeights: readonly number[] | null): void {
    if (this.outputMode === 'tfIdf' && idfWeights === null)
      fail(this, "needs idfWeights with outputMode 'tfIdf'");
    if (this.outputMode !== 'tfIdf' && idfWeights !== null)
      fail(this, "takes idfWeights with outputMode 'tfIdf' only");
    if (vocabulary.length === 0) fail(this, 'needs at least one token in its vocabulary');
    const start = this.#start;
    const special = this.getVocabulary().slice(0, start);
    const isSpecial = start > 0 && special.every((token, i) => vocabulary[i] === token);
    const tokens = isSpecial ? vocabulary.slice(start) : vocabulary;
    const wrong = (token: Token | null, what: string): void => {
      if (token !== null && tokens.includes(token))
        fail(
          this,
          `has its ${what} ${show(String(token))} among the tokens; it may stand only at the start, as ${special.map((t) => show(String(t))).join(', ')}`,
        );
    };
    wrong(this.maskToken, 'maskToken');
    if (this.invert) wrong(this.oovToken, 'oovToken');
    if (this.maxTokens !== null && tokens.length + start > this.maxTokens)
      fail(this, `takes ${this.maxTokens} tokens at most, got ${tokens.length + start}`);
    if (idfWeights !== null && idfWeights.length !== vocabulary.length)
      fail(this, `needs one of idfWeights for each of ${vocabulary.length} tokens, got ${idfWeights.length}`);
    this.#vocabulary = new Vocabulary(tokens, this.name);
    // Of one without, a file has what stands for unknown tokens alone.
    this.#isKnown = tokens.length > 0;
    if (idfWeights === null) return;
    const mean = idfWeights.reduce((a, b) => a + b, 0) / idfWeights.length;
    this.#idf = [...new Array<number>(isSpecial ? 0 : start).fill(mean), ...idfWeights];
  }
}
defineMethods(IndexLookup.prototype, 'IndexLookup', {
  vocabularySize: {},
  getVocabulary: { positional: ['includeSpecialTokens'], required: 0 },
  setVocabulary: {
    positional: ['vocabulary', 'idfWeights'],
    required: 1,
    objects: ['vocabulary', 'idfWeights'],
  },
  adapt: { positional: ['data'], objects: ['data'] },
  updateState: { positional: ['data'], objects: ['data'] },
  resetState: {},
  finalizeState: {},
});

/** The tokens of each row, whatever is nested in it. */
function storedRows(x: Stored): Token[][] {
  if (x instanceof RaggedTensor) {
    const exact = x.dtype === 'string' ? x : onValues(x, (values) => values.cast('int64'));
    return exact.toList<Token>().map((row) => ([row] as unknown[]).flat(Infinity) as Token[]);
  }
  const rows = Array.from({ length: rowCount(x).item() }, (): Token[] => []);
  const ids = valuesOf(columnOf(x.indices, 0));
  valuesOf(x.values).forEach((token, i) => {
    rows[Number(ids[i])].push(token);
  });
  return rows;
}

function integerOf(line: string, layer: Layer): bigint {
  if (!/^[+-]?\d+$/.test(line)) fail(layer, `needs integers in its vocabulary, got ${show(line)}`);
  return BigInt(line);
}
/** The lines of a text, without empty ones at its end. */
function linesOf(bytes: Uint8Array): string[] {
  const lines = new TextDecoder().decode(bytes).split(/\r?\n/);
  while (lines.at(-1) === '') lines.pop();
  return lines;
}
function textOf(path: string): string {
  try {
    return nodeBuiltin('node:fs').readFileSync(path, 'utf8');
  } catch (cause) {
    throw fileError(cause, path);
  }
}

/**
 * Refuses the path of a file in a configuration: whoever wrote that is not the program, and must not choose what is read.
 * @throws PermissionDeniedError
 */
export function checkNoPath({ vocabulary }: Readonly<Record<string, unknown>>, what: string): void {
  if (typeof vocabulary !== 'string' || !isSafe()) return;
  throw new PermissionDeniedError(
    `the configuration of ${what} names a file as its vocabulary, ${show(vocabulary)}, which could be any file of this machine; load with safeMode: false if you trust where it comes from`,
  );
}

/** Tokens of a list, a tensor, or a file. */
function tokensOf(given: unknown, integers: boolean, layer: Layer): readonly Token[] {
  if (typeof given === 'string') {
    const lines = textOf(given).split('\n');
    while (lines.at(-1) === '') lines.pop();
    return integers ? lines.map((line) => integerOf(line, layer)) : lines;
  }
  const list: unknown = given instanceof Tensor ? valuesOf(given) : given;
  const read = (token: unknown): Token => {
    if (integers && (typeof token === 'bigint' || Number.isSafeInteger(token)))
      return BigInt(token as number);
    if (!integers && typeof token === 'string') return token;
    return fail(layer, `needs ${integers ? 'integers' : 'strings'} in its vocabulary, got ${show(token)}`);
  };
  if (!Array.isArray(list)) return fail(layer, `needs a list of tokens as vocabulary, got ${show(given)}`);
  return (list as unknown[]).map(read);
}
function weightsOf(given: unknown, layer: Layer): readonly number[] {
  const list: unknown = given instanceof Tensor ? Array.from(given.data() as Float32Array, Number) : given;
  if (!Array.isArray(list) || !list.every((w) => typeof w === 'number'))
    fail(layer, `needs numbers as idfWeights, got ${show(given)}`);
  return list as number[];
}

const isNone = (value: unknown): boolean => value === undefined || value === null;
/** At least `least`, or nothing. */
export const limit = (least: number): Option<number | null> => ({
  read: (given: unknown, name: string, layer: object): number | null =>
    isNone(given) ? null : integer(undefined, least).read(given, name, layer),
});
// Of what has a place in memory for each.
const MOST = 2 ** 24;
/** An integer of at least `least`, of which there are places in memory. */
export const placed = (least: number, otherwise?: number): Option<number> => ({
  read: (given, name, layer) => {
    const count = integer(otherwise, least).read(given, name, layer);
    if (count > MOST) fail(layer as Layer, `takes ${name} up to ${MOST}, got ${count}`);
    return count;
  },
});
const tokenOption = (integers: boolean, otherwise: Token | null): Option<Token | null> => ({
  read: (given, name, layer) => {
    const value = given === undefined ? otherwise : given;
    if (value === null) return null;
    if (integers && (typeof value === 'bigint' || Number.isSafeInteger(value)))
      return BigInt(value as number);
    if (!integers && typeof value === 'string') return value;
    return fail(
      layer as Layer,
      `needs ${name} to be ${integers ? 'an integer' : 'a string'}, got ${show(value)}`,
    );
  },
});
const lookupModes = modes<LookupMode>(['int', 'oneHot', 'multiHot', 'count', 'tfIdf'], 'int');

/** Options of `StringLookup`. */
export interface StringLookupOptions extends LookupOptions<string> {
  /** `utf-8`, the only one. */
  readonly encoding?: 'utf-8';
  /** A key of the hash of unknown tokens, where they have several indices. */
  readonly salt?: Salt | null;
  /** `floormod`, the only one: strings are always hashed. */
  readonly oovMethod?: 'floormod';
}

/** Strings as integers, their places in a vocabulary: `new StringLookup({ vocabulary: ['a', 'b'] })` gives 1 and 2, and 0 for all others. */
export class StringLookup extends IndexLookup<string> {
  constructor(...args: [maxTokens?: number | null | StringLookupOptions, options?: StringLookupOptions]) {
    super(argumentsOf<StringLookupOptions>(StringLookup, new.target, args));
  }
  protected override get integers(): boolean {
    return false;
  }
  protected override setUnknown(
    data: BigInt64Array<ArrayBuffer>,
    tokens: Tensor,
    numbers: Int32Array,
    first: number,
  ): void {
    setBuckets(data, tokens, numbers, first, this.numOovIndices, hashBy(this.salt));
  }
  protected override unknowns(tokens: Tensor): Tensor {
    return portableBins(tokens, this.numOovIndices, this.salt);
  }
}

/** Options of `IntegerLookup`. */
export interface IntegerLookupOptions extends LookupOptions<number> {
  /** `int64`, the only one. */
  readonly vocabularyDtype?: 'int64';
  /** How unknown integers share several indices: by their remainder, or by a hash. `floormod` by default. */
  readonly oovMethod?: 'floormod' | 'farmhash';
  /** A key of the hash that chooses among several indices of unknown tokens; none by default. */
  readonly salt?: Salt | null;
}

/** Integers as their places in a vocabulary: `new IntegerLookup({ vocabulary: [12, 36] })` gives 1 and 2, and 0 for all others. */
export class IntegerLookup extends IndexLookup<bigint> {
  /** How unknown integers share several indices: by their remainder, or by a hash. */
  declare readonly oovMethod: 'floormod' | 'farmhash';

  constructor(...args: [maxTokens?: number | null | IntegerLookupOptions, options?: IntegerLookupOptions]) {
    super(argumentsOf<IntegerLookupOptions>(IntegerLookup, new.target, args));
    if (this.salt !== null && this.oovMethod !== 'farmhash')
      fail(this, "takes a salt with oovMethod 'farmhash' only");
  }
  protected override get integers(): boolean {
    return true;
  }
  protected override setUnknown(
    data: BigInt64Array<ArrayBuffer>,
    tokens: Tensor,
    numbers: Int32Array,
    first: number,
  ): void {
    const { numOovIndices } = this;
    if (this.oovMethod === 'farmhash') {
      setBuckets(data, tokens, numbers, first, numOovIndices, hashBy(this.salt));
      return;
    }
    const n = BigInt(numOovIndices);
    const integers = hostValues(tokens) as BigInt64Array;
    for (let i = 0; i < numbers.length; i++)
      if ((numbers[i] as number) < 0) data[i] = ((((integers[i] as bigint) % n) + n) % n) + BigInt(first);
  }
  protected override unknowns(tokens: Tensor): Tensor {
    if (this.oovMethod === 'farmhash') return portableBins(tokens, this.numOovIndices, this.salt);
    return floormod(tokens, constant(BigInt(this.numOovIndices), 'int64'));
  }
}
ownsTemporaries(StringLookup, IntegerLookup);
takesKinds(['sparse', 'ragged'], StringLookup, IntegerLookup);

const lookup = (integers: boolean) => ({
  maxTokens: limit(2),
  numOovIndices: placed(0, 1),
  maskToken: tokenOption(integers, null),
  oovToken: tokenOption(integers, integers ? -1n : '[UNK]'),
  vocabulary: {
    read: (given: unknown, _: string, layer: object) =>
      isNone(given) ? null : tokensOf(given, integers, layer as Layer),
  } satisfies Option<readonly Token[] | null>,
  idfWeights: {
    read: (given: unknown, _: string, layer: object) =>
      isNone(given) ? null : weightsOf(given, layer as Layer),
  } satisfies Option<readonly number[] | null>,
  invert: flag(false),
  outputMode: lookupModes,
  padToMaxTokens: flag(false),
  sparse: sparseFlag,
});
takesOptions<StringLookupOptions, StringLookup>(
  {
    positional: ['maxTokens'],
    required: 0,
    options: {
      ...lookup(false),
      encoding,
      salt,
      oovMethod: word(
        ['floormod'],
        'floormod',
        (value) => `hashes all strings alike, got oovMethod ${value}`,
      ),
      ...layerOptions,
    },
  } as never,
  StringLookup,
);
takesOptions<IntegerLookupOptions, IntegerLookup>(
  {
    positional: ['maxTokens'],
    required: 0,
    options: {
      ...lookup(true),
      vocabularyDtype: word(['int64'], 'int64', (value) => `knows the dtype 'int64' only, got ${value}`),
      oovMethod: option<'floormod' | 'farmhash'>((value, name, layer) => {
        if (value !== 'floormod' && value !== 'farmhash')
          fail(layer, `needs ${name} to be 'floormod' or 'farmhash', got ${show(value)}`);
        return value;
      }, 'floormod'),
      salt,
      ...layerOptions,
    },
  } as never,
  IntegerLookup,
);
