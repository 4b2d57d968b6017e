/** The ops of TensorFlow that graphs may hold. */
import type { OpRow, OpTable } from '../op-row.ts';
import { array } from './array.ts';
import { audio } from './audio.ts';
import { boxes } from './boxes.ts';
import { cells } from './cells.ts';
import { control } from './control.ts';
import { ctc } from './ctc.ts';
import { elementwise } from './elementwise.ts';
import { encoded } from './encoded.ts';
import { examples } from './examples.ts';
import { gradients } from './gradients.ts';
import { image } from './image.ts';
import { linalg } from './linalg.ts';
import { lists } from './lists.ts';
import { nn } from './nn.ts';
import { quantization } from './quantization.ts';
import { queues } from './queues.ts';
import { ragged } from './ragged.ts';
import { random } from './random.ts';
import { reduce } from './reduce.ts';
import { signal } from './signal.ts';
import { sparse } from './sparse.ts';
import { specialFunctions } from './special.ts';
import { strings } from './strings.ts';
import { tables } from './tables.ts';
import { updates } from './updates.ts';
import { variables } from './variables.ts';
import { variants } from './variants.ts';

const FAMILIES: readonly OpTable[] = [
  elementwise,
  specialFunctions,
  array,
  reduce,
  linalg,
  signal,
  audio,
  nn,
  cells,
  ctc,
  gradients,
  image,
  boxes,
  quantization,
  random,
  control,
  lists,
  strings,
  encoded,
  ragged,
  sparse,
  examples,
  tables,
  queues,
  variables,
  updates,
  variants,
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
