// Calls, branches and loops.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { cond, switchCase } from '@eagre/graph';
import { argumentsOfBranch, branch, loop, truth } from '../branches.ts';
import { type OpTable, several, type Translate } from '../op-row.ts';
import type { Value } from '../values.ts';
import { vjps } from '../vjp.ts';

const runIf: Translate = (c) => {
  const functions = ['then_branch', 'else_branch'].map(
    (name, i) => (): Value[] => c.runtime.call(c.funcAttr(name).name ?? '', argumentsOfBranch(c, i)),
  );
  return branch(c, functions, ([then, otherwise]) =>
    cond(truth(c.x(0)) as Tensor, then as never, otherwise as never),
  );
};

const runCase: Translate = (c) => {
  const functions = c.funcsAttr('branches').map(
    ({ name = '' }, i) =>
      () =>
        c.runtime.call(name, argumentsOfBranch(c, i)),
  );
  return branch(c, functions, (branches) => switchCase(c.x(0), branches as never));
};

const runWhile: Translate = (c) => {
  const condition = c.funcAttr('cond').name ?? '';
  const body = c.funcAttr('body').name ?? '';
  const shapes = c.shapesAttr('output_shapes');
  return loop(
    c,
    c.inputs,
    (values) => c.runtime.call(condition, values)[0] as Tensor,
    (values) => c.runtime.call(body, values),
    shapes.length > 0 ? shapes : c.shapesAttr('_output_shapes'),
  );
};

/** `for (i = start; i < limit; i += delta)`. */
const runFor: Translate = (c) => {
  const body = c.funcAttr('body').name ?? '';
  const [limit, delta] = [c.x(1), c.x(2)];
  const [, ...results] = loop(
    c,
    [c.x(0), ...c.inputs.slice(3)],
    ([i]) => {
      const at = i as Tensor;
      return tf.where(delta.greater(0), at.less(limit), at.greater(limit));
    },
    ([i, ...values]) => [(i as Tensor).add(delta), ...c.runtime.call(body, [i as Value, ...values])],
    [],
  );
  return results;
};

/** The gradients of a function: its arguments are inputs, and behind them is a gradient for each result. */
const symbolicGradient: Translate = (c) => {
  const name = c.funcAttr('f').name ?? '';
  const count = c.runtime.function(name).body.arguments.length;
  const args = c.xs(0, count);
  const run = (...xs: readonly Tensor[]): Tensor[] =>
    c.runtime.call(name, xs).map((result) => {
      if (result instanceof tf.Tensor) return result;
      throw c.lacks(`'${name}' gives a list or a resource, which has no gradient here`);
    });
  // What a result does not depend on has a gradient of zeros.
  return vjps(run, args, c.xs(count)).map((dx, i) => dx ?? tf.zerosLike(args[i] as Tensor));
};

const bothSides: Translate = (c) => [c.inputs[0] as Value, c.inputs[0] as Value];
const notFed: Translate = (c) => {
  throw c.wrong('the placeholder has no value: it is no input of what was called');
};
const call: Translate = (c) => c.runtime.call(c.funcAttr('f').name ?? '', c.inputs);

export const control: OpTable = {
  PartitionedCall: call,
  StatefulPartitionedCall: call,
  // TensorFlow joins calls of several threads; here each is a batch.
  BatchFunction: call,
  SymbolicGradient: symbolicGradient,
  If: runIf,
  StatelessIf: runIf,
  Case: runCase,
  StatelessCase: runCase,
  While: runWhile,
  StatelessWhile: runWhile,
  For: runFor,
  ToBool: (c) => {
    const value = truth(c.x());
    return typeof value === 'boolean' ? tf.constant(value) : value;
  },
  // Where a branch runs only its side does.
  Switch: several(['output_false', 'output_true'], bothSides),
  RefSwitch: several(['output_false', 'output_true'], bothSides),
  Enter: (c) => c.inputs[0] as Value,
  RefEnter: (c) => c.inputs[0] as Value,
  LoopCond: (c) => c.x(),
  ControlTrigger: () => [],
  Placeholder: notFed,
  PlaceholderV2: notFed,
  Assert: (c) => {
    const known = c.inputs
      .slice(1)
      .filter((v): v is Tensor => v instanceof tf.Tensor && v.dtype === 'string');
    tf.debugging.assertEqual(c.x(0), true, {
      message: known.map((t) => t.strings().join(' ')).join(' ') || `assertion '${c.node.name}' failed`,
    });
  },
  Print: (c) => {
    tf.print(c.textAttr('message', ''), ...c.xs(1));
    return c.inputs[0] as Value;
  },
  PrintV2: (c) => {
    tf.print(c.x());
  },
  Timestamp: () => {
    // Of the run, as a value of the host.
    return tf.hostFunction(() => tf.constant(Date.now() / 1000, 'float64'), [], {
      dtype: 'float64',
      shape: [],
    });
  },
};
