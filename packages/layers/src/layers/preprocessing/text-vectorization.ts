import {
  constant,
  type PartialShape,
  RaggedTensor,
  range,
  strings,
  type Tensor,
  type TensorLike,
  UnimplementedError,
} from '@eagre/core';
import {
  addDims,
  argumentsOf,
  checkConfig,
  defineMethods,
  dims,
  kerasDefaults,
  knownTensor,
  lowerAscii,
  ngramsOf,
  type Option,
  optionsFrom,
  orNull,
  portable,
  showShape,
  takesOptions,
  toTensor,
  tracesForFile,
  words,
} from '@eagre/core/internal';
import { Layer, type LayerOptions, ownsTemporaries, type Specs } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { functionConfig, functionOf } from '../../saving/keras-object.ts';
import { checkOne, fail } from '../common.ts';
import { encoding, flag } from '../options.ts';
import { layerOptions } from '../weights.ts';
import { type AdaptData, adaptBatches } from './adapt-data.ts';
import { checkSparse, modes, sparseFlag } from './categories.ts';
import { checkNoPath, type LookupMode, limit, placed, StringLookup } from './lookup.ts';
import { type Tokenizing, TokenNumbers, TokenTally, tokenize } from './token-bytes.ts';

/** How texts are made alike before they are split. */
export type Standardize =
  | 'lowerAndStripPunctuation'
  | 'lower'
  | 'stripPunctuation'
  | ((text: string) => string)
  | null;
/** Where texts are split into tokens. */
export type SplitText = 'whitespace' | 'character' | ((text: string) => readonly string[]) | null;

/** Options of `TextVectorization`. */
export interface TextVectorizationOptions extends LayerOptions {
  /** How large the vocabulary may be, with the two indices of padding and of unknown tokens; as large as needed by default. */
  readonly maxTokens?: number | null;
  /** What is done to a text before it is divided: `lowerAndStripPunctuation` by default; a function of one text, or null for nothing. */
  readonly standardize?: Standardize;
  /** How a text becomes tokens: at `whitespace` by default; a function of one text, or null for texts that are tokens. */
  readonly split?: SplitText;
  /** Tokens together up to so many, or these numbers of them; single ones by default. */
  readonly ngrams?: number | readonly number[] | null;
  /** `int`, the default: a row of indices for each text. `multiHot`, `count` and `tfIdf`: a row with a place for each token. */
  readonly outputMode?: LookupMode;
  /** Of `int`: how long rows are; as long as the longest of a batch by default. */
  readonly outputSequenceLength?: number | null;
  /** Whether rows of the other modes are as long as maxTokens; false by default. */
  readonly padToMaxTokens?: boolean;
  /** All tokens in order, or a file with one in each line; `adapt` finds them where this is not given. */
  readonly vocabulary?: readonly string[] | Tensor | string | null;
  /** Of `tfIdf`: the weight of each token. */
  readonly idfWeights?: readonly number[] | Tensor | null;
  /** `utf-8`, the only one. */
  readonly encoding?: 'utf-8';
  /** Of `int`: whether it gives ragged rows, each as long as its text; false by default. */
  readonly ragged?: boolean;
  /** Of other modes: whether rows are a sparse tensor; false by default. */
  readonly sparse?: boolean;
}

// Keras's, which is one of RE2 too.
const PUNCTUATION = `[!"#$%&()*+,\\-./:;<=>?@\\[\\\\\\]^_\`{|}~']`;
const strip = (text: string): string => text.replace(new RegExp(PUNCTUATION, 'g'), '');
/** The characters of texts, in ops that TensorFlow has. */
function portableCharacters(texts: Tensor): RaggedTensor {
  const encoding = { errors: { kind: 'text', value: 'replace' } } as const;
  const int64 = { kind: 'type', value: 'int64' } as const;
  const [splits, points] = portable({
    op: 'UnicodeDecode',
    inputs: [texts],
    attrs: { ...encoding, input_encoding: { kind: 'text', value: 'UTF-8' }, Tsplits: int64 },
    outputs: (size) => [
      { dtype: 'int64', shape: [addDims(dims(texts)[0], 1)] },
      { dtype: 'int32', shape: [size()] },
    ],
  });
  const places = range(0, points.shapeOf().gather(0).add(1), 1).cast('int64');
  const [characters] = portable({
    op: 'UnicodeEncode',
    inputs: [points, places],
    attrs: { ...encoding, output_encoding: { kind: 'text', value: 'UTF-8' }, Tsplits: int64 },
    outputs: () => [{ dtype: 'string', shape: dims(points) }],
  });
  return RaggedTensor.fromRowSplits(characters, splits, { validate: false });
}
// As many numbers as there are lengths of n-grams.
const MOST_WIDTHS = 2 ** 16;
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

/** Indices of tokens, and where those of each row end. */
interface RowsOfIndices {
  readonly ids: Int32Array;
  readonly ends: readonly number[];
  /** What stands for no token. */
  readonly mask: number;
}

/**
 * Texts as integers: made alike, split into tokens, and looked up. `adapt` finds the vocabulary; 0 pads, 1 stands for unknown tokens.
 *
 *     const vectorize = new TextVectorization({ maxTokens: 1000, outputSequenceLength: 20 });
 *     vectorize.adapt(texts);
 *     const ids = vectorize(['the cat sat']); // [1, 20]
 */
export class TextVectorization extends Layer {
  /** How large the vocabulary may be, with the two indices of padding and of unknown tokens. */
  declare readonly maxTokens: number | null;
  /** What is done to a text before it is divided: `lowerAndStripPunctuation`; a function of one text, or null for nothing. */
  declare readonly standardize: Standardize;
  /** How a text becomes tokens: at `whitespace`; a function of one text, or null for texts that are tokens. */
  declare readonly split: SplitText;
  /** Tokens together up to so many, or these numbers of them. */
  declare readonly ngrams: number | readonly number[] | null;
  /** `int`: a row of indices for each text. `multiHot`, `count` and `tfIdf`: a row with a place for each token. */
  declare readonly outputMode: LookupMode;
  /** Of `int`: how long rows are. */
  declare readonly outputSequenceLength: number | null;
  /** Whether rows of the other modes are as long as maxTokens. */
  declare readonly padToMaxTokens: boolean;
  /** All tokens in order, or a file with one in each line; `adapt` finds them where this is not given. */
  declare readonly vocabulary: readonly string[] | null;
  /** Of `tfIdf`: the weight of each token. */
  declare readonly idfWeights: readonly number[] | null;
  /** Of `int`: whether it gives ragged rows, each as long as its text. */
  declare readonly ragged: boolean;
  /** Of other modes: whether rows are a sparse tensor. */
  declare readonly sparse: boolean;
  readonly #lookup: StringLookup;

  constructor(
    ...args: [maxTokens?: number | null | TextVectorizationOptions, options?: TextVectorizationOptions]
  ) {
    const options = argumentsOf<TextVectorizationOptions>(TextVectorization, new.target, args);
    super(options);
    const { maxTokens, outputMode, padToMaxTokens } = this;
    if (outputMode !== 'int' && this.outputSequenceLength !== null)
      fail(this, "takes outputSequenceLength with outputMode 'int' only");
    if (this.ragged && outputMode !== 'int') fail(this, "takes ragged with outputMode 'int' only");
    checkSparse(this, outputMode);
    this.#lookup = new StringLookup({
      maxTokens,
      outputMode,
      padToMaxTokens,
      sparse: this.sparse,
      maskToken: '',
      vocabulary: options.vocabulary ?? null,
      idfWeights: options.idfWeights ?? null,
      name: this.name,
    });
  }

  /** A new layer of the options that `getConfig` gave, here or in Keras. */
  static override fromConfig(config: Readonly<Record<string, unknown>>): TextVectorization {
    checkConfig(config, TextVectorization);
    const { vocabulary_size: size, ...options } = config;
    checkNoPath(options, 'TextVectorization');
    const layer = new TextVectorization(optionsFrom(options, TextVectorization));
    layer.#lookup.expect(size);
    return layer;
  }

  /** Whether texts become several tokens. */
  get #splits(): boolean {
    return this.split !== null || this.ngrams !== null;
  }
  /** The tokens of a text. */
  #split(text: string): string[] {
    const { standardize, split, ngrams } = this;
    let plain = text;
    if (typeof standardize === 'function') plain = this.#ownText(standardize(text), 'standardize');
    else if (standardize !== null) {
      if (standardize !== 'stripPunctuation') plain = lowerAscii(plain);
      if (standardize !== 'lower') plain = strip(plain);
    }
    const tokens =
      typeof split === 'function'
        ? this.#ownTokens(split(plain))
        : split === 'whitespace'
          ? words(plain, -1)
          : split === 'character'
            ? [...plain]
            : [plain];
    if (ngrams === null) return tokens;
    const widths = typeof ngrams === 'number' ? upTo(ngrams) : ngrams;
    const grams: string[] = [];
    ngramsOf(widths, {})(tokens, 0, tokens.length, grams);
    return grams;
  }
  #ownText(given: unknown, of: string): string {
    if (typeof given !== 'string') fail(this, `needs ${of} to give strings, got ${show(given)}`);
    return given;
  }
  #ownTokens(given: unknown): string[] {
    const isList = typeof given !== 'string' && Symbol.iterator in Object(given);
    if (!isList) fail(this, `needs split to give a list of strings, got ${show(given)}`);
    return [...(given as Iterable<unknown>)].map((token) => this.#ownText(token, 'split'));
  }
  /** A tensor of strings with values. @throws UnimplementedError where only a run of a traced function knows them */
  #known(given: TensorLike): Tensor {
    const x = toTensor(given);
    if (x.dtype !== 'string') fail(this, `expects strings, got ${x.dtype}`);
    const known = knownTensor(x);
    if (known === null)
      throw new UnimplementedError(
        'a traced function knows strings only where they are its arguments or constants',
        this.name,
      );
    return known;
  }
  /** The texts of a tensor, one of each row. @throws UnimplementedError where only a run of a traced function knows them */
  #texts(given: TensorLike): string[][] {
    const known = this.#known(given);
    const texts = known.strings();
    if (this.split === null) {
      const width = known.rank < 2 ? 1 : texts.length / Math.max(1, known.shape[0]);
      return Array.from({ length: texts.length / Math.max(1, width) }, (_, i) =>
        texts.slice(i * width, (i + 1) * width).flatMap((text) => this.#split(text)),
      );
    }
    this.#textsOfRow(known);
    return texts.map((text) => this.#split(text));
  }

  /** How texts become tokens; null where functions of the program have a part in it. */
  get #tokenizing(): Tokenizing | null {
    const { standardize, split, ngrams } = this;
    if (typeof standardize === 'function' || typeof split === 'function') return null;
    return {
      lower: standardize === 'lowerAndStripPunctuation' || standardize === 'lower',
      punctuation: standardize === 'lowerAndStripPunctuation' || standardize === 'stripPunctuation',
      split,
      widths: typeof ngrams === 'number' ? upTo(ngrams) : ngrams,
    };
  }
  /** How many texts of a tensor are one row of tokens. */
  #textsOfRow(x: Tensor): number {
    if (this.split === null) return x.rank < 2 ? 1 : x.size / Math.max(1, x.shape[0] as number);
    if (x.rank > 2 || (x.rank === 2 && x.shape[1] !== 1))
      fail(this, `expects texts of shape [batch] or [batch, 1], got ${showShape(x.shape)}`);
    return 1;
  }
  /** The indices of the tokens of texts; null where it takes strings to find them. */
  #indicesByBytes(given: TensorLike): RowsOfIndices | null {
    const how = this.#tokenizing;
    const x = this.#known(given);
    const width = this.#textsOfRow(x);
    const own = how === null ? null : this.#lookup.byBytes;
    if (how === null || own === null) return null;
    const { index, start, mask } = own;
    // As there is one index of unknown tokens, that is the one before the first.
    const found = new TokenNumbers(index, x.size, mask - start);
    if (!tokenize(x, how, found)) return null;
    const ids = found.numbers.subarray(0, found.count);
    for (let i = 0; i < ids.length; i++) ids[i] = (ids[i] as number) + start;
    const rows = width === 0 ? 0 : x.size / width;
    return {
      ids,
      ends: Array.from({ length: rows }, (_, i) => found.ends[(i + 1) * width - 1] as number),
      mask,
    };
  }
  #raggedIndices({ ids, ends }: RowsOfIndices): Tensor {
    const most = this.outputSequenceLength ?? Number.POSITIVE_INFINITY;
    const sizes = ends.map((end, i) => Math.min(most, end - (ends[i - 1] ?? 0)));
    const data = new BigInt64Array(sizes.reduce((n, size) => n + size, 0));
    const words = new Int32Array(data.buffer);
    let to = 0;
    sizes.forEach((size, row) => {
      const from = row === 0 ? 0 : (ends[row - 1] as number);
      for (let i = 0; i < size; i++, to++) words[2 * to] = ids[from + i] as number;
    });
    const values = constant({ data, shape: [data.length], dtype: 'int64' });
    return RaggedTensor.fromRowLengths(values, constant(sizes, 'int32').cast('int64'), {
      validate: false,
    }) as unknown as Tensor;
  }
  /** Rows of indices of one length. */
  #padded({ ids, ends, mask }: RowsOfIndices): Tensor {
    const sizes = ends.map((end, i) => end - (ends[i - 1] ?? 0));
    const longest = sizes.reduce((n, size) => Math.max(n, size), 0);
    const length = this.outputMode === 'int' ? (this.outputSequenceLength ?? longest) : longest;
    const data = new BigInt64Array(ends.length * length);
    const words = new Int32Array(data.buffer);
    if (mask !== 0) words.fill(mask);
    sizes.forEach((size, row) => {
      const from = (ends[row] as number) - size;
      const to = 2 * row * length;
      for (let i = 0; i < Math.min(size, length); i++) {
        words[to + 2 * i] = ids[from + i] as number;
        words[to + 2 * i + 1] = (ids[from + i] as number) >> 31;
      }
    });
    return constant({ data, shape: [ends.length, length], dtype: 'int64' });
  }

  /** Finds the vocabulary of texts, the most frequent tokens first. */
  adapt(
    data:
      | AdaptData
      | {
          /** Texts: a tensor, or batches of them. */
          readonly data: AdaptData;
        },
  ): void;
  adapt(data: AdaptData): void {
    this.#lookup.resetState();
    this.#lookup.count([]);
    for (const batch of adaptBatches(this, data)) this.updateState(batch);
    this.#lookup.finalizeState();
  }
  /** Counts the tokens of one batch of texts: what `adapt` does for each. `finalizeState` makes the vocabulary of all of them. */
  updateState(
    data:
      | TensorLike
      | {
          /** A batch of texts. */
          readonly data: TensorLike;
        },
  ): void;
  updateState(data: TensorLike): void {
    const x = this.#known(data);
    const how = this.#tokenizing;
    if (how !== null) {
      const tally = new TokenTally(this.#textsOfRow(x));
      if (tokenize(x, how, tally)) {
        const { counts } = this.#lookup;
        counts.addDocuments(tally.documents);
        tally.forEach((token, count, documents) => counts.merge(token, count, documents));
        return;
      }
    }
    this.#lookup.count(this.#texts(x));
  }
  /** Forgets what `updateState` has counted; the vocabulary in use stays. */
  resetState(): void {
    this.#lookup.resetState();
  }
  /** Takes the most frequent tokens that `updateState` has counted as the vocabulary; nothing where it was not called. */
  finalizeState(): void {
    this.#lookup.finalizeState();
  }
  /** The tokens in the order of their indices, those for padding and unknown ones first. */
  getVocabulary(includeSpecialTokens?: boolean): string[];
  getVocabulary(options: {
    /** Whether those for padding and for unknown tokens are among them; true by default. */
    readonly includeSpecialTokens?: boolean;
  }): string[];
  getVocabulary(includeSpecialTokens: unknown = true): string[] {
    return this.#lookup.getVocabulary(includeSpecialTokens as boolean) as string[];
  }
  /** Takes other tokens, and, of `tfIdf`, their weights. */
  setVocabulary(
    vocabulary: readonly string[] | Tensor | string,
    idfWeights?: readonly number[] | Tensor | null,
  ): void;
  setVocabulary(options: {
    /** All tokens in order, or a file with one in each line. */
    readonly vocabulary: readonly string[] | Tensor | string;
    /** Of `tfIdf`: the weight of each token. */
    readonly idfWeights?: readonly number[] | Tensor | null;
  }): void;
  setVocabulary(vocabulary: unknown, idfWeights: unknown = null): void {
    this.#lookup.setVocabulary(vocabulary as string[], idfWeights as number[] | null);
  }
  /** @internal */
  override get innerSaveables(): Readonly<Record<string, Layer>> {
    return { _lookup_layer: this.#lookup };
  }
  /** Keeps the vocabulary that `adapt` or `setVocabulary` gave in a file. */
  override saveAssets(store: Record<string, Uint8Array | string>): void {
    this.#lookup.saveAssets(store);
  }
  /** Takes the vocabulary of such a file. */
  override loadAssets(store: Readonly<Record<string, Uint8Array>>): void {
    this.#lookup.loadAssets(store);
  }
  override saveOwnVariables(store: Record<string, TensorLike>): void {
    this.#lookup.saveOwnVariables(store);
  }
  override loadOwnVariables(store: Readonly<Record<string, TensorLike>>): void {
    this.#lookup.loadOwnVariables(store);
  }

  /** How many indices there are. */
  vocabularySize(): number {
    return this.#lookup.vocabularySize();
  }

  override call(inputs: Tensor): Tensor {
    checkOne(this, inputs.shape);
    if (tracesForFile() && knownTensor(inputs) === null) return this.#inOps(inputs);
    if (!this.#splits) return this.#whole(inputs);
    const single = toTensor(inputs).rank === 0;
    const found = this.#indicesByBytes(inputs);
    if (found !== null && this.ragged && !single) return this.#raggedIndices(found);
    if (found !== null) {
      const y = this.#lookup.encode(this.#padded(found));
      return single ? y.squeeze(0) : y;
    }
    const rows = this.#texts(inputs);
    const longest = rows.reduce((n, row) => Math.max(n, row.length), 0);
    const length = this.outputMode === 'int' ? (this.outputSequenceLength ?? longest) : longest;
    if (this.ragged && !single) return this.#raggedRows(rows);
    const padded = rows.flatMap((row) => Array.from({ length }, (_, i) => row[i] ?? ''));
    const ids = this.#lookup.indices(constant(padded, 'string', { shape: [rows.length, length] }));
    const y = this.#lookup.encode(ids);
    return single ? y.squeeze(0) : y;
  }
  /** The same in ops that TensorFlow has, for functions that are saved. */
  #inOps(inputs: Tensor): Tensor {
    if (inputs.dtype !== 'string') fail(this, `expects strings, got ${inputs.dtype}`);
    const texts = this.#standardInOps(inputs);
    if (!this.#splits) return this.#cut(this.#lookup.encode(this.#lookup.indices(texts)));
    const rows = this.#rowsInOps(texts);
    const ids = this.#lookup.indices(rows as unknown as Tensor) as unknown as RaggedTensor;
    const length = this.outputMode === 'int' ? this.outputSequenceLength : null;
    const single = texts.rank === 0;
    if (this.ragged && !single && length === null) return ids as unknown as Tensor;
    // What is behind the end counts nowhere.
    const defaultValue = this.outputMode === 'int' ? 0n : -1n;
    const shape = length === null ? {} : { shape: [null, length] };
    const padded = ids.toTensor({ defaultValue, ...shape });
    if (this.ragged && !single) {
      const lengths = (ids.rowLengths() as Tensor).minimum(BigInt(length as number) as never);
      return RaggedTensor.fromTensor(padded, { lengths }) as unknown as Tensor;
    }
    const y = this.#lookup.encode(padded);
    return single ? y.squeeze(0) : y;
  }
  #standardInOps(inputs: Tensor): Tensor {
    const { standardize } = this;
    if (typeof standardize === 'function') throw this.#noForm('standardize');
    if (standardize === null) return inputs;
    const texts = standardize === 'stripPunctuation' ? inputs : strings.lower(inputs);
    return standardize === 'lower' ? texts : strings.regexReplace(texts, PUNCTUATION, '');
  }
  /** A row of tokens for each text. */
  #rowsInOps(texts: Tensor): RaggedTensor {
    const { split, ngrams } = this;
    if (typeof split === 'function') throw this.#noForm('split');
    let rows: RaggedTensor;
    if (split === null) rows = RaggedTensor.fromTensor(texts.rank < 2 ? texts.reshape([-1, 1]) : texts);
    else {
      const column = texts.rank === 1 ? texts : texts.reshape([-1]);
      if (texts.rank > 2 || (texts.rank === 2 && dims(texts)[1] !== 1))
        fail(this, `expects texts of shape [batch] or [batch, 1], got ${showShape(texts.shape)}`);
      const parts = split === 'character' ? portableCharacters(column) : strings.split(column);
      rows = parts as RaggedTensor;
    }
    if (ngrams === null) return rows;
    return strings.ngrams(rows, typeof ngrams === 'number' ? upTo(ngrams) : ngrams) as RaggedTensor;
  }
  #noForm(what: string): UnimplementedError {
    return new UnimplementedError(
      `${what} is a function of this process, which a SavedModel cannot hold: use one of the names, or prepare the texts with tf.strings`,
      this.name,
    );
  }
  /** Each row as long as its text, or as the option says at most. */
  #raggedRows(rows: readonly (readonly string[])[]): Tensor {
    const kept = rows.map((row) => row.slice(0, this.outputSequenceLength ?? row.length));
    const tokens = constant(kept.flat(), 'string', { shape: [kept.reduce((n, row) => n + row.length, 0)] });
    const lengths = constant(
      kept.map((row) => row.length),
      'int32',
    );
    return RaggedTensor.fromRowLengths(
      this.#lookup.indices(tokens),
      lengths.cast('int64'),
    ) as unknown as Tensor;
  }
  /** Tokens that are not split: one for each string. */
  #whole(inputs: Tensor): Tensor {
    const tokens = this.#texts(inputs).flat();
    const x = constant(tokens, 'string', { shape: [...toTensor(inputs).shape] });
    return this.#cut(this.#lookup.encode(this.#lookup.indices(x)));
  }
  /** The last axis as long as the option says. */
  #cut(ids: Tensor): Tensor {
    const length = this.outputSequenceLength;
    if (length === null || ids.rank === 0) return ids;
    const kept = ids.at('...', `:${length}`);
    const missing = length - (kept.shape.at(-1) as number);
    return kept.pad(kept.shape.map((_, axis): [number, number] => [0, axis === kept.rank - 1 ? missing : 0]));
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    if (!this.#splits && this.outputSequenceLength === null)
      return this.#lookup.computeOutputShape(checkOne(this, inputShape));
    const batch = checkOne(this, inputShape).slice(0, 1);
    return this.outputMode === 'int'
      ? [...batch, this.outputSequenceLength]
      : this.#lookup.computeOutputShape([...batch, null]);
  }
  override computeOutputSpec({ list }: Specs): Specs {
    const dtype = this.outputMode === 'tfIdf' ? kerasDefaults.floatx : 'int64';
    const shape = this.computeOutputShape(list[0].shape);
    if (this.ragged && this.#splits)
      return { list: [{ shape: [...shape.slice(0, -1), null], dtype, kind: 'ragged' }], many: false };
    return { list: [{ shape, dtype, kind: this.sparse ? 'sparse' : undefined }], many: false };
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), vocabulary_size: this.vocabularySize() };
  }
}
defineMethods(TextVectorization.prototype, 'TextVectorization', {
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
ownsTemporaries(TextVectorization);

/** A word of Keras or of ours, a function, or null. */
const choice = <T>(words: Readonly<Record<string, string>>, otherwise: string): Option<T> => ({
  read: (given, name, layer) => {
    const value: unknown = given === undefined ? otherwise : (functionOf(given) ?? given);
    if (value === null || typeof value === 'function') return value as T;
    const found = Object.entries(words).find(([ours, keras]) => value === ours || value === keras);
    if (found === undefined)
      fail(
        layer as Layer,
        `needs ${name} to be ${Object.keys(words).map(show).join(', ')}, a function or null, got ${show(value)}`,
      );
    return (found as [string, string])[0] as T;
  },
  write: (value) =>
    typeof value === 'function' ? functionConfig(value) : value === null ? null : words[value as string],
});
takesOptions<TextVectorizationOptions, TextVectorization>(
  {
    positional: ['maxTokens'],
    required: 0,
    options: {
      maxTokens: limit(2),
      standardize: choice<Standardize>(
        {
          lowerAndStripPunctuation: 'lower_and_strip_punctuation',
          lower: 'lower',
          stripPunctuation: 'strip_punctuation',
        },
        'lowerAndStripPunctuation',
      ),
      split: choice<SplitText>({ whitespace: 'whitespace', character: 'character' }, 'whitespace'),
      ngrams: {
        read: (given: unknown, name: string, layer: object) => {
          if (given === undefined || given === null) return null;
          const list = Array.isArray(given) ? (given as unknown[]) : [given];
          if (!list.every((n) => Number.isSafeInteger(n) && (n as number) >= 1))
            fail(layer as Layer, `needs ${name} to be an integer of at least 1, or some, got ${show(given)}`);
          if (typeof given === 'number' && given > MOST_WIDTHS)
            fail(layer as Layer, `takes ${name} up to ${MOST_WIDTHS}, got ${given}`);
          return given as number | readonly number[];
        },
      },
      outputMode: modes<LookupMode>(['int', 'oneHot', 'multiHot', 'count', 'tfIdf'], 'int'),
      outputSequenceLength: orNull(placed(1)),
      padToMaxTokens: flag(false),
      vocabulary: {
        read: (given: unknown) => (Array.isArray(given) ? given : null) as readonly string[] | null,
      },
      idfWeights: {
        read: (given: unknown) => (Array.isArray(given) ? given : null) as readonly number[] | null,
      },
      encoding,
      ragged: flag(false),
      sparse: sparseFlag,
      ...layerOptions,
    },
  } as never,
  TextVectorization,
);
