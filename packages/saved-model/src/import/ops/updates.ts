// The updates of optimizers, as TensorFlow's ops have them: of whole variables, and of the rows that a gradient is for.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import type { OpCall } from '../op-call.ts';
import type { OpTable, Translate } from '../op-row.ts';
import type { VariableHandle } from '../values.ts';

interface Method {
  /** How many variables hold its state, behind the one that it changes. */
  readonly slots: number;
  /** The other inputs, in the order of the ops. */
  readonly inputs: string;
  /** The forms that TensorFlow has. */
  readonly forms: readonly Form[];
  /** The next values of the variable and of its state. */
  readonly next: (
    state: readonly Tensor[],
    given: Readonly<Record<string, Tensor>>,
    c: OpCall,
  ) => readonly Tensor[];
}
type Form = 'Apply' | 'ResourceApply' | 'SparseApply' | 'ResourceSparseApply';
const DENSE: readonly Form[] = ['Apply', 'ResourceApply'];
const ALL: readonly Form[] = [...DENSE, 'SparseApply', 'ResourceSparseApply'];

const rest = (x: Tensor): Tensor => tf.onesLike(x).sub(x);
/** Moves a mean towards a value: `share` of it stays. */
const moved = (mean: Tensor, to: Tensor, share: Tensor): Tensor => mean.add(to.sub(mean).mul(rest(share)));
/** Towards zero by `by`, and not beyond. */
const shrunk = (x: Tensor, by: Tensor): Tensor => x.sign().mul(tf.maximum(x.abs().sub(by), 0));
const nesterov = (c: OpCall): boolean => c.boolAttr('use_nesterov', false);

type State = readonly [Tensor, Tensor, Tensor, Tensor];
type Given = Readonly<Record<string, Tensor>> & { readonly [name in Name]: Tensor };
type Name =
  | 'lr'
  | 'grad'
  | 'momentum'
  | 'epsilon'
  | 'rho'
  | 'l1'
  | 'l2'
  | 'beta1'
  | 'beta2'
  | 'beta1Power'
  | 'beta2Power'
  | 'beta'
  | 'decay'
  | 'alpha'
  | 'power'
  | 'logBase'
  | 'step'
  | 'shrinkage';

const method = (
  slots: number,
  inputs: string,
  forms: readonly Form[],
  next: (state: State, given: Given, c: OpCall) => readonly Tensor[],
): Method => ({ slots, inputs, forms, next: next as never });

const adam = (inputs: string, forms: readonly Form[], isMax: boolean): Method =>
  method(isMax ? 3 : 2, inputs, forms, ([x, m, v, most], g, c) => {
    const alpha = g.lr.mul(rest(g.beta2Power).sqrt()).div(rest(g.beta1Power));
    const nextM = moved(m, g.grad, g.beta1);
    const nextV = moved(v, g.grad.square(), g.beta2);
    const top = nesterov(c) ? nextM.mul(g.beta1).add(g.grad.mul(rest(g.beta1))) : nextM;
    const nextMost = isMax ? [tf.maximum(most, nextV)] : [];
    const scale = (nextMost[0] ?? nextV).sqrt().add(g.epsilon);
    return [x.sub(top.mul(alpha).div(scale)), nextM, nextV, ...nextMost];
  });

const ftrl = (inputs: string): Method =>
  method(2, inputs, ALL, ([x, sum, linear], g, c) => {
    const byRate = c.boolAttr('multiply_linear_by_lr', false);
    const slope = g.shrinkage === undefined ? g.grad : g.grad.add(x.mul(g.shrinkage).mul(2));
    const nextSum = sum.add(g.grad.square());
    const scale = (s: Tensor): Tensor => s.pow(g.power.neg());
    const rate = byRate ? tf.onesLike(g.lr) : g.lr;
    const sigma = scale(nextSum).sub(scale(sum)).div(rate);
    const nextLinear = linear.add(byRate ? slope.mul(g.lr) : slope).sub(sigma.mul(x));
    const [l1, l2] = byRate ? [g.l1.mul(g.lr), g.l2.mul(g.lr)] : [g.l1, g.l2];
    const top = shrunk(nextLinear, l1).neg();
    return [top.div(scale(nextSum).div(rate).add(l2.mul(2))), nextSum, nextLinear];
  });

const signed = (inputs: string, factor: (g: Given, sign: Tensor) => Tensor): Method =>
  method(1, inputs, DENSE, ([x, m], g) => {
    const nextM = m.mul(g.beta).add(g.grad.mul(rest(g.beta)));
    return [x.sub(g.lr.mul(factor(g, g.grad.sign().mul(nextM.sign()))).mul(g.grad)), nextM];
  });

const METHODS: Readonly<Record<string, Method>> = {
  GradientDescent: method(0, 'lr grad', DENSE, ([x], { lr, grad }) => [x.sub(lr.mul(grad))]),
  ProximalGradientDescent: method(0, 'lr l1 l2 grad', ALL, ([x], { lr, l1, l2, grad }) => [
    shrunk(x.sub(lr.mul(grad)), lr.mul(l1)).div(l2.mul(lr).add(1)),
  ]),
  Momentum: method(1, 'lr grad momentum', ALL, ([x, v], { lr, grad, momentum }, c) => {
    const next = v.mul(momentum).add(grad);
    return [x.sub((nesterov(c) ? grad.add(next.mul(momentum)) : next).mul(lr)), next];
  }),
  KerasMomentum: method(
    1,
    'lr grad momentum',
    ['ResourceApply', 'ResourceSparseApply'],
    ([x, v], { lr, grad, momentum }, c) => {
      const step = lr.mul(grad);
      const next = v.mul(momentum).sub(step);
      return [x.add(nesterov(c) ? next.mul(momentum).sub(step) : next), next];
    },
  ),
  Adagrad: method(1, 'lr grad', ALL, ([x, sum], { lr, grad }, c) => {
    const next = c.boolAttr('update_slots', true) ? sum.add(grad.square()) : sum;
    return [x.sub(grad.mul(lr).div(next.sqrt())), next];
  }),
  AdagradV2: method(1, 'lr epsilon grad', ALL, ([x, sum], { lr, epsilon, grad }, c) => {
    const next = c.boolAttr('update_slots', true) ? sum.add(grad.square()) : sum;
    return [x.sub(grad.mul(lr).div(next.sqrt().add(epsilon))), next];
  }),
  AdagradDA: method(2, 'grad lr l1 l2 step', ALL, ([, sum, squares], { grad, lr, l1, l2, step }) => {
    const [nextSum, nextSquares] = [sum.add(grad), squares.add(grad.square())];
    const steps = tf.cast(step, grad.dtype);
    const top = shrunk(nextSum, l1.mul(steps)).mul(lr).neg();
    return [top.div(l2.mul(steps).mul(lr).add(nextSquares.sqrt())), nextSum, nextSquares];
  }),
  ProximalAdagrad: method(1, 'lr l1 l2 grad', ALL, ([x, sum], { lr, l1, l2, grad }) => {
    const next = sum.add(grad.square());
    const rate = lr.div(next.sqrt());
    return [shrunk(x.sub(rate.mul(grad)), rate.mul(l1)).div(l2.mul(rate).add(1)), next];
  }),
  Adadelta: method(2, 'lr rho epsilon grad', ALL, ([x, sum, steps], { lr, rho, epsilon, grad }) => {
    const next = sum.mul(rho).add(grad.square().mul(rest(rho)));
    const step = steps.add(epsilon).sqrt().div(next.add(epsilon).sqrt()).mul(grad);
    return [x.sub(lr.mul(step)), next, steps.mul(rho).add(step.square().mul(rest(rho)))];
  }),
  RMSProp: method(2, 'lr rho momentum epsilon grad', ALL, ([x, ms, mom], g) => {
    const nextMs = moved(ms, g.grad.square(), g.rho);
    const nextMom = mom.mul(g.momentum).add(g.grad.mul(g.lr).div(nextMs.add(g.epsilon).sqrt()));
    return [x.sub(nextMom), nextMs, nextMom];
  }),
  CenteredRMSProp: method(3, 'lr rho momentum epsilon grad', ALL, ([x, mg, ms, mom], g) => {
    const [nextMg, nextMs] = [moved(mg, g.grad, g.rho), moved(ms, g.grad.square(), g.rho)];
    const scale = nextMs.sub(nextMg.square()).add(g.epsilon).sqrt();
    const nextMom = mom.mul(g.momentum).add(g.grad.mul(g.lr).div(scale));
    return [x.sub(nextMom), nextMg, nextMs, nextMom];
  }),
  Adam: adam('beta1Power beta2Power lr beta1 beta2 epsilon grad', DENSE, false),
  AdamWithAmsgrad: adam('beta1Power beta2Power lr beta1 beta2 epsilon grad', ['ResourceApply'], true),
  AdaMax: method(2, 'beta1Power lr beta1 beta2 epsilon grad', DENSE, ([x, m, v], g) => {
    const nextM = moved(m, g.grad, g.beta1);
    const nextV = tf.maximum(g.beta2.mul(v), g.grad.abs());
    return [x.sub(g.lr.div(rest(g.beta1Power)).mul(nextM.div(nextV.add(g.epsilon)))), nextM, nextV];
  }),
  Ftrl: ftrl('grad lr l1 l2 power'),
  FtrlV2: ftrl('grad lr l1 l2 shrinkage power'),
  PowerSign: signed('lr logBase decay beta grad', (g, sign) => g.logBase.mul(g.decay).mul(sign).exp()),
  AddSign: signed('lr alpha decay beta grad', (g, sign) => g.alpha.add(g.decay.mul(sign))),
};

/** The op of a method. Rows come once: TensorFlow's optimizers add up the gradients of each row first. */
const op =
  ({ slots, inputs, next }: Method, isSparse: boolean): Translate =>
  (c) => {
    const variables = Array.from({ length: slots + 1 }, (_, i) => c.variable(i));
    const names = (isSparse ? inputs.replace('grad', 'grad indices') : inputs).split(' ');
    const given = Object.fromEntries(names.map((name, i) => [name, c.x(slots + 1 + i)]));
    const { indices } = given;
    const values = variables.map((v) => v.read());
    const state = indices === undefined ? values : values.map((x) => tf.gather(x, indices));
    next(state, given, c).forEach((x, i) => {
      const whole = values[i] as Tensor;
      const value =
        indices === undefined ? x : tf.tensorScatterNdUpdate(whole, tf.expandDims(indices, -1), x);
      variables[i]?.assign(value);
    });
    return c.inputs[0] as VariableHandle;
  };

export const updates: OpTable = Object.fromEntries(
  Object.entries(METHODS).flatMap(([name, method]) =>
    method.forms.map((form) => [form + name, op(method, form.includes('Sparse'))]),
  ),
);
