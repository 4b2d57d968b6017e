// Where processes divide a pipeline by its files.
import { InvalidArgumentError } from '@eagre/backend';
import type { DatasetNode, IterationContext } from '../pipeline/iterator.ts';
import { partOfNode } from './part.ts';

/** The part of a node's input that this process reads: all of it where the node's files are not divided. */
export function dividedInput(node: DatasetNode, input: DatasetNode, context: IterationContext): DatasetNode {
  const { sharding } = context;
  if (sharding === null || !sharding.files.has(node)) return input;
  const files = input.cardinality();
  if (files >= 0 && files < sharding.count)
    throw new InvalidArgumentError(
      `there are ${files} files for ${sharding.count} processes, which cannot each read some of them: set the option { experimentalDistribute: { autoShardPolicy: 'DATA' } }`,
      'experimentalDistributeDataset',
    );
  // One for all rounds of a pass, so that each is shuffled in another order.
  return context.shared(node, () => partOfNode(input, sharding));
}
