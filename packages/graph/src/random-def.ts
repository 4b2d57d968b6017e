// Random draws in GraphDefs: TensorFlow's Philox, with a variable that holds the state, gives the numbers that Eagre draws.
import { dtypeTraits } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { type DrawSource, isDrawSource } from '@eagre/core/internal';
import type { tensorflow } from '@eagre/formats';
import type { Graph, GraphNode } from './graph.ts';
import { bodiesOf } from './graph-bodies.ts';

type AttrValues = Readonly<Record<string, tensorflow.AttrValue>>;

/** What writes nodes, by the names of their inputs. */
export interface NodeWriter {
  name(wanted: string): string;
  add(name: string, op: string, input: readonly string[], attrs: AttrValues): void;
  constant(name: string, value: Tensor): string;
}

/** The state of one stream: a counter, and the key of its numbers. */
interface State {
  readonly handle: string;
  readonly read: string;
  draws: number;
}

const int32: tensorflow.AttrValue = { type: dtypeTraits.int32.tensorflow };
const int64: tensorflow.AttrValue = { type: dtypeTraits.int64.tensorflow };
const uint32: tensorflow.AttrValue = { type: dtypeTraits.uint32.tensorflow };
const uint64: tensorflow.AttrValue = { type: dtypeTraits.uint64.tensorflow };
const float32: tensorflow.AttrValue = { type: dtypeTraits.float32.tensorflow };

const word = (low: number, high: number): bigint => BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low));
const integers = (...values: readonly bigint[]): Tensor => constant(BigInt64Array.from(values), 'int64');

/** The streams that a graph draws from. */
export class RandomStates {
  readonly #writer: NodeWriter;
  /** By their keys. */
  readonly #states = new Map<string, State>();

  /** Null where the draws cannot be told apart beforehand, since branches and loops draw too, or not all are of known streams. */
  static of(graph: Graph, writer: NodeWriter): RandomStates | null {
    const drawing = graph.nodes.filter(({ draws }) => draws);
    if (drawing.length === 0 || !drawing.every(({ attrs }) => isDrawSource(attrs['source']))) return null;
    return graph.nodes.some((node) => bodiesOf(node).some(drawsInside)) ? null : new RandomStates(writer);
  }

  private constructor(writer: NodeWriter) {
    this.#writer = writer;
  }

  /**
   * Counts a draw.
   * @returns what gives its key and counter, for `uniform`
   */
  draw({ attrs }: GraphNode): string {
    const state = this.#stateOf(attrs['source']);
    const place = state.draws++;
    if (place === 0) return state.read;
    const name = this.#writer.name(`${state.handle}/draw`);
    return this.#advanced(name, state, place);
  }

  /**
   * Adds uniform numbers of float32, from 0 to less than 1, under a name: of each 32 random bits the first 24.
   * @param state what `draw` gave.
   * @param shape the name of the shape.
   */
  uniform(name: string, state: string, shape: string): void {
    const { add } = this.#node(name);
    const slice = (at: number): string =>
      add('Slice', [state, add.constant('begin', [at]), add.constant('size', [1])], {
        T: int64,
        Index: int32,
      });
    const words = (of: string): string => add('Bitcast', [of], { T: int64, type: uint64 });
    const padded = add('Pad', [slice(0), add.constant('paddings', [[1, 0]])], { T: int64, Tpaddings: int32 });
    const philox = add.constant('alg', 1);
    const bits = add('StatelessRandomUniformFullIntV2', [shape, words(slice(1)), words(padded), philox], {
      dtype: uint32,
      Tshape: int32,
    });
    const by = add('Cast', [add.constant('shift', 8)], { SrcT: int32, DstT: uint32 });
    const high = add('Cast', [add('RightShift', [bits, by], { T: uint32 })], { SrcT: uint32, DstT: float32 });
    const scale = this.#writer.constant(`${name}/scale`, constant(2 ** -24));
    this.#writer.add(name, 'Mul', [high, scale], { T: float32 });
  }

  /** Adds what advances the states. @returns the names of the assignments */
  finish(): string[] {
    return [...this.#states.values()].map((state) => {
      const { handle, read, draws } = state;
      const next = this.#advanced(this.#writer.name(`${handle}/next`), state, draws);
      const assign = this.#writer.name(`${handle}/Assign`);
      this.#writer.add(assign, 'AssignVariableOp', [handle, next, `^${read}`], {
        dtype: int64,
        validate_shape: { b: false },
      });
      return assign;
    });
  }

  #advanced(name: string, { read }: State, draws: number): string {
    const by = this.#writer.constant(`${name}/y`, integers(BigInt(draws), 0n));
    this.#writer.add(name, 'AddV2', [read, by], { T: int64 });
    return name;
  }

  #stateOf(source: unknown): State {
    const { k0, k1, counter0, counter1 } = (source as DrawSource).peek();
    const key = `${k0} ${k1}`;
    let state = this.#states.get(key);
    if (state === undefined) {
      const { add, name, constant: put } = this.#writer;
      const handle = name('random_state');
      const variable = { dtype: int64, shape: { shape: { dim: [{ size: 2 }] } } } as const;
      const shared = { s: new TextEncoder().encode(handle) };
      add(handle, 'VarHandleOp', [], {
        ...variable,
        shared_name: shared,
        container: { s: new Uint8Array() },
      });
      // What it is now: who imports the graph runs this once.
      const now = put(`${handle}/Initializer`, integers(word(counter0, counter1), word(k0, k1)));
      add(name(`${handle}/Initialize`), 'AssignVariableOp', [handle, now], {
        dtype: int64,
        validate_shape: { b: false },
      });
      const read = name(`${handle}/Read`);
      add(read, 'ReadVariableOp', [handle], { dtype: int64 });
      state = { handle, read, draws: 0 };
      this.#states.set(key, state);
    }
    return state;
  }

  /** Adds nodes below a name. */
  #node(owner: string): { readonly add: Adder } {
    const writer = this.#writer;
    const add = (op: string, input: readonly string[], attrs: AttrValues): string => {
      const name = writer.name(`${owner}/${op}`);
      writer.add(name, op, input, attrs);
      return name;
    };
    const numbers = (name: string, value: Parameters<Adder['constant']>[1]): string =>
      writer.constant(`${owner}/${name}`, constant(value as number, 'int32'));
    return { add: Object.assign(add, { constant: numbers }) };
  }
}

interface Adder {
  (op: string, input: readonly string[], attrs: AttrValues): string;
  constant(name: string, value: number | readonly number[] | readonly (readonly number[])[]): string;
}

function drawsInside(graph: Graph): boolean {
  return graph.nodes.some((node) => node.draws || bodiesOf(node).some(drawsInside));
}
