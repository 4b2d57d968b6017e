import { type Backend, checkPlan, type KernelName, type Plan, type PlanTensor } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { nativeBackend } from '@eagre/backend-native';
import { describe, expect, it } from 'vitest';
import { PlanBuilder, view } from '../testing/plans.ts';
import { recogniseRows } from './rows.ts';

const backends: readonly Backend[] = [jsBackend, ...(nativeBackend === undefined ? [] : [nativeBackend])];

const specials = [1, 2, Number.NaN, 0, -1, Infinity, -Infinity, 3, -Infinity, -Infinity, -Infinity, 7];

/** Plans of rows of three elements, four or so of them. */
class Rows extends PlanBuilder {
  readonly x: PlanTensor;
  readonly shape: readonly number[];

  constructor(shape: readonly number[] = [5, 3], elements: readonly number[] = []) {
    super();
    this.shape = shape;
    const size = shape.reduce((a, b) => a * b, 1);
    this.x = this.input(
      'float32',
      shape,
      Array.from({ length: size }, (_, i) => elements[i] ?? Math.sin(i) * 4),
    );
  }

  over(
    kernel: KernelName,
    x: PlanTensor,
    axes: readonly number[] = [this.shape.length - 1],
    keep = true,
  ): PlanTensor {
    const kept = x.shape.map((n, axis) => (axes.includes(axis) ? 1 : n));
    const dropped = x.shape.filter((_, axis) => !axes.includes(axis));
    return this.kernel(kernel, [x], 'float32', keep ? kept : dropped, { axes });
  }

  exponentials(axes?: readonly number[]): { difference: PlanTensor; e: PlanTensor; sum: PlanTensor } {
    const difference = this.map((s, v, m) => s.sub(v, m), [this.x, this.over('Max', this.x, axes)]);
    const e = this.map((s, v) => s.exp(v), [difference]);
    return { difference, e, sum: this.over('Sum', e, axes) };
  }

  centred(x: PlanTensor = this.x): PlanTensor {
    return this.map((s, v, m) => s.sub(v, m), [x, this.over('Mean', x)]);
  }

  variance(d: PlanTensor): PlanTensor {
    return this.over(
      'Mean',
      this.map((s, v) => s.mul(v, v), [d]),
    );
  }

  /** 1 / √(variance + ε) */
  inverse(d: PlanTensor, epsilon = 0.001): PlanTensor {
    const shifted = this.map((s, v) => s.add(v, epsilon), [this.variance(d)]);
    return this.map((s, v) => s.rsqrt(v), [shifted]);
  }

  scale(x: PlanTensor, by: PlanTensor): PlanTensor {
    return this.map((s, v, w) => s.mul(v, w), [x, by]);
  }

  row(): PlanTensor {
    const n = this.shape.at(-1) as number;
    return this.state(
      'float32',
      [n],
      Array.from({ length: n }, (_, i) => i - 1.5),
    );
  }
}

function kernelsOf(plan: Plan): string[] {
  return plan.calls.map(({ kernel }) => (typeof kernel === 'string' ? kernel : 'map'));
}

/** The kernels of the plan after the pass, which changes results by a few units in the last place only. */
function recognised(b: PlanBuilder): string[] {
  const plan = recogniseRows(b.plan());
  checkPlan(plan);
  for (const backend of backends) {
    const [before, after] = [b.run(backend, b.plan()), b.run(backend, plan)];
    after.outputs.forEach((output, i) => {
      output.forEach((value, j) => {
        const expected = Number(before.outputs[i][j]);
        if (!Number.isFinite(expected)) expect(value).toBe(expected);
        else expect(Math.abs(Number(value) - expected)).toBeLessThan(4e-6 * (1 + Math.abs(expected)));
      });
    });
  }
  return kernelsOf(plan);
}

describe('recogniseRows', () => {
  it('finds softmax, of one axis or several, of vectors too, and whatever the values', () => {
    for (const [shape, axes] of [
      [[5, 3], [1]],
      [
        [2, 4, 3],
        [1, 2],
      ],
      [[4], [0]],
      [[3, 3], [1]],
    ]) {
      const b = new Rows(shape, shape.length === 2 ? specials : []);
      const { e, sum } = b.exponentials(axes);
      b.output(b.map((s, v, w) => s.div(v, w), [e, sum]));
      expect(recognised(b)).toEqual(['Softmax']);
    }
  });

  it('finds log-softmax, and leaves the difference where others read it', () => {
    const b = new Rows([4, 3], specials);
    const { difference, sum } = b.exponentials();
    b.output(b.map((s, v, w) => s.sub(v, s.log(w)), [difference, sum]));
    expect(recognised(b)).toEqual(['LogSoftmax']);

    const c = new Rows();
    const own = c.exponentials();
    const log = c.map((s, v) => s.log(v), [own.sum]);
    c.output(
      own.difference,
      c.map((s, v, w) => s.sub(v, w), [own.difference, log]),
    );
    expect(recognised(c)).toEqual(['Max', 'map', 'LogSoftmax']);
  });

  it('finds layer normalisation with and without scale and offset', () => {
    const make = (scaled: boolean, shifted: boolean, divided: boolean): Rows => {
      const b = new Rows([4, 5]);
      const d = b.centred();
      let y = divided
        ? b.map((s, p, q) => s.div(p, s.sqrt(q)), [d, b.map((s, p) => s.add(0.01, p), [b.variance(d)])])
        : b.scale(b.inverse(d), d);
      if (scaled) y = b.scale(b.row(), y);
      if (shifted) y = b.map((s, p, q) => s.add(p, q), [y, b.row()]);
      b.output(y);
      return b;
    };
    for (const scaled of [false, true]) {
      for (const shifted of [false, true]) {
        for (const divided of [false, true]) {
          const b = make(scaled, shifted, divided);
          expect(recognised(b).filter((name) => name !== 'map')).toEqual(['LayerNorm']);
          const call = recogniseRows(b.plan()).calls.find(({ kernel }) => kernel === 'LayerNorm');
          expect(call?.attrs).toMatchObject({ scaled, shifted });
          expect(call?.attrs['epsilon']).toBeCloseTo(divided ? 0.01 : 0.001);
        }
      }
    }
  });

  it('finds layer normalisation by Moments, which stay where others read the variance', () => {
    const make = (): { b: Rows; mean: PlanTensor; variance: PlanTensor } => {
      const b = new Rows([4, 5]);
      const [mean, variance] = [b.tensor('float32', [4, 1]), b.tensor('float32', [4, 1])];
      b.call('Moments', [b.x], [mean, variance], { axes: [1] });
      const d = b.map((s, v, m) => s.sub(v, m), [b.x, mean]);
      const inverse = b.map((s, v) => s.rsqrt(s.add(v, 0.001)), [variance]);
      b.output(b.map((s, v, w) => s.add(v, w), [b.scale(b.scale(d, inverse), b.row()), b.row()]));
      return { b, mean, variance };
    };
    expect(recognised(make().b)).toEqual(['LayerNorm']);
    const { b, mean } = make();
    b.output(b.map((s, v) => s.neg(v), [mean]));
    expect(recognised(b)).toEqual(['LayerNorm', 'map']);
    const { b: c, variance } = make();
    c.output(variance);
    expect(recognised(c)).toContain('Moments');
    expect(recognised(c)).not.toContain('LayerNorm');
  });

  it('finds normalisation by the root mean square', () => {
    const b = new Rows();
    b.output(b.scale(b.scale(b.x, b.inverse(b.x, 0.5)), b.row()));
    expect(recognised(b)).toEqual(['RMSNorm']);
    // An offset is not a part of it.
    const c = new Rows();
    const y = c.scale(c.inverse(c.x, 0), c.x);
    c.output(c.map((s, v, w) => s.add(v, w), [y, c.row()]));
    expect(recognised(c)).toEqual(['RMSNorm', 'map']);
  });

  it('gives the mean and the inverse deviation to others, as gradients need them', () => {
    const b = new Rows([4, 5]);
    const d = b.centred();
    const inverse = b.inverse(d);
    const normal = b.scale(d, inverse);
    const y = b.scale(normal, b.row());
    b.output(
      y,
      b.map((s, v) => s.neg(v), [normal]),
      b.map((s, v) => s.neg(v), [inverse]),
    );
    b.output(b.map((s, v) => s.mul(v, 2), [d]));
    expect(recognised(b)).toEqual(['LayerNorm', 'map', 'map', 'map', 'map', 'map']);
  });

  it('reads states before they change', () => {
    const b = new Rows();
    const w = b.row();
    b.output(b.scale(b.scale(b.x, b.inverse(b.x)), w));
    b.map((s, v) => s.mul(v, 2), [w], w);
    expect(recognised(b)).toEqual(['RMSNorm', 'map']);

    const c = new Rows();
    const state = c.state('float32', [5, 3], []);
    const most = c.over('Max', state);
    const e = c.map((s, v, m) => s.exp(s.sub(v, m)), [state, most]);
    c.map((s, v) => s.mul(v, 2), [state], state);
    c.output(c.map((s, v, t) => s.div(v, t), [e, c.over('Sum', e)]));
    expect(recogniseRows(c.plan()).calls).toEqual(c.plan().calls);
  });

  const kept = (build: (b: Rows) => void, shape?: readonly number[]): void => {
    const b = new Rows(shape);
    build(b);
    expect(recogniseRows(b.plan()).calls).toEqual(b.plan().calls);
  };
  const quotient = (b: Rows, e: PlanTensor, sum: PlanTensor): PlanTensor =>
    b.map((s, v, w) => s.div(v, w), [e, sum]);

  it('leaves softmax over leading axes, without the maximum, of another sum, and with other readers', () => {
    kept((b) => {
      const { e, sum } = b.exponentials([0]);
      b.output(quotient(b, e, sum));
    });
    kept((b) => {
      const e = b.map((s, v) => s.exp(v), [b.x]);
      b.output(quotient(b, e, b.over('Sum', e)));
    });
    kept((b) => {
      const e = b.map((s, v, m) => s.exp(s.sub(v, m)), [b.x, b.over('Min', b.x)]);
      b.output(quotient(b, e, b.over('Sum', e)));
    });
    kept((b) => b.output(quotient(b, b.exponentials().e, b.over('Max', b.x))));
    kept((b) => {
      const { e } = b.exponentials();
      b.output(quotient(b, e, b.over('Mean', e)));
    });
    kept((b) => {
      const { e, sum } = b.exponentials();
      b.output(
        quotient(b, e, sum),
        b.map((s, v) => s.neg(v), [sum]),
      );
    });
    kept((b) => {
      const { e, sum } = b.exponentials();
      b.output(quotient(b, e, sum), e);
    });
  });

  it('leaves what is broadcast along another axis', () => {
    // Of a square matrix, row maxima without their axis stand under columns.
    kept(
      (b) => {
        const e = b.map((s, v, m) => s.exp(s.sub(v, m)), [b.x, b.over('Max', b.x, [1], false)]);
        b.output(quotient(b, e, b.over('Sum', e)));
      },
      [3, 3],
    );
    kept(
      (b) => {
        const { e, sum } = b.exponentials();
        b.output(quotient(b, e, view(sum, [3])));
      },
      [3, 3],
    );
  });

  it('leaves other normalisations', () => {
    // The deviation from another mean, a sum of squares, a variance that others read, a root of another number.
    kept((b) => {
      const d = b.map((s, v, m) => s.sub(v, m), [b.x, b.over('Max', b.x)]);
      const e = b.centred();
      b.output(b.scale(d, b.inverse(e)));
    });
    kept((b) => {
      const d = b.centred();
      const squares = b.over(
        'Sum',
        b.map((s, v) => s.mul(v, v), [d]),
      );
      b.output(
        b.scale(
          d,
          b.map((s, v) => s.rsqrt(v), [squares]),
        ),
      );
    });
    kept((b) => {
      const d = b.centred();
      const v = b.variance(d);
      b.output(
        b.scale(
          d,
          b.map((s, p) => s.rsqrt(p), [v]),
        ),
        b.map((s, p) => s.neg(p), [v]),
      );
    });
    kept((b) => {
      const d = b.centred();
      b.output(
        b.scale(
          d,
          b.map((s, p) => s.div(2, s.sqrt(p)), [b.variance(d)]),
        ),
      );
    });
    kept((b) => {
      const d = b.centred();
      b.output(
        b.scale(
          d,
          b.map((s, p) => s.sqrt(p), [b.variance(d)]),
        ),
      );
    });
  });
});
