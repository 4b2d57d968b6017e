// `tf.train.TrackableView` and `CheckpointView`: the objects of a program, and those of a file, side by side.
import {
  DataLossError,
  InvalidArgumentError,
  type TrackableView as OwnView,
  type Trackable,
} from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  checkPath,
  defineMethods,
  shown,
  stringTensor,
  takesArguments,
} from '@eagre/core/internal';
import { openBundle } from './bundle.ts';
import { walk } from './object-graph.ts';
import { latestCheckpoint } from './state.ts';
import { isTrackable, viewOf } from './view.ts';

/** The objects that a checkpoint sees below one. */
export class TrackableView {
  readonly root: object;

  constructor(...args: Arguments<[root: object], ['root']>) {
    const { root } = argumentsOf<{ readonly root: object }>(TrackableView, new.target, args);
    if (!isTrackable(root))
      throw new InvalidArgumentError(
        `expected an object that holds variables, got ${shown(root)}`,
        'TrackableView',
      );
    this.root = root;
  }

  /** What is directly inside of an object, by name. */
  children(...args: Arguments<[obj: object], ['obj']>): Map<string, object>;
  children(obj: object): Map<string, object> {
    return new Map(viewOf(obj).children);
  }
  /** The root and all that can be reached from it, nearest first. */
  descendants(): object[] {
    return walk(this.root).map(({ object }) => object);
  }
}

/** The objects of a checkpoint, as numbers of nodes; 0 is the root. */
export class CheckpointView {
  readonly #nodes: readonly (readonly (readonly [name: string, node: number])[])[];

  /** @throws NotFoundError when there is no such checkpoint; DataLossError for one without objects, or with damaged ones. */
  constructor(...args: Arguments<[savePath: string], ['savePath']>) {
    const op = 'CheckpointView';
    const { savePath } = argumentsOf<{ readonly savePath: string }>(CheckpointView, new.target, args);
    checkPath(savePath, 'savePath', op);
    this.#nodes = nodesOf(latestCheckpoint(savePath) ?? savePath, op);
  }

  /** What is directly inside of an object, by name. @throws InvalidArgumentError where there is no such node */
  children(...args: Arguments<[nodeId: number], ['nodeId']>): Map<string, number>;
  children(nodeId: number): Map<string, number> {
    const node = this.#nodes[nodeId];
    if (node === undefined)
      throw new InvalidArgumentError(
        `there are ${this.#nodes.length} nodes, and no node ${shown(nodeId)}`,
        'CheckpointView.children',
      );
    return new Map(node);
  }
  /** All nodes that can be reached from the root, nearest first. */
  descendants(): number[] {
    const found = [0];
    const seen = new Set(found);
    for (const id of found)
      for (const [, child] of this.#nodes[id] ?? [])
        if (!seen.has(child)) {
          seen.add(child);
          found.push(child);
        }
    return found;
  }
  /** The objects of a program that stand where nodes of the checkpoint stand: by the same names from the root. */
  match(...args: Arguments<[trackableView: TrackableView], ['trackableView']>): Map<number, object>;
  match(trackableView: TrackableView): Map<number, object> {
    if (!(trackableView instanceof TrackableView))
      throw new InvalidArgumentError(
        `expected a TrackableView, got ${shown(trackableView)}`,
        'CheckpointView.match',
      );
    const matched = new Map<number, object>([[0, trackableView.root]]);
    for (const [id, object] of matched) {
      const own = new Map(viewOf(object).children);
      for (const [name, child] of this.#nodes[id] ?? []) {
        const other = own.get(name);
        if (other !== undefined && !matched.has(child)) matched.set(child, other);
      }
    }
    return matched;
  }
  /** `match`, with what is only in the checkpoint (nodes), and only in the program (objects). */
  diff(
    ...args: Arguments<[trackableView: TrackableView], ['trackableView']>
  ): readonly [matched: Map<number, object>, onlyInCheckpoint: number[], onlyInTrackable: object[]];
  diff(trackableView: TrackableView): readonly [Map<number, object>, number[], object[]] {
    const matched = this.match(trackableView);
    const objects = new Set(matched.values());
    return [
      matched,
      this.descendants().filter((id) => !matched.has(id)),
      trackableView.descendants().filter((object) => !objects.has(object)),
    ];
  }
}

function nodesOf(path: string, op: string): (readonly (readonly [string, number])[])[] {
  const { graph } = openBundle(path);
  if (graph === null) throw new DataLossError(`${path} holds values by name, and no objects`, op);
  const nodes = graph.nodes ?? [];
  return nodes.map(({ children = [] }) =>
    children.map(({ local_name: name = '', node_id: id = 0 }) => {
      if (id < 0 || id >= nodes.length) throw new DataLossError(`${path}: there is no node ${id}`, op);
      return [name, id] as const;
    }),
  );
}

takesArguments<{ readonly root: object }>(
  { positional: ['root'], objects: ['root'], names: { root: true } },
  TrackableView,
);
takesArguments<{ readonly savePath: string }>(
  { positional: ['savePath'], names: { savePath: true } },
  CheckpointView,
);
defineMethods(TrackableView.prototype, 'TrackableView', {
  children: { positional: ['obj'], objects: ['obj'] },
  descendants: {},
});
defineMethods(CheckpointView.prototype, 'CheckpointView', {
  children: { positional: ['nodeId'] },
  descendants: {},
  match: { positional: ['trackableView'] },
  diff: { positional: ['trackableView'] },
});

/**
 * The base of values of the program's own that checkpoints keep as text: `serialize` gives it, `deserialize` takes it.
 *
 *     class Progress extends tf.train.experimental.PythonState {
 *       seen = 0;
 *       serialize() { return String(this.seen); }
 *       deserialize(text) { this.seen = Number(text); }
 *     }
 */
export abstract class PythonState implements Trackable {
  abstract serialize(): string;
  abstract deserialize(stringValue: string): void;

  trackableView(): OwnView {
    const attribute = {
      save: () => stringTensor([this.serialize()], []),
      restore: (value: { strings(): string[] }) => this.deserialize(value.strings()[0] ?? ''),
    };
    return { children: [], attributes: [['py_state', attribute as never]] };
  }
}
