import { UnimplementedError } from '@eagre/core';
import { afterEach, expect, test, vi } from 'vitest';
import { type Parser, parser, useParser } from './parser.ts';

afterEach(() => vi.unstubAllGlobals());

test('where there is no Node, an error says what to do', () => {
  expect(parser().parseSync('a.js', '1').errors).toEqual([]);
  vi.stubGlobal('process', undefined);
  expect(() => parser()).toThrow(UnimplementedError);
  expect(() => parser()).toThrow('with the plugin from eagre/plugin');
});

test('there, a page can bring another parser', () => {
  const other = { ...parser() } as Parser;
  vi.stubGlobal('process', undefined);
  try {
    useParser(other);
    expect(parser()).toBe(other);
  } finally {
    useParser(undefined);
  }
  expect(() => parser()).toThrow(UnimplementedError);
});
