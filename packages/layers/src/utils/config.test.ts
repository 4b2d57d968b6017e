import '@eagre/backend-js';
import { FailedPreconditionError, InvalidArgumentError, NotFoundError } from '@eagre/core';
import { expect, test } from 'vitest';
import { Config } from './config.ts';
import { standardizeDtype } from './standardize-dtype.ts';

test('Config holds named values, until it is frozen', async () => {
  const config = new Config({ rate: 0.1 });
  config.units = 4;
  config['name'] = 'a';
  expect([config.rate, config.units, config.name, config.size]).toEqual([0.1, 4, 'a', 3]);
  expect([...config]).toEqual(['name', 'rate', 'units']);
  expect(config.asDict()).toEqual({ rate: 0.1, units: 4, name: 'a' });
  expect(JSON.parse(config.toJson())).toEqual(JSON.parse(JSON.stringify(config)));
  expect([config.get('none'), config.get({ name: 'none', otherwise: 3 } as never)]).toEqual([undefined, 3]);
  expect([config.pop('name'), config.pop('name', 'b'), 'name' in config]).toEqual(['a', 'b', false]);
  config.update({ units: 5 });
  config.update(new Config({ get: 1 }));
  delete config.rate;
  expect([config.keys(), config.values(), config.items()]).toEqual([
    ['units', 'get'],
    [5, 1],
    [
      ['units', 5],
      ['get', 1],
    ],
  ]);
  // It can be handed through promises.
  expect((await Promise.resolve(config)).size).toBe(2);
  expect(() => config.rate).toThrow(NotFoundError);
  expect(() => config.pop('rate')).toThrow(NotFoundError);
  expect(() => {
    config.freeze = 3 as never;
  }).toThrow(InvalidArgumentError);
  expect(() => config.update(3 as never)).toThrow(InvalidArgumentError);
  config.freeze();
  expect(config.frozen).toBe(true);
  for (const change of [
    () => config.update({ units: 6 }),
    () => config.pop('units'),
    () => {
      config.units = 6;
    },
    () => delete config.units,
  ])
    expect(change, String(change)).toThrow(FailedPreconditionError);
  config.unfreeze();
  config.units = 6;
  expect(config.units).toBe(6);
});

test('standardizeDtype', () => {
  expect([standardizeDtype(), standardizeDtype(null), standardizeDtype('int32')]).toEqual([
    'float32',
    'float32',
    'int32',
  ]);
  expect(() => standardizeDtype('float' as never)).toThrow(InvalidArgumentError);
});
