// What TensorFlow.js's converter joins into one op, taken apart again: into ops that TensorFlow has, so that graphs can be saved, too.
import { UnimplementedError } from '@eagre/core';
import type { tensorflow } from '@eagre/formats';

type NodeDef = tensorflow.NodeDef;
type Attributes = ReadonlyMap<string, tensorflow.AttrValue>;

/** The op that a joined one begins with, and the names of its attributes. */
interface Start {
  readonly op: string;
  readonly attributes: readonly string[];
}

const WINDOWS = ['T', 'strides', 'padding', 'data_format', 'dilations', 'explicit_paddings'];
const STARTS: Readonly<Record<string, Start>> = {
  _FusedConv2D: { op: 'Conv2D', attributes: WINDOWS },
  FusedDepthwiseConv2dNative: { op: 'DepthwiseConv2dNative', attributes: WINDOWS },
  _FusedMatMul: { op: 'MatMul', attributes: ['T', 'transpose_a', 'transpose_b'] },
};

/** What follows, by the names in `fused_ops`. */
const ACTIVATIONS: ReadonlySet<string> = new Set(['Relu', 'Relu6', 'Elu', 'Sigmoid', 'Tanh', 'LeakyRelu']);

/** The output of each op here, as functions name it. */
const OUTPUTS: Readonly<Record<string, string>> = {
  MatMul: 'product',
  Relu: 'activations',
  Relu6: 'activations',
  Elu: 'activations',
  LeakyRelu: 'activations',
  Sigmoid: 'y',
  Tanh: 'y',
  Neg: 'y',
  Mul: 'z',
  Sub: 'z',
};

/** What a graph's nodes are in TensorFlow's ops. @param isFunction whether inputs name outputs, as in functions */
export function unfused(nodes: readonly NodeDef[], isFunction: boolean): readonly NodeDef[] {
  const isJoined = ({ op = '' }: NodeDef): boolean => op === 'Prelu' || Object.hasOwn(STARTS, op);
  const names = new Set(nodes.filter(isJoined).map(({ name = '' }) => name));
  if (names.size === 0) return nodes;
  // The last op of each has its name, and one output.
  const renamed = (input: string): string => {
    const [node = '', output, index] = input.split(':');
    return output !== undefined && index !== undefined && names.has(node) ? `${node}:output:${index}` : input;
  };
  return nodes
    .map((node) => (isFunction ? { ...node, input: node.input?.map(renamed) ?? [] } : node))
    .flatMap((node) => (isJoined(node) ? new Parts(node, isFunction).nodes() : [node]));
}

/** The ops that one stands for. */
class Parts {
  readonly #node: NodeDef;
  readonly #isFunction: boolean;
  readonly #made: NodeDef[] = [];
  readonly #inputs: string[];
  readonly #control: readonly string[];

  constructor(node: NodeDef, isFunction: boolean) {
    this.#node = node;
    this.#isFunction = isFunction;
    const inputs = node.input ?? [];
    this.#inputs = inputs.filter((input) => !input.startsWith('^'));
    this.#control = inputs.filter((input) => input.startsWith('^'));
  }

  get #attributes(): Attributes {
    return this.#node.attr ?? new Map();
  }
  #lacks(what: string): UnimplementedError {
    return new UnimplementedError(`node '${this.#node.name}' (${this.#node.op}): ${what}`);
  }
  #input(): string {
    const input = this.#inputs.shift();
    if (input === undefined) throw this.#lacks('it has too few inputs');
    return input;
  }
  /** Adds an op. @returns its output */
  #add(op: string, input: readonly string[], attr: readonly (readonly [string, unknown])[] = []): string {
    const name = `${this.#node.name}/parts/${op}_${this.#made.length}`;
    const type = this.#attributes.get('T');
    this.#made.push({
      name,
      op,
      input: this.#made.length === 0 ? [...input, ...this.#control] : input,
      attr: new Map([...(type === undefined ? [] : [['T', type] as const]), ...attr]) as Attributes,
    });
    return this.#isFunction ? `${name}:${OUTPUTS[op] ?? 'output'}:0` : name;
  }

  nodes(): readonly NodeDef[] {
    const { op = '', name = '' } = this.#node;
    const out =
      op === 'Prelu' ? this.#prelu(this.#input(), this.#input()) : this.#joined(STARTS[op] as Start);
    this.#add('Identity', [out]);
    const last = this.#made.pop() as NodeDef;
    return [...this.#made, { ...last, name }];
  }

  #joined({ op, attributes }: Start): string {
    const own = attributes.flatMap((name) => {
      const value = this.#attributes.get(name);
      return value === undefined ? [] : [[name, value] as const];
    });
    let x = this.#add(op, [this.#input(), this.#input()], own);
    const format = this.#attributes.get('data_format');
    const text = new TextDecoder();
    for (const bytes of this.#attributes.get('fused_ops')?.list?.s ?? []) {
      const name = text.decode(bytes);
      if (name === 'BiasAdd')
        x = this.#add(name, [x, this.#input()], format === undefined ? [] : [['data_format', format]]);
      else if (name === 'Prelu') x = this.#prelu(x, this.#input());
      else if (ACTIVATIONS.has(name)) x = this.#add(name, [x], name === 'LeakyRelu' ? this.#slope() : []);
      else throw this.#lacks(`'${name}' in a fused op is not supported`);
    }
    return x;
  }
  #slope(): readonly (readonly [string, unknown])[] {
    return [['alpha', this.#attributes.get('leakyrelu_alpha') ?? { f: 0.2 }]];
  }

  /** TensorFlow has no such op. */
  #prelu(x: string, alpha: string): string {
    const below = this.#add('Relu', [this.#add('Neg', [x])]);
    return this.#add('Sub', [this.#add('Relu', [x]), this.#add('Mul', [alpha, below])]);
  }
}
