// Checks of values: at once where they are known, else at each run of the function that is being traced.
import { constant } from '../tensor/constant.ts';
import { numbersOf } from '../tensor/integer-scan.ts';
import { type Tensor, viewOf } from '../tensor/tensor.ts';
import { context } from './context.ts';
import { atRunTime, type PortableForm } from './host.ts';
import { portable } from './portable.ts';
import { knownTensor } from './symbolic.ts';

/** The integers of a tensor with values. */
export function integersOf(t: Tensor): number[] {
  return numbersOf(viewOf(t));
}

/**
 * An assertion in files: TensorFlow's, where ops say what has to hold; else none.
 * @param data what its error shows
 */
export function assertion(
  op: string,
  holds: ((...inputs: Tensor[]) => Tensor) | undefined,
  data: (...inputs: Tensor[]) => readonly Tensor[] = () => [constant(`${op}: values do not fit`)],
): PortableForm {
  const written = (...inputs: readonly Tensor[]): readonly Tensor[] => {
    if (holds === undefined) return [];
    const shown = data(...inputs);
    return portable({
      op: 'Assert',
      inputs: [holds(...inputs), ...shown],
      attrs: { T: { kind: 'types', value: shown.map(({ dtype }) => dtype) } },
      ordered: true,
      outputs: () => [],
    });
  };
  return Object.assign(written, { isCheck: true as const });
}

/**
 * Looks at values, eagerly and in traces alike.
 * @param check throws unless they fit; it gets `inputs` with values, and must not keep them.
 * @param holds the same in ops, a bool scalar: a SavedModel then asserts it as TensorFlow does. Other files, and without it SavedModels
 * too, leave the check out.
 */
export function checkValues(
  op: string,
  inputs: readonly Tensor[],
  check: (...inputs: Tensor[]) => void,
  holds?: (...inputs: Tensor[]) => Tensor,
): void {
  const known = inputs.map(knownTensor);
  if (known.every((t) => t !== null)) check(...(known as Tensor[]));
  // Without a trace, code of the library runs for its shapes alone.
  else if (context.tracer !== null) atRunTime(op, check, inputs, [], false, assertion(op, holds));
}
