import { FailedPreconditionError } from '@eagre/backend';
import type { Shape } from '@eagre/core';
import { type DimExpr, type Guard, ShapeEnv, toShape } from '@eagre/core/internal';
import { Graph, type GraphNode } from '../ir/graph.ts';

/** What a node needs beside its inputs. */
interface Conditions {
  /** What runs before it, and with it. */
  readonly control: readonly GraphNode[];
  /** What was found true of unknown sizes while it was made. */
  readonly guards: readonly Guard[];
}

const none: Conditions = { control: [], guards: [] };

/** A graph that is written over a long time, and of which each run takes a part. */
export class GraphBody extends Graph {
  override readonly runsWhole: boolean = false;
  /** Its unknown sizes: there is no call that could tell them. */
  readonly sizes: ShapeEnv = new ShapeEnv(false);
  /** Whether nodes can no longer be added. */
  finalized = false;
  /** What the next nodes run after. */
  control: readonly GraphNode[] = [];
  readonly #conditions = new Map<GraphNode, Conditions>();
  /** What runs with a node: the assignments of variables that its bodies change. */
  readonly #followers = new Map<GraphNode, GraphNode[]>();
  readonly #named = new Map<string, DimExpr>();
  #found = 0;

  override add(...args: Parameters<Graph['add']>): GraphNode {
    this.checkOpen();
    const node = super.add(...args);
    const { guards } = this.sizes;
    if (this.control.length > 0 || guards.length > this.#found) {
      this.#conditions.set(node, { control: this.control, guards: guards.slice(this.#found) });
      this.#found = guards.length;
    }
    return node;
  }

  /** @throws FailedPreconditionError if nothing may be added any more. */
  checkOpen(): void {
    if (this.finalized) throw new FailedPreconditionError('Graph is finalized and cannot be modified.');
  }

  /** All of them: what nobody asks for now may be asked for later. */
  override liveNodes(): GraphNode[] {
    return [...this.nodes];
  }

  override controlInputs(node: GraphNode): readonly GraphNode[] {
    return this.#of(node).control;
  }

  /** Lets `follower` run whenever `node` does. */
  follow(node: GraphNode, follower: GraphNode): void {
    this.#followers.set(node, [...this.followers(node), follower]);
  }

  followers(node: GraphNode): readonly GraphNode[] {
    return this.#followers.get(node) ?? [];
  }

  /** What has to hold for the sizes of a run of these nodes. */
  guards(nodes: readonly GraphNode[]): Guard[] {
    return nodes.flatMap((node) => this.#of(node).guards);
  }

  /** A shape of which some sizes are not known: one for each axis, or for each name. */
  traced(shape: readonly (number | null | string)[]): Shape {
    return toShape(
      shape.map((size, axis) => {
        if (typeof size === 'number') return size;
        const name = size ?? `${axis}`;
        let symbol = this.#named.get(name);
        if (symbol === undefined) {
          // Such that pooling and splitting leave no rest.
          symbol = this.sizes.symbol(size ?? `n${axis}`, 840 * (this.#named.size + 1));
          this.#named.set(name, symbol);
        }
        return symbol;
      }),
    );
  }

  #of(node: GraphNode): Conditions {
    return this.#conditions.get(node) ?? none;
  }
}
