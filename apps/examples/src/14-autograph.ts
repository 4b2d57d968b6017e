// AutoGraph: if, while, for…of, break, continue, return, &&, ||, ! and ?: on tensors become control flow of graphs. Here functions are
// converted at run time, from their text; a build plugin, or `node --import eagre/register`, does it for whole modules.
import * as tf from 'eagre';

const { toCode, toGraph } = tf.autograph;
const v1 = tf.compat.v1;
// A text knows nothing of what is around it: `toGraph` is given what its function uses of outside.
const { constant, GradientTape, print } = tf;

// ---- if and else.

function squareIfPositive(x: tf.Tensor): tf.Tensor {
  let y = x;
  if (x.greater(0)) y = x.mul(x);
  else y = constant(0);
  return y;
}
const tfSquareIfPositive = toGraph(squareIfPositive, { scope: { constant } });
export const eager: number[] = [9, -9].map((x) => tfSquareIfPositive(tf.constant(x)).item());
console.log('eager:', eager);

// The result is like an op: tensors in, tensors out. In a graph it becomes part of it.
export const inSession: number[] = new v1.Graph().asDefault(() => {
  const x = v1.placeholder('float32', []);
  const results = [tfSquareIfPositive(x), tfSquareIfPositive(tf.constant(-9))];
  return new v1.Session().run(results, { feedDict: new Map([[x, 9]]) }).map((t) => t.item());
});
console.log('session:', inSession);

export const code: string = toCode(squareIfPositive);
console.log(code);

// ---- for…of over a tensor with continue: with AutoGraph, and without.

function sumEven(items: tf.Tensor): tf.Tensor {
  let s = constant(0, 'int32');
  for (const c of items) {
    if (c.mod(2).equal(1)) continue;
    s = s.add(c);
  }
  return s;
}
export const sumEvenOn = tf.function(toGraph(sumEven, { scope: { constant } }));
const sumEvenOff = tf.function(sumEven, { autograph: false });
const items = tf.constant([10, 12, 15, 20], 'int32');
console.log('sum:', sumEvenOn(items));

export function refusal(fn: () => unknown): string {
  try {
    fn();
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
}
export const off: string = refusal(() => sumEvenOff(items));
console.log('not converted:', off);

// ---- while, ?:, !, &&: how many steps of Collatz, at most `limit`. One trace serves all numbers.

export const collatz = tf.function(
  toGraph(
    (start: tf.Tensor, limit: tf.Tensor) => {
      let [n, steps] = [start, constant(0, 'int32')];
      while (n.notEqual(1) && !steps.greaterEqual(limit)) {
        n = n.mod(2).equal(0) ? n.floorDiv(2) : n.mul(3).add(1);
        steps = steps.add(1);
      }
      return steps;
    },
    { scope: { constant } },
  ),
);
export const steps: number[] = [12, 27, 97].map((n) =>
  collatz(tf.constant(n, 'int32'), tf.constant(115, 'int32')).item(),
);
console.log('steps:', steps, 'traces:', collatz.experimentalGetTracingCount());

// ---- break, early return, ||: the first row that is far from the origin, or has a negative number.

export const firstOdd = tf.function(
  toGraph((rows: tf.Tensor) => {
    for (const row of rows) {
      if (row.square().sum().greater(25) || row.min().less(0)) return row;
    }
    return rows.mean(0);
  }),
);
export const found = [
  firstOdd(
    tf.constant([
      [1, 2],
      [-1, 3],
      [9, 9],
    ]),
  ),
  firstOdd(
    tf.constant([
      [1, 2],
      [2, 2],
      [3, 2],
    ]),
  ),
].map((row) => row.array());
console.log('found:', found);

// ---- Functions that are called are converted too: the inner one decides for each element.

const clipped = toGraph((x: tf.Tensor) => (x.greater(1) ? x.sqrt() : x));
export const sumClipped = tf.function(
  toGraph(
    (xs: tf.Tensor) => {
      let sum = constant(0);
      for (const x of xs) sum = sum.add(clipped(x));
      return sum;
    },
    { scope: { constant, clipped } },
  ),
);
console.log('clipped:', sumClipped(tf.constant([0.5, 4, 9])));

// ---- Gradients flow through converted loops: x is multiplied by itself until it is large.

const power = tf.function(
  toGraph((x: tf.Tensor) => {
    let y = x;
    while (y.less(100)) y = y.mul(y);
    return y;
  }),
);
export const slope: number = tf.autodiff.grad(power)(3).item();
// 3 → 9 → 81 → 6561 = x⁸, so the derivative is 8x⁷.
console.log('slope:', slope);

// ---- The line search: how often the step is halved depends on values.

export const lineSearchStep = tf.function(
  toGraph(
    (initX: tf.Tensor, initRate: tf.Tensor) => {
      const tape = new GradientTape();
      tape.watch(initX);
      const initValue = initX.square().sum();
      const grad = tape.gradient(initValue, initX, { unconnectedGradients: 'zero' });
      const gradNorm = grad.square().sum();
      let [x, value, rate] = [initX, initValue, initRate];
      while (value.greater(initValue.sub(rate.mul(gradNorm)))) {
        x = initX.sub(rate.mul(grad));
        value = x.square().sum();
        rate = rate.div(2);
      }
      return { x, value };
    },
    { scope: { GradientTape } },
  ),
);
console.log('line search:', lineSearchStep(tf.constant([3, -4]), tf.constant(1)));

// ---- Prints belong to the graph: fizzbuzz at each run, traced once.

export const fizzbuzz = tf.function(
  toGraph(
    (most: tf.Tensor) => {
      for (let n = constant(1, 'int32'); n.lessEqual(most); n = n.add(1)) {
        if (n.mod(15).equal(0)) print('FizzBuzz');
        else if (n.mod(3).equal(0)) print('Fizz');
        else if (n.mod(5).equal(0)) print('Buzz');
        else print(n);
      }
      return most;
    },
    { scope: { constant, print } },
  ),
);
fizzbuzz(tf.constant(15, 'int32'));

// ---- What cannot become part of a graph is refused, with its place.

export const refused: string = refusal(() =>
  tf.function(
    toGraph((x: tf.Tensor) => {
      const list: tf.Tensor[] = [];
      while (x.less(9)) list.push(x);
      return list.length;
    }),
  )(tf.constant(1)),
);
console.log('refused:', refused);
