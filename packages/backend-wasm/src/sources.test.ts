import { afterEach, expect, test } from 'vitest';
import { checkSource, served } from './sources.ts';

const host = globalThis as { location?: unknown };
afterEach(() => {
  delete host.location;
});
const pageAt = (href: string): void => {
  host.location = new URL(href);
};

test.each([
  ['https://a.org/assets/eagre.wasm', 'https://a.org/assets/eagre.wasm'],
  // As Next.js has webpack make it.
  ['/_next/static/media/eagre.430d.wasm', 'https://a.org/_next/static/media/eagre.430d.wasm'],
  [
    'https://a.org/node_modules/.vite/eagre.wasm',
    'https://a.org/node_modules/@eagre/backend-wasm/eagre.wasm',
  ],
])('the file that a bundler has at %s is served at %s', (href, url) => {
  pageAt('https://a.org/learn/page');
  expect(served({ href } as URL).href).toBe(url);
});

test('without a page, it is where it is', () => {
  expect(served(new URL('file:///a/eagre.wasm')).href).toBe('file:///a/eagre.wasm');
});

test('a path is that of a page whose modules know where they were bundled', () => {
  pageAt('https://a.org/learn/page');
  expect(() => checkSource('module', '/eagre.wasm', 'openWasm')).not.toThrow();
  expect(() => checkSource('module', 'https://', 'openWasm')).toThrow(/is no URL/);
});
