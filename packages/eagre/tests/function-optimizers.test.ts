import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const { optimizers } = tf;
const makers: readonly (() => tf.optimizers.Optimizer)[] = [
  () => new optimizers.SGD(0.1, { momentum: 0.9, nesterov: true }),
  () => new optimizers.SGD({ learningRate: (step) => 0.2 / (1 + step) }),
  () => new optimizers.Adam(0.1),
  () => new optimizers.Adam({ learningRate: 0.1, useEma: true, emaMomentum: 0.7, emaOverwriteFrequency: 2 }),
  () => new optimizers.Adam(0.1, { gradientAccumulationSteps: 2 }),
  () => new optimizers.Nadam(0.1, { gradientAccumulationSteps: 3, useEma: true }),
  () => new optimizers.AdamW(0.1, { weightDecay: 0.05 }),
  () => new optimizers.Adamax(0.1),
  () => new optimizers.Nadam(0.1),
  () => new optimizers.RMSprop({ learningRate: (step) => 0.1 * 0.5 ** step }),
  () => new optimizers.Adagrad(0.1),
  () => new optimizers.Adadelta(1),
  () => new optimizers.Adafactor(0.1),
  () => new optimizers.Ftrl(0.1),
  () => new optimizers.Lion(0.1),
  () => new optimizers.Lamb(0.1),
  () => new optimizers.Muon(0.1),
  () => new optimizers.ScheduleFreeAdamW(0.1, { warmupSteps: 4 }),
  () => new optimizers.MultiOptimizer(new optimizers.OptimizerMap(new optimizers.Adam(0.1))),
];

type Code = (n: tf.Tensor) => tf.Tensor;
type Program = (update: () => void, optimizer: tf.optimizers.Optimizer, w: tf.Variable) => Code;

function times(n: tf.Tensor, update: () => void): void {
  tf.whileLoop(
    (i) => i.less(n),
    (i) => {
      update();
      return [i.add(1)] as const;
    },
    [tf.constant(0, 'int32')] as const,
  );
}

const programs: Readonly<Record<string, Program>> = {
  'several in a row': (update, _, w) => () => {
    update();
    update();
    return w.read();
  },
  'in a loop, ahead of it and behind it': (update, _, w) => (n) => {
    update();
    times(n, update);
    update();
    return w.read();
  },
  'in a branch and behind it': (update, _, w) => (n) => {
    tf.cond(
      n.greater(1),
      () => {
        update();
        return [];
      },
      () => [],
    );
    update();
    return w.read();
  },
  'behind an assignment to the iterations': (update, optimizer, w) => () => {
    update();
    optimizer.iterations.assign(5n);
    update();
    return w.read();
  },
  'in a function that is called twice': (update, _, w) => {
    const inner = tf.function(() => {
      update();
      update();
      return w.read();
    });
    return () => {
      inner();
      return inner();
    };
  },
  'in a function that is called in a loop': (update, _, w) => {
    const inner = tf.function(() => {
      update();
      update();
      return w.read();
    });
    return (n) => {
      times(n, () => inner());
      return w.read();
    };
  },
};

type Run = (code: Code, n: tf.Tensor) => tf.Tensor | Promise<tf.Tensor>;

/** What the variable is after some runs. */
async function after(make: () => tf.optimizers.Optimizer, program: Program, run: Run): Promise<number[]> {
  const optimizer = make();
  const w = new tf.Variable([1, -0.5]);
  optimizer.build([w]);
  const update = (): void => {
    const tape = new tf.GradientTape();
    const loss = w.square().sum();
    optimizer.applyGradients(tape.gradient(loss, [w]), [w]);
  };
  const code = program(update, optimizer, w);
  const found: number[] = [];
  for (const n of [3, 1, 2])
    found.push(...((await run(code, tf.constant(n, 'int32'))).data() as Float32Array));
  return [...found, Number(optimizer.iterations.item())];
}

function runs(): Readonly<Record<string, () => Run>> {
  const traced = (use: (f: tf.TracedFunction<Code>, n: tf.Tensor) => ReturnType<Run>) => (): Run => {
    let f: tf.TracedFunction<Code> | undefined;
    return (code, n) => use((f ??= tf.function(code)), n);
  };
  return {
    traced: traced((f, n) => f(n)),
    'on another thread': traced((f, n) => f.runAsync(n)),
    'under a tape': traced((f, n) => {
      using _ = new tf.GradientTape();
      return f(n);
    }),
    'under two tapes': traced((f, n) => {
      using _ = new tf.GradientTape();
      using __ = new tf.GradientTape();
      return f(n);
    }),
  };
}

describe.each(Object.keys(programs))('updates %s', (name) => {
  test.each(Object.keys(runs()))('are of their steps: %s', async (how) => {
    const program = programs[name] as Program;
    for (const make of makers) {
      tf.config.runFunctionsEagerly(true);
      const expected = await after(make, program, (code, n) => code(n)).finally(() =>
        tf.config.runFunctionsEagerly(false),
      );
      const found = await after(make, program, (runs()[how] as () => Run)());
      expect(found).toHaveLength(expected.length);
      found.forEach((v, i) => {
        expect(v, `${make().name}, value ${i}`).toBeCloseTo(expected[i] as number, 4);
      });
    }
  });
});

const schedules: Readonly<Record<string, tf.optimizers.schedules.LearningRateSchedule>> = {
  exponential: new optimizers.schedules.ExponentialDecay(0.3, 7, 0.9),
  staircase: new optimizers.schedules.ExponentialDecay(0.3, 7, 0.9, { staircase: true }),
  inverseTime: new optimizers.schedules.InverseTimeDecay(0.3, 7, 0.5),
  piecewise: new optimizers.schedules.PiecewiseConstantDecay([3, 10], [0.3, 0.2, 0.1]),
  polynomial: new optimizers.schedules.PolynomialDecay(0.3, 10, { power: 2 }),
  cycle: new optimizers.schedules.PolynomialDecay(0.3, 10, { cycle: true }),
  cosine: new optimizers.schedules.CosineDecay(0.3, 20, { alpha: 0.1 }),
  warmup: new optimizers.schedules.CosineDecay(0.1, 20, { warmupTarget: 0.3, warmupSteps: 5 }),
  restarts: new optimizers.schedules.CosineDecayRestarts(0.3, 3, { mMul: 0.8, alpha: 0.1 }),
  'equal periods': new optimizers.schedules.CosineDecayRestarts(0.3, 3, { tMul: 1 }),
  'odd periods': new optimizers.schedules.CosineDecayRestarts(0.3, 4, { tMul: 1.5 }),
};

/** The learning rates of steps, in a function that is traced once, and what there is in its graph. */
function ratesOf(
  learningRate: tf.optimizers.LearningRate,
  steps: readonly number[],
): { readonly rates: number[]; readonly host: boolean } {
  const optimizer = new optimizers.SGD(learningRate);
  const w = new tf.Variable(tf.constant(0, 'float64'));
  optimizer.build([w]);
  const f = tf.function(() => {
    w.assign(tf.constant(0, 'float64'));
    optimizer.applyGradients([tf.constant(-1, 'float64')], [w]);
  });
  const rates = steps.map((step) => {
    optimizer.iterations.assign(BigInt(step));
    f();
    return w.item() as number;
  });
  return { rates, host: f.getConcreteFunction().graph.nodes.some(({ what }) => what.kind === 'host') };
}
const steps = Array.from({ length: 64 }, (_, i) => i);

test.each(Object.keys(schedules))('a schedule is part of the graph: %s', (name) => {
  const schedule = schedules[name] as tf.optimizers.schedules.LearningRateSchedule;
  const { rates, host } = ratesOf(schedule, steps);
  expect(host).toBe(false);
  rates.forEach((rate, step) => {
    expect(rate, `step ${step}`).toBeCloseTo(schedule(step), 13);
  });
});

class Halves extends optimizers.schedules.LearningRateSchedule {
  readonly base = 0.5;
  override call(step: number): number {
    return step === 2 ? 0 : this.base ** (step + 1);
  }
  override getConfig(): Record<string, unknown> {
    return {};
  }
}
class TracedHalves extends Halves {
  override call(step: number): number {
    return super.call(step);
  }
  override trace(step: tf.Tensor): tf.Tensor {
    return tf.where(step.equal(2), tf.constant(0, 'float64'), tf.pow(this.base, step.add(1)));
  }
}
class Doubled extends TracedHalves {
  override call(step: number): number {
    return 2 * super.call(step);
  }
}
class LaterCosine extends optimizers.schedules.CosineDecay {
  override call(step: number): number {
    return step < 5 ? 1 : super.call(step - 5);
  }
}

test('a schedule of the user is part of the graph by its trace; the host is asked for others', () => {
  const cases = [
    [new TracedHalves(), false],
    [new Halves(), true],
    [new Doubled(), true],
    [new LaterCosine(0.3, 20), true],
    [(step: number) => 1 / (1 + step), true],
  ] as const;
  for (const [schedule, asked] of cases) {
    const { rates, host } = ratesOf(schedule, [0, 1, 2, 3, 4, 5, 6, 7]);
    expect(host, schedule.constructor.name).toBe(asked);
    rates.forEach((rate, step) => {
      expect(rate, `${schedule.constructor.name}, step ${step}`).toBeCloseTo(schedule(step), 14);
    });
  }
});

test('a trace that gives no scalar is refused', () => {
  class Wrong extends Halves {
    override call(step: number): number {
      return super.call(step);
    }
    override trace(step: tf.Tensor): tf.Tensor {
      return step.add([1, 2]);
    }
  }
  expect(() => ratesOf(new Wrong(), [0])).toThrow(
    /trace\(\) of a learning rate schedule must return a float scalar/,
  );
});

test('what changes from step to step costs a few calls for single numbers', () => {
  const cases = [
    [new optimizers.SGD(0.1), 2],
    [new optimizers.Adam(0.1), 3],
    [new optimizers.Adam(schedules['cosine']), 4],
  ] as const;
  for (const [optimizer, calls] of cases) {
    const w = new tf.Variable([1, 2]);
    optimizer.build([w]);
    const f = tf.function((g: tf.Tensor) => {
      optimizer.applyGradients([g], [w]);
    });
    expect(f.getConcreteFunction(tf.constant([1, 2])).planText()).toContain(`\n${calls} calls, `);
  }
});

test('a learning rate is as exact in a graph as outside of it', () => {
  for (const rate of [0.1, 0.25, 1e-3]) expect(ratesOf(rate, [0, 1]).rates).toEqual([rate, rate]);
});

test('a learning rate that a function changes counts from there on', () => {
  const optimizer = new optimizers.SGD(1);
  const w = new tf.Variable(0);
  const f = tf.function(() => {
    optimizer.applyGradients([tf.constant(1)], [w]);
    optimizer.learningRate = 10;
    optimizer.applyGradients([tf.constant(1)], [w]);
  });
  optimizer.build([w]);
  f();
  expect(w.item()).toBe(-11);
  optimizer.learningRate = 100;
  f();
  expect(w.item()).toBe(-121);
});
