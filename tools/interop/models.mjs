// Reads Keras's JSON of models with Eagre, and prints what Eagre writes of them; run by models.py.
import { readFileSync } from 'node:fs';
import '../../packages/backend-js/dist/index.js';
import { registerKerasSerializable } from '../../packages/core/dist/internal.js';
import { Layer, layers, Model, modelFromJSON } from '../../packages/layers/dist/index.js';

// The same classes as in tools/golden/models.py.
class Scaled extends Layer {
  constructor({ by, ...options }) {
    super(options);
    this.by = by;
  }
  call(x) {
    return x.mul(this.by);
  }
  getConfig() {
    return { ...super.getConfig(), by: this.by };
  }
}
class Perceptron extends Model {
  constructor({ units, activation = 'relu', ...options }) {
    super(options);
    this.units = units;
    this.activation = activation;
    this.hidden = new layers.Dense(units, { activation });
  }
  call(x) {
    return this.hidden(x);
  }
  getConfig() {
    return { ...super.getConfig(), units: this.units, activation: this.activation };
  }
}
for (const Class of [Scaled, Perceptron]) registerKerasSerializable(Class, { package: 'mine' });

const golden = JSON.parse(
  readFileSync(new URL('../../packages/eagre/golden/models.json', import.meta.url), 'utf8'),
);
const written = golden.models.map(({ name, json }) => [name, modelFromJSON(JSON.stringify(json)).toJSON()]);
console.log(JSON.stringify(Object.fromEntries(written)));
