// Updates of variables by optimizers, which TensorFlow's graphs get as arithmetic: what its own kernels write into variables, they do not give.
import type { DType } from '@eagre/backend';
import { partialShape, type TypedAttr } from '@eagre/core/internal';
import type { GraphNode, GraphValue } from '../ir/graph.ts';
import type { ConstantInput } from './tensorflow-ops.ts';
import type { Part, Parts } from './tensorflow-parts.ts';

/** An input of the node by its place, a part by its name, or a number of the variable's dtype. */
type Operand = number | string | { readonly constant: number };

/** Arithmetic on the tensors of one variable. */
class Arithmetic {
  readonly nodes: Part[];
  readonly #variable: GraphValue;
  readonly #prefix: string;

  constructor(nodes: Part[], variable: GraphValue, prefix: string) {
    this.nodes = nodes;
    this.#variable = variable;
    this.#prefix = prefix;
  }

  #op(op: string, inputs: readonly Operand[]): string {
    const { dtype, shape } = this.#variable;
    const T: TypedAttr = { kind: 'type', value: dtype };
    return this.#add(op, inputs, { T }, partialShape(shape), dtype);
  }

  #add(
    op: string,
    operands: readonly Operand[],
    attrs: Part['attrs'],
    shape: Part['shape'],
    dtype: DType,
  ): string {
    const name = `${this.#prefix}${op}_${this.nodes.length}`;
    const inputs = operands.map((o, i): number | string | ConstantInput =>
      typeof o === 'object' ? { name: `${name}/${i === 0 ? 'x' : 'y'}`, dtype, value: o.constant } : o,
    );
    this.nodes.push({ name, op, inputs, attrs, shape });
    return name;
  }

  /** A float64 scalar in the variable's dtype. */
  scalar(place: number): Operand {
    const { dtype } = this.#variable;
    if (dtype === 'float64') return place;
    const attrs: Part['attrs'] = {
      SrcT: { kind: 'type', value: 'float64' },
      DstT: { kind: 'type', value: dtype },
      Truncate: { kind: 'bool', value: false },
    };
    return this.#add('Cast', [place], attrs, [], dtype);
  }
  add(a: Operand, b: Operand): string {
    return this.#op('AddV2', [a, b]);
  }
  sub(a: Operand, b: Operand): string {
    return this.#op('Sub', [a, b]);
  }
  mul(a: Operand, b: Operand): string {
    return this.#op('Mul', [a, b]);
  }
  div(a: Operand, b: Operand): string {
    return this.#op('RealDiv', [a, b]);
  }
  max(a: Operand, b: Operand): string {
    return this.#op('Maximum', [a, b]);
  }
  sqrt(a: Operand): string {
    return this.#op('Sqrt', [a]);
  }
  times(a: Operand, factor: number): string {
    return this.mul(a, { constant: factor });
  }
  /** `average + (value − average) · share` */
  toward(average: Operand, value: Operand, share: number): string {
    return this.add(average, this.times(this.sub(value, average), share));
  }
}

type Attrs = Readonly<Record<string, number>>;

/** New values of a variable and its slots; `own` are their places and that of the gradient, `scalars` those of the scalars. */
type Update = (
  a: Arithmetic,
  own: readonly number[],
  scalars: readonly number[],
  attrs: Attrs,
) => readonly string[];

/** The update of each kernel, and how many scalars it takes. */
const updates: Readonly<Record<string, { readonly scalars: number; readonly update: Update }>> = {
  ApplyGradientDescent: {
    scalars: 1,
    update: (a, [variable, gradient], [lr]) => [a.sub(variable, a.mul(a.scalar(lr), gradient))],
  },
  ApplyMomentum: {
    scalars: 1,
    update: (a, [variable, m, gradient], [lr], { momentum, nesterov }) => {
      const step = a.mul(a.scalar(lr), gradient);
      const next = a.sub(a.times(m, momentum), step);
      return [a.add(variable, nesterov ? a.sub(a.times(next, momentum), step) : next), next];
    },
  },
  ApplyRMSProp: {
    scalars: 1,
    update: (a, own, [lr], { rho, momentum, epsilon, centered }) => {
      const [variable, rms, ...rest] = own;
      const gradient = rest[rest.length - 1];
      const average = (old: number, value: Operand): string =>
        a.add(a.times(old, rho), a.times(value, 1 - rho));
      const squares = average(rms, a.mul(gradient, gradient));
      const means = centered ? [average(rest[0], gradient)] : [];
      const spread = means.reduce<string>((r, mean) => a.sub(r, a.mul(mean, mean)), squares);
      const root = a.sqrt(a.add(spread, { constant: epsilon }));
      const step = a.div(a.mul(a.scalar(lr), gradient), root);
      if (!(momentum > 0)) return [a.sub(variable, step), squares, ...means];
      const moved = a.add(a.times(rest[rest.length - 2], momentum), step);
      return [a.sub(variable, moved), squares, ...means, moved];
    },
  },
  ApplyAdam: {
    scalars: 2,
    update: (a, own, [alpha, lr], { beta1, beta2, epsilon, weightDecay, amsgrad }) => {
      const [variable, m, v] = own;
      const gradient = own[own.length - 1];
      const first = a.toward(m, gradient, 1 - beta1);
      const second = a.toward(v, a.mul(gradient, gradient), 1 - beta2);
      const largest = amsgrad ? [a.max(own[3], second)] : [];
      const root = a.add(a.sqrt(largest[0] ?? second), { constant: epsilon });
      const step = a.div(a.mul(a.scalar(alpha), first), root);
      const kept =
        weightDecay === 0 ? variable : a.sub(variable, a.mul(a.times(variable, weightDecay), a.scalar(lr)));
      return [a.sub(kept, step), first, second, ...largest];
    },
  },
};

/** TensorFlow's nodes for an update of variables; null for another node. */
export function updateParts({ what, inputs, attrs }: GraphNode): Parts | null {
  const known = what.kind === 'update' && Object.hasOwn(updates, what.kernel) ? updates[what.kernel] : null;
  if (known === null) return null;
  const { count, ...options } = Object.fromEntries(
    Object.entries(attrs).map(([name, value]) => [name, Number(value)]),
  );
  const places = inputs.map((_, i) => i);
  const scalars = places.splice(inputs.length - known.scalars);
  const each = places.length / count;
  const nodes: Part[] = [];
  const outputs: string[] = [];
  for (let i = 0; i < count; i++) {
    const own = places.slice(i * each, (i + 1) * each);
    const a = new Arithmetic(nodes, inputs[own[0]], count === 1 ? '' : `${i}/`);
    outputs.push(...known.update(a, own, scalars, options));
  }
  return { nodes, outputs };
}
