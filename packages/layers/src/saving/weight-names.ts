// Which tensors of a file a weight is made of: tables of names with placeholders for numbers.
import { InvalidArgumentError, type Tensor } from '@eagre/core';
import { isPlain, shown } from '@eagre/core/internal';

/** Where a weight comes from: a tensor of the file, or what `convert` makes of one or several. */
export type WeightSource =
  | string
  | {
      /** The name of the tensor, or the names of several. */
      readonly from: string | readonly string[];
      /**
       * Makes the weight, of its shape and dtype, from the tensors: `(w) => w.transpose()`. Floats come in the dtype of the weight. It also runs
       * on zeros, before anything is read.
       */
      readonly convert?: (...tensors: Tensor[]) => Tensor;
    };

/**
 * The tensors of a file by the names of the weights that they become. `{i}`, or another word in braces, stands for a whole number, the same on
 * both sides: `'block_{i}/norm/gamma': 'h.{i}.ln_1.weight'`. A function gets the name of each weight, and gives null for one that has no tensor.
 */
export type WeightNames =
  | Readonly<Record<string, WeightSource>>
  | ((weight: string) => WeightSource | null | undefined);

/** A source with a name in place of each placeholder. */
export interface ResolvedSource {
  readonly from: readonly string[];
  readonly convert: ((...tensors: Tensor[]) => Tensor) | undefined;
}

const PLACEHOLDER = /\{([A-Za-z_]\w*)\}/g;

/**
 * The sources of weights, by their names; without an entry for weights that have none.
 * @throws InvalidArgumentError for an entry of the table that fits no weight, and for a weight that two entries fit.
 */
export function resolveWeightNames(
  names: WeightNames | null,
  weights: readonly string[],
  op: string,
): Map<string, ResolvedSource> {
  const found = new Map<string, ResolvedSource>();
  if (names === null) {
    for (const weight of weights) found.set(weight, { from: [weight], convert: undefined });
  } else if (typeof names === 'function') {
    for (const weight of weights) {
      const source = names(weight) ?? null;
      if (source !== null) found.set(weight, resolved(source, weight, {}, op));
    }
  } else if (isPlain(names)) {
    fromTable(names, weights, found, op);
  } else {
    throw new InvalidArgumentError(
      `names must be an object or a function from names of weights to names of tensors, got ${shown(names)}`,
      op,
    );
  }
  return found;
}

function fromTable(
  table: Readonly<Record<string, WeightSource>>,
  weights: readonly string[],
  found: Map<string, ResolvedSource>,
  op: string,
): void {
  const by = new Map<string, string>();
  for (const [pattern, source] of Object.entries(table)) {
    const fits = matcher(pattern);
    let isUsed = false;
    for (const weight of weights) {
      const numbers = fits(weight);
      if (numbers === undefined) continue;
      isUsed = true;
      const other = by.get(weight);
      // A name that is written out goes before patterns.
      if (other !== undefined && other !== weight && pattern !== weight)
        throw new InvalidArgumentError(
          `the weight ${weight} fits both '${other}' and '${pattern}' of names`,
          op,
        );
      if (other === weight) continue;
      by.set(weight, pattern);
      found.set(weight, resolved(source, pattern, numbers, op));
    }
    if (!isUsed)
      throw new InvalidArgumentError(
        `'${pattern}' of names is the name of no weight; the model has ${listed(weights)}`,
        op,
      );
  }
}

/** Whether a name fits a pattern: the numbers in the place of its placeholders. */
export function matcher(pattern: string): (name: string) => Readonly<Record<string, string>> | undefined {
  const words: string[] = [];
  const text = pattern
    .split(PLACEHOLDER)
    .map((part, i) => {
      if (i % 2 === 0) return part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
      // The same word again is the same number.
      if (words.includes(part)) return `\\k<${part}>`;
      words.push(part);
      return `(?<${part}>\\d+)`;
    })
    .join('');
  const expression = new RegExp(`^${text}$`);
  return (name) => {
    const match = expression.exec(name);
    return match === null ? undefined : (match.groups ?? {});
  };
}

function resolved(
  source: WeightSource,
  pattern: string,
  numbers: Readonly<Record<string, string>>,
  op: string,
): ResolvedSource {
  const given: Exclude<WeightSource, string> = typeof source === 'string' ? { from: source } : source;
  const { from, convert, ...others } = isPlain(given) ? (given as typeof given) : { from: undefined };
  const list = Array.isArray(from) ? (from as readonly unknown[]) : [from];
  const isRight =
    list.length > 0 &&
    list.every((name) => typeof name === 'string') &&
    (convert === undefined || typeof convert === 'function') &&
    Object.keys(others).length === 0;
  if (!isRight)
    throw new InvalidArgumentError(
      `'${pattern}' of names must have the name of a tensor, or { from, convert }, got ${shown(source)}`,
      op,
    );
  const fill = (name: string): string =>
    name.replace(PLACEHOLDER, (_, word: string) => {
      const number = numbers[word];
      if (number === undefined)
        throw new InvalidArgumentError(`'${name}' has {${word}}, which '${pattern}' lacks`, op);
      return number;
    });
  return { from: (list as readonly string[]).map(fill), convert };
}

/** Some of the names, for a message. */
export function listed(names: readonly string[], most = 8): string {
  if (names.length === 0) return 'none';
  const more = names.length > most ? `, and ${names.length - most} more` : '';
  return `${names.slice(0, most).join(', ')}${more}`;
}
