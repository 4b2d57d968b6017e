import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import type { Shape } from '@eagre/core';
import { Graph, type GraphNode } from '../graph.ts';
import { type Assumption, MOST_UNKNOWN, StandIns, standIn } from '../stand-ins.ts';

/** What a node needs beside its inputs. */
interface Conditions {
  /** What runs before it, and with it. */
  readonly control: readonly GraphNode[];
  /** What the trace took for true of unknown sizes while it was made. */
  readonly assumptions: readonly Assumption[];
}

const none: Conditions = { control: [], assumptions: [] };

/** A graph that is written over a long time, and of which each run takes a part. */
export class GraphBody extends Graph {
  override readonly runsWhole: boolean = false;
  readonly standIns: StandIns = new StandIns();
  /** Whether nodes can no longer be added. */
  finalized = false;
  /** What the next nodes run after. */
  control: readonly GraphNode[] = [];
  readonly #conditions = new Map<GraphNode, Conditions>();
  /** What runs with a node: the assignments of variables that its bodies change. */
  readonly #followers = new Map<GraphNode, GraphNode[]>();
  readonly #classes = new Map<string, number>();
  #assumed = 0;

  override add(...args: Parameters<Graph['add']>): GraphNode {
    this.checkOpen();
    const node = super.add(...args);
    const { assumptions } = this.standIns;
    if (this.control.length > 0 || assumptions.length > this.#assumed) {
      this.#conditions.set(node, { control: this.control, assumptions: assumptions.slice(this.#assumed) });
      this.#assumed = assumptions.length;
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
  assumptions(nodes: readonly GraphNode[]): Assumption[] {
    return nodes.flatMap((node) => this.#of(node).assumptions);
  }

  /** A shape in which numbers stand for sizes that are not known: one for each axis, or for each name. */
  traced(shape: readonly (number | null | string)[]): Shape {
    return shape.map((size, axis) => {
      if (typeof size === 'number') return size;
      const name = size ?? `${axis}`;
      let index = this.#classes.get(name);
      if (index === undefined) {
        index = this.#classes.size;
        if (index >= MOST_UNKNOWN)
          throw new InvalidArgumentError(
            `a graph tells ${MOST_UNKNOWN} unknown sizes apart, not more`,
            'placeholder',
          );
        this.#classes.set(name, index);
      }
      return standIn(index);
    });
  }

  #of(node: GraphNode): Conditions {
    return this.#conditions.get(node) ?? none;
  }
}
