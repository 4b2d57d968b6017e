// How ops of TensorFlow are declared: a name, and the calls of Eagre's functions that it stands for.
import type { Tensor, TensorLike } from '@eagre/core';
import type { tensorflow } from '@eagre/formats';
import type { OpCall } from './op-call.ts';
import type { Value } from './values.ts';

/** What runs in the place of a node. */
export type Translate = (call: OpCall) => Value | readonly Value[] | void;

/** An op of TensorFlow. */
export interface OpRow {
  readonly run: Translate;
  /** The names of its outputs, where it has several arguments of output. */
  readonly outputs?: readonly string[];
  /** How many outputs a node has under each of these names; one unless given. */
  readonly counts?: (node: tensorflow.NodeDef) => readonly number[];
}

/** Ops by name: what they do, with the names of outputs where there are several. */
export type OpTable = Readonly<Record<string, Translate | OpRow>>;

/** A function of one tensor. */
export const unary =
  (fn: (x: Tensor) => Tensor): Translate =>
  (c) =>
    fn(c.x(0));

/** A function of two tensors. */
export const binary =
  (fn: (x: TensorLike, y: TensorLike) => Tensor): Translate =>
  (c) =>
    fn(c.x(0), c.x(1));

/** An integer that a node has as an attribute, for `counts`. */
export const intOf = (node: tensorflow.NodeDef, name: string, missing: number): number =>
  Number(node.attr?.get(name)?.i ?? missing);

/** An op with several outputs of these names. */
export const several = (outputs: readonly string[], run: Translate): OpRow => ({ outputs, run });
