import { describe, expect, it } from 'vitest';
import { differenceOf } from '../strategy/alike.ts';
import { heads, runWorkers, withoutGloo } from '../testing/processes.ts';

const tf = await heads.tf();

describe.skipIf(withoutGloo !== undefined)('processes that train together', () => {
  it('say what one of them was told that the others were not, before they train', async () => {
    const out = await runWorkers(
      2,
      `${tf}
      const strategy = new tf.distribute.MultiWorkerMirroredStrategy();
      await strategy.connect({ timeoutSeconds: 240 });
      const second = strategy.collectives.rank === 1;
      const print = (value) => console.log(JSON.stringify(value));
      const x = tf.ones([8, 2]);
      const y = tf.ones([8, 1]);
      const attempt = async (fit, { activation = null, ...compile } = {}, units = 3) => {
        // The second process has made other models before.
        const model = strategy.scope(() => {
          const model = new tf.Sequential([new tf.layers.Dense(3, { activation, inputShape: [2] }), new tf.layers.Dense(1)]);
          model.compile({ optimizer: new tf.optimizers.SGD(0), loss: 'mse', ...compile });
          return model;
        });
        const before = model.getWeights().map((w) => w.array());
        try {
          await model.fit(x, y, { verbose: 0, ...fit });
          print('fits');
        } catch (error) {
          print([error.name, error.message, JSON.stringify(model.getWeights().map((w) => w.array())) === JSON.stringify(before)]);
        }
      };
      if (second) new tf.layers.Dense(1);
      await attempt({});
      await attempt({ batchSize: second ? 4 : 2 });
      await attempt({ epochs: second ? 2 : 1 });
      await attempt({ batchSize: 2, stepsPerEpoch: second ? 2 : 3 });
      await attempt({ classWeight: { 0: 1, 1: second ? 2 : 1 } });
      await attempt({}, { loss: second ? 'mae' : 'mse' });
      await attempt({}, { optimizer: new tf.optimizers.SGD(second ? 0.5 : 0.25) });
      await attempt({}, { activation: second ? 'relu' : 'tanh' });
      await attempt({ validationData: second ? undefined : [x, y] });
      await attempt({});
      const warned = [];
      console.warn = (text) => warned.push(text);
      const model = strategy.scope(() => {
        const model = new tf.Sequential([new tf.layers.Dense(1, { inputShape: [2] })]);
        model.compile({ optimizer: 'sgd', loss: 'mse' });
        return model;
      });
      await model.fit(tf.data.Dataset.fromTensorSlices([x, y]).take(second ? 4 : 8).batch(2), { verbose: 0 });
      print(warned);
      await strategy.close();`,
    );
    const [first, second] = out.map((text) => text.split('\n').map((line) => JSON.parse(line) as unknown));
    expect(second).toEqual(first);
    const differs = (place: string, one: string, two: string): unknown => [
      'InvalidArgumentError',
      expect.stringMatching(
        new RegExp(
          `the processes must be told the same: ${place} is ${one} on worker 0 \\(.*\\), but ${two} on worker 1 \\(`,
        ),
      ),
      true,
    ];
    expect(first).toEqual([
      'fits',
      differs('batchSize', '2', '4'),
      differs('epochs', '1', '2'),
      differs('stepsPerEpoch', '3', '2'),
      differs('classWeight\\.1', '1', '2'),
      differs('compile\\.loss', '"mse"', '"mae"'),
      differs('compile\\.optimizer\\.config\\.learning_?[rR]ate', '0\\.25', '0\\.5'),
      differs('model\\.layers\\[\\d\\]\\.config\\.activation', '"tanh"', '"relu"'),
      differs('validation', 'true', 'false'),
      'fits',
      [
        expect.stringMatching(
          /^fit: the number of batches is 4 on worker 0 .*, but 2 on worker 1 .*; the epoch goes on/,
        ),
      ],
    ]);
  });

  it('find the first place that differs', () => {
    expect(differenceOf({ a: '1' }, { a: '1' })).toBeUndefined();
    expect(differenceOf({ a: '[1,{"b":2}]' }, { a: '[1,{"b":3}]' })?.place).toBe('a[1].b');
    expect(differenceOf({ a: '[1]' }, { a: '[1,2]' })).toEqual({
      place: 'a[1]',
      first: 'nothing',
      other: '2',
    });
  });
});
