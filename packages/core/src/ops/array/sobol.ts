// Points of the Sobol sequence, as TensorFlow numbers them.
import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { addDims, type Dim, isExpression } from '../../shapes/dim.ts';
import { atMost } from '../../shapes/shape-env.ts';
import { checkSize, sizeValue } from '../../shapes/sizes.ts';
import { toTensor } from '../../tensor/convert.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { zeros } from './creation.ts';
import { iota } from './iota.ts';
import { packedNumbers, polynomialCounts } from './sobol-numbers.ts';

const DIGITS = 31;
const MAX_INT32 = 2 ** 31 - 1;
const MAX_DIM = 21200;
const sum = (counts: readonly number[]): number => counts.reduce((all, n) => all + n, 0);

/** Options of `sobolSample`. */
export interface SobolOptions {
  /** float32 by default. */
  readonly dtype?: 'float32' | 'float64';
}

/** Numbers of some bits each, one after the other. */
function bitsOf(base64: string): (count: number) => number {
  const bytes = atob(base64);
  let at = 0;
  return (count) => {
    let value = 0;
    for (let i = 0; i < count; i++, at++)
      value = 2 * value + ((bytes.charCodeAt(at >> 3) >> (7 - (at & 7))) & 1);
    return value;
  };
}

/** How many dimensions have a polynomial of degree 1, 2, …, and their numbers, packed. */
interface Table {
  readonly counts: readonly number[];
  readonly numbers: string;
}
const PLACE = Symbol.for('eagre.sobolNumbers');
const holder = globalThis as { [PLACE]?: Table };

/**
 * The numbers of the dimensions behind those of `sobol-numbers.ts`. They are in a file of the package, which is read here where there are files;
 * elsewhere the program has imported it, which puts them at this place.
 * @throws FailedPreconditionError where neither is so
 */
function otherNumbers(dim: number): Table {
  try {
    holder[PLACE] ??= read();
    return holder[PLACE];
  } catch (cause) {
    throw new FailedPreconditionError(
      `dim is ${dim}: the direction numbers of more than ${1 + sum(polynomialCounts)} dimensions are in a module of their own, which is not found here; ` +
        "write import 'eagre/sobol-numbers' (or '@eagre/core/sobol-numbers') in the program",
      'SobolSample',
      { cause },
    );
  }
}
function read(): Table {
  const { getBuiltinModule } = globalThis.process;
  const file = getBuiltinModule('node:module')
    .createRequire(import.meta.url)
    .resolve('@eagre/core/sobol-numbers');
  const text = getBuiltinModule('node:fs').readFileSync(file, 'utf8');
  return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as Table;
}

/** What each digit of a point's number contributes to a coordinate, in units of 2⁻³¹: one list of `dim` numbers a digit. */
function directionNumbers(dim: number): Int32Array<ArrayBuffer>[] {
  const columns = Array.from({ length: DIGITS }, (_, k) => new Int32Array(dim).fill(2 ** (DIGITS - 1 - k)));
  const tables: Table[] = [{ counts: polynomialCounts, numbers: packedNumbers }];
  if (dim > 1 + sum(polynomialCounts)) tables.push(otherNumbers(dim));
  // The first dimension has no polynomial: all its numbers are 1.
  let j = 1;
  for (const { counts, numbers: packed } of tables) {
    const bits = bitsOf(packed);
    for (const [i, count] of counts.entries())
      for (const end = Math.min(j + count, dim); j < end; j++) {
        const numbers = numbersOf(i + 1, bits);
        for (let k = 0; k < DIGITS; k++) columns[k][j] = numbers[k] * 2 ** (DIGITS - 1 - k);
      }
  }
  return columns;
}

/** The numbers m of one dimension: the first ones as they are stored, the others by the recurrence of its polynomial. */
function numbersOf(degree: number, bits: (count: number) => number): number[] {
  const inner = bits(degree - 1);
  const m = [1];
  for (let i = 1; i < degree; i++) m.push(2 * bits(i) + 1);
  for (let k = degree; k < DIGITS; k++) {
    let next = m[k - degree] ^ (m[k - degree] << degree);
    for (let i = 1; i < degree; i++) if ((inner >> (degree - 1 - i)) & 1) next ^= m[k - i] << i;
    m.push(next);
  }
  return m;
}

function check(dim: number, numResults: Dim, skip: Dim, dtype: unknown): void {
  checkSize(dim, 'dim', 'SobolSample', 1);
  checkSize(numResults, 'numResults', 'SobolSample', 1);
  checkSize(skip, 'skip', 'SobolSample');
  if (dim > MAX_DIM)
    throw new InvalidArgumentError(`dim is ${dim}, expected at most ${MAX_DIM}`, 'SobolSample');
  if (!atMost(addDims(numResults, skip), MAX_INT32 - 1))
    throw new InvalidArgumentError(
      `numResults + skip is ${addDims(numResults, skip)}, expected less than ${MAX_INT32}`,
      'SobolSample',
    );
  if (dtype !== 'float32' && dtype !== 'float64')
    throw new InvalidArgumentError(`dtype is ${dtype}, expected float32 or float64`, 'SobolSample');
}

/**
 * Points of the Sobol sequence in the unit cube, [numResults, dim]: they fill it more evenly than random ones. The origin, which begins the
 * sequence, is left out. `skip` leaves out as many points more: the next points of a sequence are those that skip the ones before.
 * The direction numbers are those of Joe and Kuo (new-joe-kuo-6). Those of more than 1111 dimensions are a file of their own, which pages
 * import: `import 'eagre/sobol-numbers'`.
 * @throws InvalidArgumentError unless dim is between 1 and 21200, numResults at least 1, skip at least 0, and numResults + skip less than 2³¹ − 1
 * @throws FailedPreconditionError for a dim above 1111 where that file is not found
 */
export const sobolSample: NamedFunction<
  [dim: IntegerLike, numResults: IntegerLike, skip?: IntegerLike],
  ['dim', 'numResults', 'skip'],
  SobolOptions
> = /* @__PURE__ */ defineFunction(
  'math.sobolSample',
  { dim: kind.integer, numResults: kind.size, skip: kind.size },
  { dtype: kind.asIs },
  (dim: number, numResults: number, skip: number = 0, { dtype = 'float32' }) => {
    check(dim, numResults, skip, dtype);
    const index = iota(numResults).add(sizeValue(addDims(skip, 1), 'int32'));
    const gray = index.bitwiseXor(index.bitwiseRightShift(1)).expandDims(1);
    const last = addDims(numResults, skip);
    // Digits that no point has are not computed.
    const digits = isExpression(last) ? DIGITS : 32 - Math.clz32(last);
    let state: Tensor = zeros([1, dim], { dtype: 'int32' });
    for (const [k, column] of directionNumbers(dim).slice(0, digits).entries()) {
      const bit = gray.bitwiseRightShift(k).bitwiseAnd(1);
      state = state.bitwiseXor(bit.mul(toTensor({ data: column, shape: [1, dim] })));
    }
    return state.cast(dtype).mul(2 ** -DIGITS);
  },
);
