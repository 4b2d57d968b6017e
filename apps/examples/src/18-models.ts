// Four ways to a model: layers in a row, added one by one, a graph of layers, a class.
import * as tf from 'eagre';

const { layers } = tf;

// In a row, one by one.
const model = new tf.Sequential();
model.add(new layers.Dense(4, { inputShape: [10] }));
model.add(new layers.Dense(2));
model.add(new layers.Dense(1));
export const lines: string[] = [];
model.summary({ printFn: (line) => lines.push(line) });
console.log(lines.join('\n'));
(model.layers[0] as tf.keras.Layer).trainable = false;
export const frozen = model.trainableVariables.length;
export const submodules = model.submodules.length;

// A graph of layers, with a shortcut.
const inputs = tf.Input({ shape: [784], name: 'img' });
const hidden = new layers.Dense(64, { activation: 'relu' })(inputs);
const deeper = new layers.Dense(64, { activation: 'relu' })(hidden);
const outputs = new layers.Dense(10, { activation: 'softmax' })(new layers.Add()([hidden, deeper]));
export const functional = new tf.Model({ inputs, outputs, name: 'mnist_model' });
functional.summary();
export const probabilities = functional(tf.zeros([2, 784]));

// A class with blocks inside.
class ConvBlock extends tf.Model {
  conv: tf.keras.Layer;
  bn = new layers.BatchNormalization();
  dropout: tf.keras.Layer;

  constructor(filters: number, kernelSize: number, weightDecay = 1e-4, dropoutRate = 0) {
    super();
    this.conv = new layers.Conv2D(filters, kernelSize, {
      padding: 'same',
      useBias: false,
      kernelInitializer: 'heNormal',
      kernelRegularizer: tf.keras.regularizers.l2(weightDecay),
    });
    this.dropout = new layers.Dropout(dropoutRate);
  }

  override call(x: tf.Tensor): tf.Tensor {
    return this.dropout(tf.nn.relu(this.bn(this.conv(x))));
  }
}

class SimpleCNN extends tf.Model {
  blocks = [new ConvBlock(16, 3), new ConvBlock(32, 3)];
  globalPool = new layers.GlobalAveragePooling2D();
  classifier: tf.keras.Layer;

  constructor(classes: number) {
    super();
    this.classifier = new layers.Dense(classes);
  }

  override call(x: tf.Tensor): tf.Tensor {
    let y = x;
    for (const block of this.blocks) y = block(y);
    return this.classifier(this.globalPool(y));
  }
}
export const cnn = new SimpleCNN(10);
export const logits = cnn(tf.ones([4, 32, 32, 3]));
console.log(
  'layers of the class:',
  cnn.layers.map((l) => l.name),
);

// Compiled, trained, evaluated, asked.
tf.random.setSeed(5);
const x = tf.random.normal([512, 2]);
const labels = x.mul(x).sum(1).greater(1.4).cast('int32');
class Circle extends tf.Sequential {
  constructor() {
    super([new layers.Dense(16, { activation: 'tanh' }), new layers.Dense(2)]);
  }
}
const circle = new Circle();
circle.compile({
  optimizer: new tf.optimizers.Adam({ learningRate: 0.02 }),
  loss: new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true }),
  metrics: ['accuracy'],
});
export const history = await circle.fit(x, labels, {
  epochs: 40,
  batchSize: 64,
  validationSplit: 0.2,
  verbose: 0,
  callbacks: [new tf.keras.callbacks.EarlyStopping({ monitor: 'val_loss', patience: 10 })],
});
export const evaluated = await circle.evaluate(x, labels, { verbose: 0 });
export const predicted = await circle.predict(x.at('0:3'));
console.log('evaluated:', evaluated, 'predicted:', predicted);
