import '@eagre/backend-js';
import { InvalidArgumentError } from '@eagre/backend';
import { describe, expect, test } from 'vitest';
import { constant, sum } from '../index.ts';
import { argumentsOf, takesArguments } from './class-arguments.ts';
import { nearestName } from './option-names.ts';

interface Arguments {
  readonly width: number;
  readonly height: number;
  readonly color?: string;
  readonly border?: boolean;
}

class Box {
  readonly options: Arguments;
  constructor(...args: readonly unknown[]) {
    this.options = argumentsOf<Arguments>(Box, new.target, args);
  }
}
takesArguments<Arguments>(
  { positional: ['width', 'height'], names: { width: true, height: true, color: true, border: true } },
  Box,
);

class Soft {
  readonly options: { rate?: number; seed?: number };
  constructor(...args: readonly unknown[]) {
    this.options = argumentsOf<{ rate?: number; seed?: number }>(Soft, new.target, args);
  }
}
takesArguments<{ rate?: number; seed?: number }>(
  { positional: ['rate'], required: 0, names: { rate: true, seed: true } },
  Soft,
);

describe('arguments of classes', () => {
  test('by position, by name, and both', () => {
    const expected = { width: 2, height: 3, color: 'red' };
    expect(new Box(2, 3, { color: 'red' }).options).toEqual(expected);
    expect(new Box(2, { height: 3, color: 'red' }).options).toEqual(expected);
    expect(new Box({ width: 2, height: 3, color: 'red' }).options).toEqual(expected);
    expect(new Soft().options).toEqual({});
    expect(new Soft(0.5, undefined).options).toEqual({ rate: 0.5 });
    expect(new Soft(undefined, { seed: 1 }).options).toEqual({ seed: 1 });
    expect(new Soft({ rate: undefined, seed: 1 }).options).toEqual({ seed: 1 });
  });

  test('null in the place of the options is none', () => {
    expect(new Box(2, 3, null).options).toEqual({ width: 2, height: 3 });
    expect(new Soft(0.5, null).options).toEqual({ rate: 0.5 });
    expect(new Soft(null).options).toEqual({ rate: null });
  });

  test('an object of a class is the options where its fields are known', () => {
    class Config {
      rate = 0.5;
    }
    expect(new Soft(new Config()).options).toEqual({ rate: 0.5 });
    expect(new Soft(constant(1)).options.rate).toBeDefined();
  });

  const mistakes: Readonly<Record<string, [() => object, string]>> = {
    'one too many': [
      () => new Box(2, 3, 'red'),
      "Box: only width and height can be given by position; write { color: 'red' }",
    ],
    'two too many': [() => new Soft(0.5, 3), 'Soft: only rate can be given by position; write { seed: 3 }'],
    'more than there are': [() => new Soft(0.5, 3, 4), 'Soft: takes at most 2 arguments, got 3'],
    'both ways': [() => new Box(2, 3, { width: 2 }), 'Box: width is given twice, by position and by name'],
    'options first': [
      () => new Box({ color: 'red' }, 2, 3),
      'Box: the options object must come once, at the end: write new Box(width, height, { color })',
    ],
    'options twice': [
      () => new Box({ width: 2 }, { height: 2 }),
      'Box: the options object must come once, at the end',
    ],
    'nothing required': [
      () => new Box(2),
      'Box: height must be given: write new Box(width, height, { color }) or new Box({ width, height, color })',
    ],
    'an unknown name': [
      () => new Box(2, 3, { colour: 'red' }),
      "Box: 'colour' is not an option; the options are width, height, color, border; did you mean 'color'?",
    ],
    'no options': [() => new Box(2, 3, new Map()), 'Box: expected options, such as { width, height }'],
  };
  test.each(Object.entries(mistakes))('%s', (_, [make, message]) => {
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(message);
  });

  test('what cannot be looked at is refused', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const make of [
      () => new Soft(proxy as never),
      () => new Soft({ rate: proxy as never }),
      () => new Box(proxy as never, 2),
      () => new Box(1, 2, 3 as never, [proxy] as never),
      () => sum(proxy as never),
      () => sum([1, proxy] as never),
      () => sum([1], { axis: proxy as never }),
    ])
      expect(make).toThrow(InvalidArgumentError);
    expect(() => sum(proxy as never)).toThrow('is it a revoked proxy?');
  });

  test('a class that extends another takes the same, under its own name', () => {
    class Wide extends Box {}
    expect(new Wide(2, 3).options).toEqual({ width: 2, height: 3 });
    expect(() => new Wide(2, 3, { hight: 1 })).toThrow("Wide: 'hight' is not an option");
  });
});

test('the name that was meant', () => {
  const known = ['learningRate', 'beta1', 'name', 'kernelInitializer'];
  expect(nearestName('learning_rate', known)).toBe('learningRate');
  expect(nearestName('lerningrate', known)).toBe('learningRate');
  expect(nearestName('Name', known)).toBe('name');
  expect(nearestName('bogus', known)).toBeUndefined();
});
