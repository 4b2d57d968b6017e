import { InvalidArgumentError } from '@eagre/backend';
import { Tensor } from '../tensor/tensor.ts';
import { shown } from './checks.ts';
import { isPlain } from './plain.ts';

/** Every name of an options type. */
export type OptionNames<O> = Readonly<Record<keyof Required<O>, true>>;

/** Whether a value may be options: an object of a class without fields, such as a map, holds none. */
export function mayHold(options: unknown): options is object {
  if (typeof options !== 'object' || options === null) return false;
  if (isPlain(options)) return true;
  if (Array.isArray(options) || options instanceof Tensor || ArrayBuffer.isView(options)) return false;
  return Object.keys(options).length > 0;
}

/** How many letters or items must be inserted, removed or replaced to make one sequence of the other (Levenshtein, 1966). */
export function editDistance<T>(a: ArrayLike<T>, b: ArrayLike<T>): number {
  const row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    let diagonal = row[0];
    row[0] = i;
    for (let j = 1; j <= b.length; j++) {
      const replaced = diagonal + (a[i - 1] === b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = Math.min(replaced, diagonal + 1, row[j - 1] + 1);
    }
  }
  return row[b.length];
}

/** The known name that was probably meant: Python's spelling of one, or one with few other letters. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const letters = (text: string): string => text.replace(/[_\s-]/g, '').toLowerCase();
  const given = letters(name);
  let best: string | undefined;
  let least = Math.max(1, Math.floor(given.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(given, letters(candidate));
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** At the end of a message, which of some names was probably meant; nothing where none is near. */
export function nearestHint(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === undefined ? '' : `; did you mean '${near}'?`;
}

/** Names of older versions of Keras, and what stands for them. */
const OLD: Readonly<Record<string, readonly [name: string, written: string]>> = {
  inputDim: ['inputShape', 'inputShape: [inputDim]'],
  batchInputShape: ['inputShape', 'inputShape, without the batch'],
  lr: ['learningRate', 'learningRate'],
};

/** What to say of a name that is none of the known ones: those, and which of them was probably meant. */
export function unknownName(name: string, known: readonly string[], kind = 'option'): string {
  const old = OLD[name];
  const hint = old !== undefined && known.includes(old[0]) ? `; write ${old[1]}` : nearestHint(name, known);
  if (kind !== 'option') return `unknown ${kind} '${name}'; known: ${known.join(', ')}${hint}`;
  const list = known.length === 0 ? 'there are none' : `the options are ${known.join(', ')}`;
  return `'${name}' is not an option; ${list}${hint}`;
}

/** @throws InvalidArgumentError for what is no plain object, and for names that nobody would read. */
export function checkOptionNames<O extends object>(options: O, known: OptionNames<O>, what: string): void {
  if (!mayHold(options)) {
    throw new InvalidArgumentError(
      `expected options, such as { ${Object.keys(known).slice(0, 2).join(', ')} }, got ${shown(options)}`,
      what,
    );
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(known, name))
      throw new InvalidArgumentError(unknownName(name, Object.keys(known)), what);
  }
}
