import { type Backend, checkPlan, type NumericDType, type Plan, type PlanTensor } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { nativeBackend } from '@eagre/backend-native';
import { describe, expect, it } from 'vitest';
import { optimizePlan, planPasses } from './optimize.ts';
import { broadcast, PlanBuilder, sizeOf, view } from './testing/plans.ts';
import { planToString } from './text.ts';

type Random = (below: number) => number;

/** A generator of Marsaglia's xorshift family. */
function randomFrom(seed: number): Random {
  let x = (seed * 2654435761 + 88675123) | 0 || 1;
  const next = (): number => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return x >>> 0;
  };
  for (let i = 0; i < 8; i++) next();
  return (below) => next() % below;
}

const shapes = [
  [2, 3, 4],
  [3, 4],
  [4],
  [],
  [1],
  [2, 1, 4],
  [3, 1],
  [2, 3, 1],
  [24],
  [6, 4],
  [6, 1],
  [2, 1, 3, 4],
  [1, 1],
];
const dtypes: readonly NumericDType[] = ['float32', 'float64', 'int32', 'int64', 'uint8', 'bool'];
const floating = (dtype: string): boolean => dtype === 'float32' || dtype === 'float64';

/** What a generator makes besides kernels that work on any values. */
interface Kinds {
  /** The dtypes of products. */
  readonly products: readonly NumericDType[];
  /** How deep branches and loops may lie in each other. */
  readonly depth: number;
}

class Generator {
  readonly builder: PlanBuilder;
  readonly #random: Random;
  readonly #kinds: Kinds;
  readonly #pool: PlanTensor[] = [];
  readonly #states: PlanTensor[] = [];
  readonly #made: PlanTensor[] = [];

  constructor(random: Random, kinds: Kinds, builder = new PlanBuilder()) {
    this.#random = random;
    this.#kinds = kinds;
    this.builder = builder;
  }

  make(steps: number): Plan {
    for (let i = 0; i < 3; i++) this.#given((d, s, e) => this.builder.input(d, s, e), this.#pool);
    for (let i = 0; i < 3; i++) this.#given((d, s, e) => this.builder.state(d, s, e), this.#states);
    for (let i = 0; i < steps; i++) this.#step();
    const outputs = this.#made.filter(() => this.#random(4) === 0);
    this.builder.output(...outputs);
    return this.builder.plan();
  }

  /** Writes a body that returns tensors like the given ones. */
  #body(b: PlanBuilder, inputs: readonly PlanTensor[], like: readonly PlanTensor[]): PlanTensor[] {
    const inner = new Generator(this.#random, { ...this.#kinds, depth: this.#kinds.depth - 1 }, b);
    inner.#pool.push(...inputs);
    inner.#states.push(...this.#states.map((state) => b.shared(this.builder, state)));
    if (inner.#pool.length === 0) inner.#add(b.kernel('Fill', [], 'float64', [2, 3], { value: 2 }));
    for (let i = 1 + this.#random(7); i > 0; i--) inner.#step();
    return like.map((tensor) => inner.#resultLike(tensor));
  }

  /** A result of this plan's calls: one that was made, or a copy of something. */
  #resultLike({ dtype, shape, size }: PlanTensor): PlanTensor {
    const b = this.builder;
    const fits = [...this.#pool, ...this.#states].filter((t) => t.dtype === dtype && t.size === size);
    const made = this.#made.findIndex((t) => t.dtype === dtype && t.size === size);
    if (made >= 0 && this.#random(2) === 0) return view(this.#made.splice(made, 1)[0], shape);
    if (fits.length === 0) return b.kernel('Fill', [], dtype as NumericDType, shape, { value: 1 });
    return b.kernel('Copy', [view(this.#pick(fits), shape)], dtype as NumericDType, shape);
  }

  #some(): PlanTensor[] {
    return Array.from({ length: this.#random(4) }, () => this.#any() ?? this.#pool[0]);
  }

  #branch(): void {
    const b = this.builder;
    const given = this.#some();
    const like = this.#some();
    const bool = this.#random(2) === 0;
    const count = bool ? 2 : 1 + this.#random(3);
    const known = b.kernel('Fill', [], bool ? 'bool' : 'int32', [], { value: this.#random(2) });
    const found = this.#pool.find((t) => t.dtype === known.dtype && t.size === 1);
    const selector = found === undefined || this.#random(4) === 0 ? known : view(found, []);
    const bodies = Array.from(
      { length: count },
      () =>
        (inner: PlanBuilder, ...inputs: readonly PlanTensor[]) =>
          this.#body(inner, inputs, like),
    );
    for (const result of b.branch(selector, given, bodies)) this.#add(result);
  }

  /** Two cheap bodies over tiny tensors. */
  #choice(): void {
    const b = this.builder;
    const x = this.#any(({ dtype, size }) => dtype !== 'bool' && size <= 16);
    if (x === undefined) return;
    const zero = b.kernel('Fill', [], x.dtype as NumericDType, [], { value: 0 });
    const y = this.#any(({ dtype, shape }) => dtype === x.dtype && broadcast(x.shape, shape) !== undefined);
    const given = y !== undefined && sizeOf(broadcast(x.shape, y.shape) ?? []) === x.size ? y : zero;
    const any = this.#pool.find(({ dtype, size }) => dtype === 'bool' && size === 1);
    const selector = any === undefined ? b.kernel('Fill', [], 'bool', [], { value: 1 }) : view(any, []);
    const body = (inner: PlanBuilder, p: PlanTensor, q: PlanTensor): PlanTensor[] => {
      const op = this.#pick(['add', 'mul', 'max'] as const);
      const copied = inner.kernel('Copy', [p], x.dtype as NumericDType, x.shape);
      const made = inner.map((s, v, w) => s[op](v, w), [p, q]);
      const [kept, other] = this.#random(2) === 0 ? [copied, made] : [made, copied];
      return [view(kept, x.shape), inner.map((s, v, w) => s.lt(v, w), [view(other, x.shape), p])];
    };
    if (broadcast(x.shape, given.shape)?.length !== x.shape.length) return;
    for (const result of b.branch(selector, [x, given], [body, body])) this.#add(result);
  }

  /** A loop over some numbers, with a condition of several calls. */
  #count(times: number): void {
    const b = this.builder;
    const numbers = this.#pool.filter(({ dtype, size }) => dtype === 'int32' && size === 1).slice(-3);
    const carried = numbers.map((tensor) => view(tensor, []));
    const start = b.kernel('Fill', [], 'int32', [], { value: 0 });
    const results = b.loop(
      [start, ...carried],
      [],
      (inner, i, ...inputs) => {
        const sum = inputs.reduce((a, v) => inner.map((s, p, q) => s.bitOr(p, q), [a, v]), i);
        const low = inner.map((s, v) => s.ne(s.bitAnd(v, 15), 15), [sum]);
        return inner.map((s, v, w) => s.and(s.lt(v, times), w), [i, low]);
      },
      (inner, i, ...inputs) => {
        const all = [i, ...inputs];
        const next = inputs.map(() => {
          const [x, y] = [this.#pick(all), this.#pick(all)];
          if (this.#random(3) === 0) return inner.kernel('Copy', [x], 'int32', []);
          const op = this.#pick(['add', 'sub', 'mul', 'max'] as const);
          return inner.map((s, v, w) => s[op](v, w), [x, y]);
        });
        return [inner.map((s, v) => s.add(v, 1), [i]), ...next];
      },
    );
    for (const result of results) this.#add(result);
  }

  /** @param times how often a loop runs that ends by nothing else. */
  #loop(
    times: number,
    more: (inner: PlanBuilder, inputs: readonly PlanTensor[]) => void = () => {},
    early = false,
  ): void {
    const b = this.builder;
    const start = b.kernel('Fill', [], 'int32', [], { value: 0 });
    const carried = this.#some();
    const same = this.#some();
    const unchanged = this.#random(carried.length + 1);
    const results = b.loop(
      [start, ...carried],
      same,
      (inner, i, ...inputs) => {
        const more = inner.map((s, v) => s.lt(v, times), [i]);
        const stop = inputs.find((t) => t.dtype === 'bool' && t.size === 1);
        if (stop === undefined || !early) return more;
        return inner.map((s, v, w) => s.and(v, w), [more, view(stop, [])]);
      },
      (inner, i, ...inputs) => {
        more(inner, [i, ...inputs]);
        const next = this.#body(inner, [i, ...inputs], carried);
        if (unchanged < carried.length) {
          const { dtype, shape } = carried[unchanged];
          next[unchanged] = inner.kernel('Copy', [inputs[unchanged]], dtype as NumericDType, shape);
        }
        return [inner.map((s, v) => s.add(v, 1), [i]), ...next];
      },
    );
    for (const result of results) this.#add(result);
  }

  /** A loop that puts something on a stack, and one that takes it off. */
  #loopsWithStack(): void {
    const b = this.builder;
    const stack = b.stack();
    const times = this.#random(4);
    let pushed: PlanTensor | undefined;
    this.#loop(times, (inner, inputs) => {
      pushed = this.#pick(inputs);
      inner.push(pushed, inner.shared(b, stack));
    });
    if (pushed === undefined) return;
    const { dtype, shape } = pushed;
    const start = b.kernel('Fill', [], dtype as NumericDType, shape, { value: 1 });
    const [, sum] = b.loop(
      [b.kernel('Fill', [], 'int32', [], { value: 0 }), start],
      [],
      (inner, i) => inner.map((s, v) => s.lt(v, times), [i]),
      (inner, i, acc) => {
        const popped = inner.pop(inner.shared(b, stack), dtype as NumericDType, shape);
        const next = dtype === 'bool' ? 'xor' : this.#pick(['add', 'max'] as const);
        return [inner.map((s, v) => s.add(v, 1), [i]), inner.map((s, v, w) => s[next](v, w), [acc, popped])];
      },
    );
    this.#add(sum);
  }

  #setRow(): void {
    const b = this.builder;
    const x = this.#any((t) => t.dtype !== 'bool');
    if (x === undefined || x.shape.length === 0) return;
    const dtype = x.dtype as NumericDType;
    const [n, ...rest] = x.shape;
    const row = this.#pool.find((t) => t.dtype === dtype && t.size === sizeOf(rest));
    const index = b.kernel('Fill', [], 'int32', [], { value: this.#random(n) });
    if (row === undefined) return;
    this.#add(b.kernel('SetRow', [x, index, view(row, rest)], dtype, x.shape, { mode: this.#random(2) }));
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#random(list.length)];
  }

  #given(
    make: (dtype: NumericDType, shape: number[], elements: number[]) => PlanTensor,
    to: PlanTensor[],
  ): void {
    const dtype = this.#random(2) === 0 ? this.#pick(this.#kinds.products) : this.#pick(dtypes);
    const shape = this.#pick(shapes);
    const elements = Array.from({ length: sizeOf(shape) }, () => {
      if (dtype === 'bool') return this.#random(2);
      if (dtype === 'uint8') return this.#random(256);
      if (!floating(dtype)) return this.#random(41) - 20;
      return this.#pick([0, -0, 1, this.#random(2000) / 700 - 1.4, this.#random(2000) / 700 - 1.4]);
    });
    to.push(make(dtype, shape, elements));
  }

  /** Some tensor, now and then under another shape. */
  #any(accept: (tensor: PlanTensor) => boolean = () => true): PlanTensor | undefined {
    const from = [
      ...this.#pool.slice(-8),
      ...this.#pool.slice(-3),
      this.#pick(this.#pool),
      this.#pick(this.#states),
    ];
    for (let i = 0; i < 6; i++) {
      const found = this.#pick(from);
      if (!accept(found)) continue;
      const other = this.#pick(shapes);
      return this.#random(3) === 0 && sizeOf(other) === found.size ? view(found, other) : found;
    }
    return undefined;
  }

  #add(tensor: PlanTensor): void {
    this.#pool.push(tensor);
    this.#made.push(tensor);
  }

  #step(): void {
    const b = this.builder;
    const x = this.#any();
    if (x === undefined) return;
    switch (this.#random(this.#kinds.depth > 0 ? 26 : 20)) {
      case 0: {
        const dtype = this.#pick(dtypes);
        const value = this.#pick([0, 1, -0, 0.5, 2, 3]);
        const fitting = dtype === 'bool' ? value & 1 : floating(dtype) ? value : Math.trunc(value);
        this.#add(b.kernel('Fill', [], dtype, this.#pick(shapes), { value: fitting }));
        return;
      }
      case 1: {
        const perm = x.shape.map((_, axis) => axis);
        for (let i = 0; i < perm.length; i++) {
          const j = this.#random(perm.length);
          [perm[i], perm[j]] = [perm[j], perm[i]];
        }
        if (this.#random(2) === 0 && perm.length >= 2)
          perm.sort((p, q) => p - q).push(...perm.splice(-2, 2).reverse());
        this.#add(
          b.kernel(
            'Transpose',
            [x],
            x.dtype as NumericDType,
            perm.map((axis) => x.shape[axis]),
            { perm },
          ),
        );
        return;
      }
      case 2:
        this.#add(b.kernel('Copy', [x], x.dtype as NumericDType, x.shape));
        return;
      case 3: {
        if (x.dtype === 'bool' || x.shape.length === 0) return;
        const axis = this.#random(x.shape.length);
        const kernel = this.#pick(['Sum', 'Max'] as const);
        this.#add(
          b.kernel(kernel, [x], x.dtype as NumericDType, x.shape.toSpliced(axis, 1), { axes: [axis] }),
        );
        return;
      }
      case 4:
      case 5:
      case 6:
        this.#product();
        return;
      case 7:
      case 8:
        this.#update();
        return;
      case 9: {
        this.#add(b.drawn(this.#pick(shapes)));
        return;
      }
      case 10:
        this.#add(b.map((s, v) => s.cast(v, this.#pick(dtypes)), [x]));
        return;
      case 11:
        // Two results of one program.
        if (x.dtype === 'bool') return;
        {
          const outputs = [b.tensor(x.dtype as NumericDType, x.shape), b.tensor('bool', x.shape)];
          const dtype = x.dtype as NumericDType;
          const program = {
            inputs: [dtype],
            instrs: [
              { op: 'neg', dtype, args: [0], value: 0 },
              { op: 'lt', dtype: 'bool', args: [0, 1], value: 0 },
            ],
            outputs: [1, 2],
          } as const;
          b.call(program, [x], outputs);
          for (const output of outputs) this.#add(output);
        }
        return;
      case 19:
        this.#setRow();
        return;
      case 20:
        this.#branch();
        return;
      case 21:
        this.#loop(this.#random(4), undefined, true);
        return;
      case 22:
        this.#loopsWithStack();
        return;
      case 23:
        this.#add(b.logged(x));
        return;
      case 24:
        this.#choice();
        return;
      case 25:
        this.#count(this.#random(4));
        return;
      default:
        this.#elementwise(x);
    }
  }

  #elementwise(x: PlanTensor): void {
    const b = this.builder;
    const y = this.#any((t) => t.dtype === x.dtype && broadcast(t.shape, x.shape) !== undefined) ?? x;
    if (broadcast(x.shape, y.shape) === undefined) return;
    if (this.#random(4) === 0) {
      this.#withConstants(x);
      return;
    }
    if (x.dtype === 'bool') {
      this.#add(b.map((s, p, q) => this.#pick([s.and, s.or, s.xor])(s.not(p), q), [x, y]));
      return;
    }
    const constant = this.#pick([0, 1, 2, 3]);
    const unary = this.#random(3) === 0;
    if (unary && floating(x.dtype)) {
      this.#add(
        b.map((s, v) => this.#pick([s.tanh, s.sigmoid, s.neg, s.abs, s.sqrt])(s.max(v, constant)), [x]),
      );
    } else if (unary) {
      this.#add(b.map((s, v) => this.#pick([s.add, s.sub, s.mul, s.min])(s.neg(v), constant), [x]));
    } else {
      const c = this.#any(
        (t) => t.dtype === 'bool' && broadcast(t.shape, broadcast(x.shape, y.shape) ?? []) !== undefined,
      );
      if (c !== undefined && this.#random(3) === 0) {
        if (broadcast(c.shape, broadcast(x.shape, y.shape) ?? []) === undefined) return;
        this.#add(b.map((s, p, v, w) => s.select(p, v, w), [c, x, y]));
      } else this.#add(b.map((s, v, w) => this.#pick([s.add, s.sub, s.mul, s.max, s.lt])(v, w), [x, y]));
    }
  }

  /** Programs that rules apply to. */
  #withConstants(x: PlanTensor): void {
    const [p, q] = [this.#pick([0, 1]), this.#pick([0, 1, 2, -1])];
    const dtype = x.dtype as NumericDType;
    if (dtype === 'bool') {
      const to = this.#pick(dtypes);
      const one = to === 'bool' || to === 'uint8' ? p : q;
      this.#add(this.builder.map((s, v) => s.select(v, s.constant(one, to), s.constant(1 - p, to)), [x]));
      this.#add(this.builder.map((s, v) => this.#pick([s.and, s.or, s.xor])(s.not(v), p), [x]));
      return;
    }
    const value = dtype === 'uint8' ? Math.abs(q) : q;
    const operand = this.#pick(['add', 'sub', 'mul', 'min', 'max', 'eq', 'lt', 'pow'] as const);
    if (operand === 'pow' && value < 0) return;
    this.#add(this.builder.map((s, v) => s[operand](this.#pick([s.neg, s.abs])(v), value), [x]));
    if (floating(dtype)) this.#add(this.builder.map((s, v) => s.div(v, this.#pick([1, 2, -4, 3])), [x]));
  }

  #product(): void {
    const b = this.builder;
    const x = this.#any((t) => this.#kinds.products.includes(t.dtype as NumericDType) && t.size === 24);
    const y = this.#any((t) => t.size === 24 && t.dtype === x?.dtype);
    if (x === undefined || y === undefined) return;
    const dtype = x.dtype as NumericDType;
    const transposeA = this.#random(2) === 0;
    const transposeB = this.#random(2) === 0;
    // As they are where their shapes fit, so that a transpose before can be seen.
    const matrix = (t: PlanTensor, shape: number[]): PlanTensor =>
      t.shape.length === 2 && t.shape[0] === shape[0] ? t : view(t, shape);
    const left = matrix(x, transposeA ? [4, 6] : [6, 4]);
    const right = matrix(y, transposeB ? [6, 4] : [4, 6]);
    let z = b.kernel('MatMul', [left, right], dtype, [6, 6], { transposeA, transposeB, activation: 0 });
    this.#add(z);
    if (this.#random(2) === 0) {
      const bias = b.kernel('Sum', [view(y, [4, 6])], dtype, [6], { axes: [0] });
      this.#add((z = b.map((s, v, w) => s.add(v, w), [z, bias])));
    }
    if (this.#random(2) === 0) this.#add((z = b.map((s, v) => s.max(v, 0), [z])));
    // Back to what others fit.
    this.#add(b.kernel('Slice', [z], dtype, [6, 4], { begin: [0, 1], strides: [1, 1] }));
  }

  #update(): void {
    const b = this.builder;
    const state = this.#pick(this.#states);
    const x = this.#any((t) => t.dtype === state.dtype && t.value !== state.value);
    if (x === undefined) return;
    if (this.#random(2) === 0 && x.size === state.size) b.call('Copy', [x], [state]);
    else if (state.dtype !== 'bool' && broadcast(x.shape, state.shape)?.length === state.shape.length) {
      if (sizeOf(broadcast(x.shape, state.shape) ?? []) !== state.size) return;
      b.map((s, v, w) => s.add(s.mul(v, 2), w), [state, x], state);
    } else if (floating(state.dtype) && x.size === state.size)
      b.call('ApplyGradientDescent', [state, view(x, state.shape), b.number(0.5)], [state], { count: 1 });
  }
}

function check(
  backend: Backend,
  seed: number,
  kinds: Kinds,
  passes: readonly string[] = planPasses,
): [calls: number, optimized: number] {
  const random = randomFrom(seed);
  const generator = new Generator(random, kinds);
  const plan = generator.make(5 + random(40));
  checkPlan(plan);
  let optimized = plan;
  try {
    optimized = optimizePlan(plan, { passes });
    checkPlan(optimized);
    const { builder } = generator;
    expect(builder.run(backend, optimized)).toEqual(builder.run(backend, plan));
  } catch (cause) {
    const texts = [planToString(plan), planToString(optimized)];
    throw new Error(`seed ${seed}\n${texts.join('\n---\n')}`, { cause });
  }
  return [plan.calls.length, optimized.calls.length];
}

describe('optimizePlan on random plans', () => {
  // There the product's bias is rounded as the separate sum is.
  const products: readonly NumericDType[] = ['float64', 'int32', 'int64'];
  const exact: Kinds = { products, depth: 0 };
  const nested: Kinds = { products, depth: 2 };

  it('changes no bit', () => {
    let before = 0;
    let after = 0;
    for (let seed = 0; seed < 500; seed++) {
      const [calls, optimized] = check(jsBackend, seed, exact);
      before += calls;
      after += optimized;
    }
    expect(after).toBeLessThan(before / 2);
  });

  it('changes no bit of branches, loops, stacks and what the host sees', () => {
    for (let seed = 5000; seed < 5300; seed++) check(jsBackend, seed, nested);
  });

  it('changes no bit of float32 without epilogues', () => {
    const passes = planPasses.filter((name) => name !== 'epilogues');
    for (let seed = 1000; seed < 1200; seed++)
      check(jsBackend, seed, { products: ['float32'], depth: seed % 2 }, passes);
  });

  it.each(planPasses)('changes no bit by %s alone', (name) => {
    for (let seed = 2000; seed < 2150; seed++)
      check(jsBackend, seed, seed % 2 === 0 ? exact : nested, [name]);
  });

  it.runIf(nativeBackend !== undefined)(
    'changes no bit of native results, but those of transposed products',
    () => {
      const passes = planPasses.filter((name) => name !== 'movement');
      for (let seed = 3000; seed < 3300; seed++) {
        const kinds: Kinds = { products: ['float32', 'float64', 'int32'], depth: seed % 3 };
        check(nativeBackend as Backend, seed, kinds, passes);
      }
    },
  );
});
