// tf.function: a function of tensors becomes a graph, for each kind of arguments once.
import * as tf from 'eagre';

// ---- A trace for each dtype and shape; host code runs while tracing only.

export const traced: string[] = [];
export const double = tf.function((a: tf.Tensor) => {
  traced.push(`Tracing with ${a.dtype}, shape [${a.shape}]`);
  return a.add(a);
});
console.log(String(double(tf.constant(1, 'int32'))));
console.log(String(double(tf.constant(1.1))));
console.log(String(double(tf.constant([1, 2], 'int32'))));
console.log(String(double(tf.constant(7, 'int32'))));
console.log(traced);

// ---- A signature: other arguments are refused.

export const nextCollatz = tf.function({ inputSignature: [new tf.TensorSpec([null], 'int32')] })(
  (x: tf.Tensor) => tf.where(x.mod(2).equal(0), x.floorDiv(2), x.mul(3).add(1)),
);
console.log(nextCollatz(tf.constant([1, 2, 3, 10], 'int32')));

export function refusals(): string[] {
  return [() => nextCollatz(tf.constant([[1, 2]], 'int32')), () => nextCollatz(tf.constant([1.5]))].map(
    (call) => {
      try {
        call();
        return 'accepted';
      } catch (error) {
        return (error as Error).message;
      }
    },
  );
}
console.log(refusals());

// ---- One trace serves all sizes that are null; a trace can be called by itself.

for (const n of [1, 2, 5]) nextCollatz(tf.range(n, { dtype: 'int32' }));
console.log('traces:', nextCollatz.experimentalGetTracingCount());

export const power = tf.function((a: tf.Tensor, b: tf.Tensor | number) => a.pow(b));
export const square = power.getConcreteFunction(new tf.TensorSpec([null]), 2);
console.log(String(square(tf.constant([3, 4]))), String(square.graph));

// ---- Without a signature: after a second size, one trace serves all.

export const mean = tf.function((x: tf.Tensor) => x.sum().div(tf.shape(x).prod().cast('float32')), {
  reduceRetracing: true,
});
export const means = [2, 3, 4, 5].map((n) => mean(tf.range(n).cast('float32')).item());
console.log('means:', means, 'traces:', mean.experimentalGetTracingCount());

// ---- Variables of their own for each object, made in its first call.

export class Dense extends tf.Module {
  readonly units: number;
  w: tf.Variable | undefined;

  constructor(units: number) {
    super();
    this.units = units;
  }

  readonly call = tf.function((x: tf.Tensor): tf.Tensor => {
    this.w ??= new tf.Variable(tf.random.normal([x.shape.at(-1) as number, this.units]), { name: 'w' });
    return x.matmul(this.w);
  });
}
export const [narrow, wide] = [new Dense(2), new Dense(5)];
console.log('shapes:', narrow.call(tf.ones([1, 3])).shape, wide.call(tf.ones([1, 3])).shape);

// ---- A variable that is made anew at each trace is a mistake.

export function madeAnew(): string {
  const f = tf.function((x: tf.Tensor) => new tf.Variable(1).add(x));
  try {
    f(tf.constant(1));
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
}
console.log(madeAnew());

// ---- tf.print runs at every run.

export const shout = tf.function((x: tf.Tensor) => {
  console.log('traced');
  tf.print('running with', x);
  return x;
});
shout(tf.constant(1));
shout(tf.constant(2));

// ---- Loops of the graph that collect: the states of a recurrent cell; sums along rows.

export const dynamicRnn = tf.function((sequence: tf.Tensor, initial: tf.Tensor) => {
  const steps = sequence.shape[0] as number;
  const [, state, outputs] = tf.whileLoop(
    (t) => t.less(steps),
    (t, state, outputs) => {
      const next = sequence.gather(t).add(state).tanh();
      return [t.add(1), next, outputs.write(t, next)];
    },
    [tf.constant(0, 'int32'), initial, new tf.TensorArray('float32', { size: steps })],
  );
  return { outputs: outputs.stack(), state };
});
export const rnn = dynamicRnn(tf.ones([3, 2]), tf.zeros([2]));
console.log('recurrent cell:', rnn);

export const running = tf.function((x: tf.Tensor) => ({
  sums: tf.scan((total, v) => total.add(v), x),
  squares: tf.mapFn((v) => v.square(), x),
  product: tf.foldl((product, v) => product.mul(v), x),
}))(tf.constant([1, 2, 3, 4]));
console.log('running:', running);
