// How processes of a distribution strategy divide a dataset: `AutoShardPolicy`.
import { NotFoundError } from '@eagre/backend';
import { TensorSpec } from '@eagre/graph';
import type { AutoShardPolicy } from '../pipeline/auto-shard-policy.ts';
import {
  type DatasetNode,
  type ElementIterator,
  END,
  IterationContext,
  type Shard,
  type Sharding,
} from '../pipeline/iterator.ts';
import { optionsOf, UnaryNode } from '../pipeline/node.ts';
import { UNKNOWN_CARDINALITY } from '../pipeline/options.ts';
import { preparing } from '../pipeline/preparing.ts';
import { FilesNode } from '../readers/files-node.ts';
import { BatchNode, RebatchNode } from './batch.ts';
import { InterleaveNode } from './flat-map.ts';
import { ListBatchNode } from './list-batch.ts';
import { ZipNode } from './zip.ts';

/** A pipeline of which each process reads a part. */
class AutoShardNode extends UnaryNode {
  readonly kind = 'AutoShard';
  readonly #sharding: Sharding;

  constructor(input: DatasetNode, sharding: Sharding) {
    super(input);
    this.#sharding = sharding;
  }

  override cardinality(): number {
    const n = this.input.cardinality();
    return n < 0 || this.#sharding.count === 1 ? n : UNKNOWN_CARDINALITY;
  }

  iterate(context: IterationContext): ElementIterator {
    return this.input.iterate(context.divided(this.#sharding));
  }
}

/** The policy of a pipeline. */
function autoShardPolicy(node: DatasetNode): AutoShardPolicy {
  return optionsOf(node).experimentalDistribute?.autoShardPolicy ?? 'AUTO';
}

/**
 * What one of several processes reads of batches for all of them, by the pipeline's policy.
 * @returns null where each process reads all, and takes its part of every batch (`DATA`)
 * @throws NotFoundError for the policy `FILE` where no files are read
 */
export function autoShard(node: DatasetNode, shard: Shard): DatasetNode | null {
  const policy = autoShardPolicy(node);
  const none: ReadonlySet<DatasetNode> = new Set();
  if (policy === 'DATA') return null;
  if (policy === 'OFF') return node;
  if (policy === 'HINT') return new AutoShardNode(node, { ...shard, files: none, hints: true });
  if (shard.count === 1) return policy === 'FILE' ? node : null;
  const files = fileNodes(node);
  if (files !== null) return new AutoShardNode(node, { ...shard, files: new Set(files), hints: false });
  if (policy === 'AUTO') return null;
  throw new NotFoundError(
    "the dataset reads no files that processes could divide: use the policy 'DATA' or 'AUTO'",
    'experimentalDistributeDataset',
  );
}

/** The nodes that read files by the names that their inputs give; null where elements come from elsewhere, too. */
function fileNodes(node: DatasetNode): readonly DatasetNode[] | null {
  if (node instanceof FilesNode) return [node];
  if (node instanceof InterleaveNode && makesFiles(node)) return [node];
  if (node.inputs.length === 0) return null;
  const found = node.inputs.map(fileNodes);
  return found.some((nodes) => nodes === null) ? null : found.flatMap((nodes) => nodes ?? []);
}

/** Whether the function of `interleave` opens the file that an element names; it is tried on the first one. */
function makesFiles(node: InterleaveNode): boolean {
  const { spec } = node.input;
  if (!(spec instanceof TensorSpec) || spec.dtype !== 'string' || spec.shape?.length !== 0) return false;
  const names = node.input.iterate(new IterationContext(optionsOf(node.input)));
  try {
    return preparing(() => {
      const name = names.next();
      if (name instanceof Promise) {
        // It is asked again when elements are read, and tells of its error then.
        name.catch(() => {});
        return false;
      }
      if (name === END) return false;
      const made = node.made(name);
      return made !== null && fileNodes(made) !== null;
    });
  } finally {
    void names.close();
  }
}

/** The size of a pipeline's batches, by its last step that makes batches; null where there is none. */
export function batchSizeOf(node: DatasetNode): number | null {
  if (node instanceof BatchNode || node instanceof ListBatchNode) return node.size;
  if (node instanceof RebatchNode) return node.sizes.every((n) => n === node.sizes[0]) ? node.sizes[0] : null;
  // Zipped batches have one size; what else has several inputs, or makes elements of its own, may have any.
  if (node.inputs.length > 1 && !(node instanceof ZipNode)) {
    const sizes = node.inputs.map(batchSizeOf);
    return sizes.every((size) => size === sizes[0]) ? sizes[0] : null;
  }
  const keeps = [
    'Map',
    'Prefetch',
    'Options',
    'Repeat',
    'Shuffle',
    'Take',
    'Skip',
    'Shard',
    'Cache',
    'Zip',
    'Filter',
    'AutoShard',
    'IgnoreErrors',
    'AssertCardinality',
  ];
  return keeps.includes(node.kind) ? batchSizeOf(node.inputs[0]) : null;
}

/**
 * Batches of the replicas of one process, of batches for all replicas: `perProcess` of them in each step. Sizes differ by one at most, and the
 * larger ones are not always with the same process.
 */
export function replicaBatchSizes(
  size: number,
  { count, index }: Shard,
  perProcess: number,
): readonly number[] {
  const all = count * perProcess;
  const base = Math.floor(size / all);
  const more = size - base * all;
  // By replica and step, counted through: the larger sizes move on from process to process.
  const sizes: number[] = [];
  for (let step = 0; step < count; step++) {
    for (let replica = 0; replica < perProcess; replica++) {
      const place = ((index + step) % count) * perProcess + replica;
      sizes.push(place < more ? base + 1 : base);
    }
  }
  return sizes;
}
