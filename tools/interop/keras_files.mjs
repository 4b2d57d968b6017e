// Reads Keras's files of models with Eagre, and writes them again as `.keras`, `.weights.h5` and `.h5`; run by keras_files.py.
//     node keras_files.mjs from to
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import '../../packages/backend-js/dist/index.js';
import { registerKerasSerializable } from '../../packages/core/dist/internal.js';
import { Layer, layers, loadModel, Model, Sequential } from '../../packages/layers/dist/index.js';

// The same classes as in tools/golden/keras_model_files.py.
class Scale extends Layer {
  constructor({ by = 2, ...options } = {}) {
    super(options);
    this.by = by;
  }
  build(inputShape) {
    this.w = this.addWeight({ name: 'w', shape: [inputShape.at(-1)], initializer: 'ones' });
    this.calls = this.addWeight({ name: 'calls', shape: [], initializer: 'zeros', trainable: false });
  }
  call(x) {
    return x.mul(this.w).mul(this.by);
  }
  getConfig() {
    return { ...super.getConfig(), by: this.by };
  }
}
class Blocks extends Model {
  constructor({ units = 3, ...options } = {}) {
    super(options);
    const dense = (more) => new layers.Dense(units, more);
    this.units = units;
    this.b = dense({ activation: 'tanh' });
    this.a = dense();
    this._p = dense();
    this.blocks = [dense(), [dense(), this.b], { z: dense(), a: new Scale() }];
    this.head = new Sequential([dense(), new layers.Dense(1)]);
  }
  build() {
    this.bias = this.addWeight({ name: 'bias', shape: [1], initializer: 'zeros' });
  }
  call(given) {
    const [first, [second], { z, a }] = this.blocks;
    let x = this._p(this.a(given).add(this.b(given)));
    for (const layer of [first, second, z, a]) x = layer(x);
    return this.head(x).add(this.bias);
  }
  getConfig() {
    return { ...super.getConfig(), units: this.units };
  }
}
function squash(x) {
  return x.div(x.abs().add(1));
}
for (const object of [Scale, Blocks, squash]) registerKerasSerializable(object, { package: 'files' });

const [from, to] = process.argv.slice(2);
mkdirSync(to, { recursive: true });
console.warn = () => {};
for (const file of readdirSync(from).filter((name) => name.endsWith('.keras'))) {
  const model = await loadModel(join(from, file));
  const name = file.slice(0, -'.keras'.length);
  await model.save(join(to, file));
  await model.saveWeights(join(to, `${name}.weights.h5`));
  await model.saveWeights(join(to, `${name}.weights.json`), { maxShardSize: 4000 / 2 ** 30 });
  await model.save(join(to, `${name}.h5`));
}
