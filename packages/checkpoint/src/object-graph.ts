// The objects below a root as a checkpoint describes them: nodes with names between them, and values with keys.
import { type TrackableAttribute, Variable } from '@eagre/core';
import type { tensorflow } from '@eagre/formats';
import { attributeKey, DEEP, pathOf, slotPath } from './names.ts';
import { type View, viewOf } from './view.ts';

/** An object with its view, at its place in the graph. */
export class Seen {
  readonly object: object;
  readonly view: View;
  /** How many names lead to it from the root. */
  readonly depth: number;
  readonly #from: Seen | null;
  readonly #name: string;

  constructor(object: object, view: View, from: Seen | null = null, name: string = '') {
    this.object = object;
    this.view = view;
    this.depth = from === null ? 0 : from.depth + 1;
    this.#from = from;
    this.#name = name;
  }

  /** The names on the shortest way from the root. Made when they are asked for: ways may be long, and objects many. */
  get names(): readonly string[] {
    const names: string[] = [];
    for (let at: Seen = this; at.#from !== null; at = at.#from) names.push(at.#name);
    return names.reverse();
  }
}

/** A value to be saved. */
export interface Entry {
  readonly key: string;
  readonly attribute: TrackableAttribute;
}

/** Everything that a checkpoint holds. */
export interface ObjectGraph {
  readonly proto: tensorflow.TrackableObjectGraph;
  readonly entries: readonly Entry[];
}

/** Looks at objects; a root may have children beside its own. */
export type Look = (object: object) => View;

/** The objects that can be reached from a root, nearest first: the numbers of nodes are the places in this list. */
export function walk(root: object, look: Look = viewOf): Seen[] {
  const seen = new Set<object>([root]);
  const list: Seen[] = [new Seen(root, look(root))];
  for (const from of list) {
    for (const [name, object] of from.view.children) {
      if (seen.has(object)) continue;
      seen.add(object);
      list.push(new Seen(object, look(object), from, name));
    }
  }
  return list;
}

// Of a chain of modules, say, a hundred thousand long.
const DEEPEST_PATH = 400;

/** What is to be written for everything that can be reached from a root. */
export function describe(root: object, look: Look = viewOf): ObjectGraph {
  const all = walk(root, look);
  const ids = new Map(all.map(({ object }, id) => [object, id]));
  const entries: Entry[] = [];
  type Node = { -readonly [K in keyof tensorflow.TrackableObject]: tensorflow.TrackableObject[K] };
  const pathTo = (id: number): string => {
    const seen = all[id];
    // Keys as long as the way would be quadratic. Restorations go by the graph, which tells each key.
    return seen.depth > DEEPEST_PATH ? `${DEEP}${id}` : pathOf(seen.names);
  };
  const attributesOf = (object: object, view: View, pathOfIt: () => string): Node => {
    if (view.attributes.size === 0) return {};
    const path = pathOfIt();
    const attributes = [...view.attributes].map(([name, attribute]) => {
      const key = attributeKey(path, name);
      entries.push({ key, attribute });
      const full = object instanceof Variable ? object.path : `${path}/${name}`;
      return { name, full_name: full, checkpoint_key: key };
    });
    return { attributes, has_checkpoint_values: { value: true } };
  };
  const nodes = all.map(({ object, view }, at): Node => {
    const node = attributesOf(object, view, () => pathTo(at));
    if (view.children.length > 0) {
      node.children = view.children.map(([local_name, child]) => ({
        node_id: ids.get(child) as number,
        local_name,
      }));
    }
    return node;
  });
  all.forEach(({ view }, id) => {
    const rows = [];
    for (const { variable, name, slot } of view.slots) {
      const original = ids.get(variable);
      // State for a variable that is not saved itself could not be found again.
      if (original === undefined) continue;
      let slotId = ids.get(slot);
      if (slotId === undefined) {
        const path = (): string => slotPath(pathTo(original), pathTo(id), name);
        slotId = nodes.push(attributesOf(slot, viewOf(slot), path)) - 1;
        ids.set(slot, slotId);
      }
      rows.push({ original_variable_node_id: original, slot_name: name, slot_variable_node_id: slotId });
    }
    if (rows.length > 0) nodes[id].slot_variables = rows;
  });
  return { proto: { nodes }, entries };
}

/** The name of a node for people: `(root).model.kernel`, as TensorFlow writes it. */
export function nodeNames(graph: tensorflow.TrackableObjectGraph): string[] {
  const nodes = graph.nodes ?? [];
  const names: (string | undefined)[] = nodes.map(() => undefined);
  names[0] = '(root)';
  const order = [0];
  for (const id of order) {
    for (const { node_id: child = 0, local_name = '' } of nodes[id]?.children ?? []) {
      if (child >= nodes.length || names[child] !== undefined) continue;
      names[child] = `${names[id]}.${local_name}`;
      order.push(child);
    }
  }
  const nameOf = (id: number): string => names[id] ?? `node ${id}`;
  for (const [id, node] of nodes.entries()) {
    for (const row of node.slot_variables ?? []) {
      const slot = row.slot_variable_node_id ?? 0;
      const original = row.original_variable_node_id ?? 0;
      if (slot in names)
        names[slot] ??= `${nameOf(id)}'s state '${row.slot_name ?? ''}' for ${nameOf(original)}`;
    }
  }
  return names.map((_, id) => nameOf(id));
}
