// tf.Module: a class with variables, and functions of its own that run as graphs.
import * as tf from 'eagre';

// ---- A module finds its variables, and names them and the nodes of its graphs after itself.

export class DemoModule extends tf.Module {
  readonly x: tf.Variable;

  constructor(initial: tf.TensorLike = 0, name?: string) {
    super({ name });
    this.x = this.nameScope(() => new tf.Variable(initial, { trainable: true }));
  }

  // biome-ignore format: esbuild, which runs the examples, takes no keyword in a decorator without parentheses.
  @(tf.function({ inputSignature: [new tf.TensorSpec([], 'float32')] }))
  addPrint(a: tf.TensorLike): tf.Tensor {
    return this.nameScope(() => {
      this.x.assignAdd(a);
      tf.print(this.x);
      return this.x.read();
    });
  }
}

export const demo = new DemoModule(1);
export const result = demo.addPrint(5);
console.log('result:', result);
console.log(
  'variables:',
  demo.variables,
  'trainable:',
  demo.trainableVariables,
  'submodules:',
  demo.submodules,
);

// ---- The graph shows the module's name, for TensorBoard or as text.

export const addPrint = (demo.addPrint as tf.TracedFunction<DemoModule['addPrint']>).getConcreteFunction(5);
console.log(String(addPrint.graph));

// ---- Modules in modules: in arrays, maps and objects.

export class Dense extends tf.Module {
  readonly units: number;
  w: tf.Variable | undefined;
  b: tf.Variable | undefined;

  constructor(units: number, name?: string) {
    super({ name });
    this.units = units;
  }

  @tf.Module.withNameScope
  apply(x: tf.Tensor): tf.Tensor {
    this.w ??= new tf.Variable(tf.random.normal([x.shape[1] as number, this.units]), { name: 'w' });
    this.b ??= new tf.Variable(tf.zeros([this.units]), { name: 'b' });
    return tf.nn.relu(x.matmul(this.w).add(this.b));
  }
}

export class Mlp extends tf.Module {
  readonly layers = this.nameScope(() => [new Dense(4, 'first'), new Dense(2, 'second')]);
  readonly steps = new tf.Variable(0, { trainable: false, name: 'steps' });

  // biome-ignore format: see above
  @(tf.function)
  @tf.Module.withNameScope
  call(x: tf.Tensor): tf.Tensor {
    this.steps.assignAdd(1);
    return this.layers.reduce((y, layer) => layer.apply(y), x);
  }
}

// Each object has variables and traces of its own.
export const [small, large] = [new Mlp(), new Mlp()];
small.call(tf.ones([1, 3]));
large.call(tf.ones([1, 30]));
large.call(tf.ones([1, 30]));
console.log(small.variables.map((v) => `${v.name} ${v.shape}`));

// ---- Attributes from outside, also functions.

export const mine = new tf.Module() as tf.Module & {
  x: tf.Variable;
  addPrint: (a: tf.TensorLike) => tf.Tensor;
};
mine.x = new tf.Variable(0);
mine.addPrint = tf.function({ inputSignature: [new tf.TensorSpec([], 'float32')] })((a: tf.TensorLike) => {
  mine.x.assignAdd(a);
  tf.print(mine.x);
  return mine.x.read();
});
mine.addPrint(1);
mine.addPrint(2);
console.log(mine.variables);

// ---- Layers and models are modules.

export const model = new tf.Sequential([
  new tf.layers.Dense(4, { inputShape: [10] }),
  new tf.layers.Dense(2),
  new tf.layers.Dense(1),
]);
model.summary();
(model.layers[0] as tf.keras.Layer).trainable = false;
console.log(`${model.variables.length} variables, ${model.trainableVariables.length} of them trainable`);
console.log(model.submodules.map((m) => m.name));
