// `for…of` over a dataset in a function that is traced and converted.
import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { atRunTime } from '@eagre/core/internal';
import type { TensorSpec } from '@eagre/graph';
import { type ElementSpec, flattenSpec, isStatic, mapSpec, showSpec } from '../elements/element-spec.ts';
import { type Element, tensorsOf } from '../elements/structure.ts';
import { DatasetIterator } from './dataset-iterator.ts';
import type { DatasetNode } from './iterator.ts';
import { INFINITE_CARDINALITY } from './options.ts';

// Each turn stands in the graph by itself.
const MAX_TURNS = 1000;

/**
 * The elements of a dataset as values that are known at each run of a traced function only: every run is a new pass.
 * @throws FailedPreconditionError where a graph cannot have them: their number or their shapes are not known, or they are too many.
 */
export function* tracedElements(node: DatasetNode, site: string): Generator<Element, void, undefined> {
  const refuse = (why: string): never => {
    throw new FailedPreconditionError(
      `${site}: a loop over this dataset cannot be part of a graph, ${why}. Iterate outside the function and pass it the elements`,
      'Dataset',
    );
  };
  const { spec } = node;
  const turns = node.cardinality();
  if (turns < 0)
    refuse(
      turns === INFINITE_CARDINALITY
        ? 'it has no end'
        : 'its number of elements is not known (assertCardinality says it)',
    );
  if (turns > MAX_TURNS) refuse(`its ${turns} turns are more than ${MAX_TURNS}`);
  if (!isStatic(spec))
    refuse(
      `its elements are ${showSpec(spec)}, without known shapes (batch with dropRemainder: true has them)`,
    );
  const outputs = (flattenSpec(spec as ElementSpec) as TensorSpec[]).map(({ dtype, shape }) => ({
    dtype,
    shape: shape as readonly number[],
  }));
  let pass: DatasetIterator<Element> | null = null;
  for (let turn = 0; turn < turns; turn++) {
    const next = (): Tensor[] => {
      if (turn === 0) {
        pass?.close();
        pass = new DatasetIterator<Element>(node);
      }
      const { done, value } = (pass as DatasetIterator<Element>).next();
      if (done === true)
        throw new InvalidArgumentError(`the dataset ended after ${turn} of ${turns} elements`, 'Dataset');
      if (turn === turns - 1) {
        pass?.close();
        pass = null;
      }
      return tensorsOf(value, 'Dataset');
    };
    const tensors = atRunTime('IteratorGetNext', next, [], outputs);
    yield mapSpec(spec as ElementSpec, (_, i) => tensors[i]) as Element;
  }
}
