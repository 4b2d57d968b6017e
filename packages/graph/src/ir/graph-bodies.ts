// What is inside of graphs: the graphs of branches and loops, and what these do.
import type { Variable } from '@eagre/core';
import { type DimSymbol, PortableOp } from '@eagre/core/internal';
import { ControlOp } from '../control/control-op.ts';
import type { Graph, GraphNode } from './graph.ts';

/** Whether the value of an attribute is a graph, told without its class, whose file needs this one. */
export function isGraph(value: unknown): value is Graph {
  return typeof value === 'object' && value !== null && 'nodes' in value && 'assignments' in value;
}

/** The graphs inside of a node: those of a branch or a loop. */
export function bodiesOf({ what, attrs }: GraphNode): readonly Graph[] {
  return what.kind === 'op' && what.op instanceof ControlOp ? what.op.bodies(attrs) : [];
}

/** The sizes that depend on values of a graph, and of those inside of it. */
export function lateSizesIn(graph: Graph): DimSymbol[] {
  return [
    ...graph.measures.map(({ symbol }) => symbol),
    ...graph.nodes.flatMap((node) => bodiesOf(node).flatMap(lateSizesIn)),
  ];
}

/** Whether a graph, or one inside of it, has such sizes, or uses variables whose shape may change. */
export function isMeasured(graph: Graph): boolean {
  return (
    graph.measures.length > 0 || graph.nodes.some((node) => isOpen(node) || bodiesOf(node).some(isMeasured))
  );
}

/** Whether a node reads or changes a variable whose shape may change. */
export function isOpen({ what }: GraphNode): boolean {
  if (what.kind === 'update') return what.written.some((v) => !v.hasOneShape);
  return what.kind === 'variable' && !what.variable.hasOneShape;
}

/** Whether a graph draws random numbers, itself or in a graph inside of it. */
export function draws(graph: Graph): boolean {
  return graph.nodes.some((node) => node.draws || bodiesOf(node).some(draws));
}

/** Whether a node is one of those of a table that changes, which run in the order of the trace. */
export function keepsOrder({ what, attrs }: GraphNode): boolean {
  return what.kind === 'op' && what.op instanceof PortableOp && attrs['ordered'] === true;
}

/** Whether a node only looks at values, to throw if they do not fit. */
export const isCheck = ({ what }: GraphNode): boolean =>
  what.kind === 'host' && what.portable?.isCheck === true;

/** Whether a node calls the host or draws random numbers, itself or in a graph inside of it. */
export function hasEffects(node: GraphNode): boolean {
  if (node.what.kind === 'host' || node.draws || keepsOrder(node)) return true;
  return bodiesOf(node).some((body) => body.nodes.some(hasEffects));
}

/** Nodes that cost nothing: each part of a run has its own. */
export const isFree = ({ what }: GraphNode): boolean =>
  what.kind === 'constant' || what.kind === 'size' || what.kind === 'variable';

/** The variables that a node changes. */
export function changedBy({ what, attrs }: GraphNode): readonly Variable[] {
  if (what.kind === 'update') return what.written;
  return Array.isArray(attrs['written']) ? (attrs['written'] as readonly Variable[]) : [];
}

/** Whether a node does nothing but compute, so that it may run more often. */
export function onlyComputes(node: GraphNode): boolean {
  if (hasEffects(node) || node.what.kind === 'update') return false;
  return bodiesOf(node).every((body) => body.nodes.every(onlyComputes));
}
