/** The ops of TensorFlow that graphs may hold. */
import type { OpRow, OpTable } from '../op-row.ts';
import { array } from './array.ts';
import { control } from './control.ts';
import { elementwise } from './elementwise.ts';
import { examples } from './examples.ts';
import { gradients } from './gradients.ts';
import { image } from './image.ts';
import { linalg } from './linalg.ts';
import { lists } from './lists.ts';
import { nn } from './nn.ts';
import { random } from './random.ts';
import { reduce } from './reduce.ts';
import { signal } from './signal.ts';
import { strings } from './strings.ts';
import { tables } from './tables.ts';
import { variables } from './variables.ts';

const FAMILIES: readonly OpTable[] = [
  elementwise,
  array,
  reduce,
  linalg,
  signal,
  nn,
  gradients,
  image,
  random,
  control,
  lists,
  strings,
  examples,
  tables,
  variables,
];

let all: ReadonlyMap<string, OpRow> | undefined;

/** Every op that is translated, by its name. */
export function translatedOps(): ReadonlyMap<string, OpRow> {
  all ??= new Map(
    FAMILIES.flatMap((family) =>
      Object.entries(family).map(
        ([name, row]) => [name, typeof row === 'function' ? { run: row } : row] as const,
      ),
    ),
  );
  return all;
}
