// `tf.io.parseSequenceExample` and `tf.io.parseSingleSequenceExample`.
import { InvalidArgumentError } from '@eagre/backend';
import { constant, type NamedFunction, type RaggedTensor, type SparseTensor, type Tensor } from '@eagre/core';
import { defineFunction, kind, shown, sizeOf } from '@eagre/core/internal';
import { decodeSequenceExample, type FeatureValue, type SequenceExampleValue } from '@eagre/formats';
import type { Ragged } from '../transformations/ragged-batch.ts';
import {
  checkFeatures,
  type FeatureSpecs,
  FixedLenFeature,
  FixedLenSequenceFeature,
  SparseFeature,
  type VarLenFeature,
} from './features.ts';
import {
  converted,
  each,
  messagesOf,
  padded,
  padding,
  partsOf,
  raggedOf,
  readMessage,
  type Serialized,
  shapeOf,
  sparseOf,
  tensor,
  type Values,
  valuesOf,
} from './parse-example.ts';
import { RaggedFeature, rowsOf } from './ragged-feature.ts';

/** What to read of sequence examples. */
export interface SequenceFeatures {
  /** Of the contexts: as in `parseExample`. */
  readonly contextFeatures?: FeatureSpecs | null;
  /** Of the sequences: FixedLenSequenceFeature for values of one shape in each step, VarLenFeature and RaggedFeature for others. */
  readonly sequenceFeatures?: FeatureSpecs | null;
}

type Parsed = Record<string, Tensor | RaggedTensor | SparseTensor>;
type Sequences = Readonly<Record<string, FixedLenSequenceFeature | VarLenFeature | RaggedFeature>>;

function specsOf(
  { contextFeatures, sequenceFeatures }: SequenceFeatures,
  what: string,
): [FeatureSpecs, Sequences] {
  const [context, sequences] = [contextFeatures ?? {}, sequenceFeatures ?? {}];
  checkFeatures(context, what);
  checkFeatures(sequences, what);
  if (Object.keys(context).length + Object.keys(sequences).length === 0)
    throw new InvalidArgumentError('give contextFeatures, sequenceFeatures, or both', what);
  for (const [name, spec] of Object.entries(sequences))
    if (spec instanceof FixedLenFeature || spec instanceof SparseFeature)
      throw new InvalidArgumentError(
        `sequenceFeatures.${name} must be a FixedLenSequenceFeature, a VarLenFeature or a RaggedFeature, got ${shown(spec)}`,
        what,
      );
  return [context, sequences as Sequences];
}

/** The values of each step of a feature. @throws InvalidArgumentError where it is missing, or has other values */
function stepsOf(
  { featureLists }: SequenceExampleValue,
  name: string,
  spec: Sequences[string],
  index: number,
  what: string,
): readonly Values[] {
  const key = (spec instanceof RaggedFeature ? spec.valueKey : undefined) ?? name;
  const steps = featureLists.get(key);
  const fail = (fault: string): InvalidArgumentError =>
    new InvalidArgumentError(`example ${index}: the feature list '${key}' ${fault}`, what);
  if (steps === undefined) {
    if (spec instanceof FixedLenSequenceFeature && !spec.allowMissing)
      throw fail('is missing; set allowMissing if that is allowed');
    return [];
  }
  return steps.map((value: FeatureValue, step) => {
    const values = value === null ? [] : converted(value, spec.dtype, fail);
    if (spec instanceof FixedLenSequenceFeature && values.length !== sizeOf(spec.shape))
      throw fail(
        `has ${values.length} values in step ${step} where the shape [${spec.shape}] has ${sizeOf(spec.shape)}`,
      );
    return values;
  });
}

const longest = (rows: readonly Values[]): number =>
  rows.reduce((most, row) => Math.max(most, row.length), 0);

/**
 * The features of one serialized `tf.train.SequenceExample`: `[context, sequences]`. Each sequence has a first axis of steps: [steps, ...shape],
 * [steps, (values)] for a RaggedFeature, and [steps, values] padded with its `defaultValue` for a VarLenFeature.
 * @throws InvalidArgumentError for features that are missing, or of another dtype or number of values; DataLossError for other bytes
 */
export const parseSingleSequenceExample: NamedFunction<
  [serialized: Serialized, contextFeatures?: FeatureSpecs | null, sequenceFeatures?: FeatureSpecs | null],
  ['serialized', 'contextFeatures', 'sequenceFeatures'],
  unknown,
  [context: Parsed, sequences: Parsed]
> = /* @__PURE__ */ defineFunction(
  'io.parseSingleSequenceExample',
  { serialized: true, contextFeatures: kind.structure, sequenceFeatures: kind.structure },
  {},
  (serialized, contextFeatures = null, sequenceFeatures = null) => {
    const what = 'parseSingleSequenceExample';
    const [contexts, sequences] = specsOf({ contextFeatures, sequenceFeatures }, what);
    const example = readMessage(serialized, 0, what, decodeSequenceExample);
    const context = each<Tensor | RaggedTensor | SparseTensor>(contexts, (name, spec) => {
      if (spec instanceof SparseFeature) return sparseOf([example.context], name, spec, false, what);
      const values = valuesOf(example.context, name, spec, 0, what);
      if (spec instanceof RaggedFeature) return partsOf([values], spec, [example.context], name, what).values;
      return tensor(values, spec.dtype, shapeOf(spec, values.length));
    });
    const found = each<Tensor | RaggedTensor>(sequences, (name, given) => {
      const spec = given as Sequences[string];
      const steps = stepsOf(example, name, spec, 0, what);
      if (spec instanceof RaggedFeature)
        return raggedOf(steps, spec, sourcesOf(example, steps.length, spec, name, 0, what), name, what);
      const shape = spec instanceof FixedLenSequenceFeature ? spec.shape : [longest(steps)];
      return tensor(padded(steps, sizeOf(shape), padding(spec)), spec.dtype, [steps.length, ...shape]);
    });
    return [context, found];
  },
);

/**
 * {@link parseSingleSequenceExample} of several examples: `[context, sequences, lengths]`, with the number of steps of each sequence. Sequences
 * have a first axis of examples, and are padded to the most steps.
 */
export const parseSequenceExample: NamedFunction<
  [
    serialized: readonly Serialized[] | Tensor | Ragged,
    contextFeatures?: FeatureSpecs | null,
    sequenceFeatures?: FeatureSpecs | null,
  ],
  ['serialized', 'contextFeatures', 'sequenceFeatures'],
  unknown,
  [context: Parsed, sequences: Parsed, lengths: Record<string, Tensor>]
> = /* @__PURE__ */ defineFunction(
  'io.parseSequenceExample',
  { serialized: kind.structure, contextFeatures: kind.structure, sequenceFeatures: kind.structure },
  {},
  (serialized, contextFeatures = null, sequenceFeatures = null) => {
    const what = 'parseSequenceExample';
    const [contexts, sequences] = specsOf({ contextFeatures, sequenceFeatures }, what);
    const examples = messagesOf(serialized, what).map((bytes, i) =>
      readMessage(bytes, i, what, decodeSequenceExample),
    );
    const context = each<Tensor | RaggedTensor | SparseTensor>(contexts, (name, spec) => {
      if (spec instanceof SparseFeature) {
        const all = examples.map((example) => example.context);
        return sparseOf(all, name, spec, true, what);
      }
      const rows = examples.map((example, i) => valuesOf(example.context, name, spec, i, what));
      if (spec instanceof RaggedFeature)
        return raggedOf(
          rows,
          spec,
          examples.map((example) => example.context),
          name,
          what,
        );
      const size = longest(rows);
      return tensor(padded(rows, size, padding(spec)), spec.dtype, [rows.length, ...shapeOf(spec, size)]);
    });
    const all = Object.entries(sequences).map(([name, spec]) => ({
      name,
      spec,
      steps: examples.map((example, i) => stepsOf(example, name, spec, i, what)),
    }));
    const found = Object.fromEntries(
      all.map(({ name, spec, steps }) => [name, batchOf(steps, spec, examples, name, what)]),
    );
    const lengths = Object.fromEntries(
      all.map(({ name, steps }) => [
        name,
        constant({
          data: BigInt64Array.from(steps, (own) => BigInt(own.length)),
          shape: [steps.length],
          dtype: 'int64',
        }),
      ]),
    );
    return [context, found, lengths];
  },
);

/** The features of each step by which a feature is partitioned. @throws InvalidArgumentError where they have other steps */
function sourcesOf(
  { featureLists }: SequenceExampleValue,
  count: number,
  { partitions }: RaggedFeature,
  name: string,
  index: number,
  what: string,
): ReadonlyMap<string, FeatureValue>[] {
  const keys = partitions.flatMap((partition) => ('key' in partition ? [partition.key] : []));
  for (const key of keys) {
    const own = featureLists.get(key)?.length ?? 0;
    if (own !== count)
      throw new InvalidArgumentError(
        `example ${index}: the feature list '${name}' has ${count} steps, and '${key}', by which it is partitioned, ${own}`,
        what,
      );
  }
  return Array.from(
    { length: count },
    (_, step) => new Map(keys.map((key) => [key, featureLists.get(key)?.[step] ?? null])),
  );
}

function batchOf(
  examples: readonly (readonly Values[])[],
  spec: Sequences[string],
  sequences: readonly SequenceExampleValue[],
  name: string,
  what: string,
): Tensor | RaggedTensor {
  if (spec instanceof RaggedFeature) {
    const sources = sequences.flatMap((sequence, i) =>
      sourcesOf(sequence, (examples[i] as readonly Values[]).length, spec, name, i, what),
    );
    const steps = examples.map((own) => own.length);
    return rowsOf(raggedOf(examples.flat(), spec, sources, name, what), steps, spec.rowSplitsDtype);
  }
  const most = examples.reduce((n, own) => Math.max(n, own.length), 0);
  const shape = spec instanceof FixedLenSequenceFeature ? spec.shape : [longest(examples.flat())];
  const rows = examples.flatMap((own) => [...own, ...new Array<Values>(most - own.length).fill([])]);
  return tensor(padded(rows, sizeOf(shape), padding(spec)), spec.dtype, [examples.length, most, ...shape]);
}
