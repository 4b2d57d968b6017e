// Attributes of ops that hold sizes which a trace does not know.
import { Tensor } from '@eagre/core';
import {
  type Dim,
  DimExpr,
  type DimSymbol,
  dimsOf,
  hasUnknown,
  toShape,
  visitSymbols,
} from '@eagre/core/internal';
import type { Graph, GraphNode } from '../ir/graph.ts';
import { bodiesOf } from '../ir/graph-bodies.ts';

/** Attributes with what `size` says in the place of each unknown size. `others` gives what stands for objects that are no plain ones. */
export function replaceSizes(
  attrs: GraphNode['attrs'],
  size: (d: DimExpr) => Dim,
  others: (value: object) => unknown = (value) => value,
): GraphNode['attrs'] {
  const replaced = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
    if (value instanceof DimExpr) return size(value);
    if (Array.isArray(value)) {
      if (hasUnknown(value as number[]))
        return toShape(dimsOf(value as number[]).map((d) => replaced(d) as Dim));
      return value.map(replaced);
    }
    if (value instanceof Tensor) return value;
    const other = others(value);
    if (other !== value) return other;
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) return value;
    const entries = Object.entries(value).map(([k, v]) => [k, replaced(v)] as const);
    return entries.every(([k, v]) => v === (value as Record<string, unknown>)[k])
      ? value
      : Object.fromEntries(entries);
  };
  return replaced(attrs) as GraphNode['attrs'];
}

/** The symbols of sizes that the live nodes of a graph, and of those inside of it, compute with. */
export function sizesIn(graph: Graph): ReadonlySet<DimSymbol> {
  const found = new Set<DimSymbol>();
  const visit = (d: Dim): Dim => {
    visitSymbols(d, (symbol) => found.add(symbol));
    return d;
  };
  for (const node of graph.liveNodes()) {
    if (node.what.kind === 'size') visit(node.what.size);
    if (node.what.kind === 'host') for (const { shape } of node.what.results) dimsOf(shape).forEach(visit);
    if (node.what.kind === 'op') replaceSizes(node.attrs, visit);
    for (const body of bodiesOf(node)) for (const symbol of sizesIn(body)) found.add(symbol);
  }
  return found;
}
