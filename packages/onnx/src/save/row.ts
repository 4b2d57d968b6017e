import type { GraphNode } from '@eagre/graph';
import type { GraphWriter } from './writer.ts';

/** Writes a node of a graph, whose inputs have these names. @returns the name of its output, or of each; null for one that nobody uses. */
export type Row = (
  w: GraphWriter,
  node: GraphNode,
  inputs: readonly string[],
) => string | readonly (string | null)[];
export type Rows = Readonly<Record<string, Row>>;

/** An attribute of a node. */
export const attr = <T>(node: GraphNode, name: string): T => node.attrs[name] as T;
