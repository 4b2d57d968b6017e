import type { LibraryProduct } from '@eagre/gpu-kernels';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { productLibraries } from './libraries.ts';
import { LibraryProducts } from './library-products.ts';
import type { Stream } from './stream.ts';

const product = (rows: number, calls: LibraryProduct['calls'] = [[0, 0, 0]]): LibraryProduct => ({
  operands: [0, 1, 2],
  dtype: 'bfloat16',
  rows,
  columns: 16,
  depth: 16,
  transposeA: false,
  transposeB: false,
  hasBias: false,
  hasRelu: false,
  batches: 1,
  strides: [0, 0],
  calls,
});

/** A device that notes what it is asked, and what it is told to drop. */
function noted(): { readonly made: LibraryProducts; readonly asked: number[][]; readonly dropped: number[] } {
  const [asked, dropped]: [number[][], number[]] = [[], []];
  const device = {
    openProducts: () => ({ path: 'libcublasLt.so.12', version: '12.9.1' }),
    product: (...description: number[]) => asked.push(description),
    workspace: (number: number) => (number % 2) * 64,
    dropProduct: (number: number) => dropped.push(number),
  };
  return { made: new LibraryProducts({ device } as unknown as Stream), asked, dropped };
}
const at = (...addresses: readonly number[]) =>
  addresses.map((address) => ({ storage: { address } })) as never;

describe('products by a library', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('are asked for once for each description, of which the oldest is dropped where there are many', () => {
    vi.stubEnv('EAGRE_CUBLASLT', 'libcublasLt.so.12');
    const { made, asked, dropped } = noted();
    const ask = (library: LibraryProduct): unknown => made.instead(library, at(64, 128, 192));
    const first = product(16);
    expect(ask(first)).toEqual({
      dispatches: [{ product: 1, operands: [0, 1, 2], offsets: [0, 0, 0], workspace: 64 }],
      scratch: 0,
    });
    expect(ask(first)).toBe(ask(first));
    for (let rows = 17; rows < 1040; rows++) ask(product(rows));
    // Asked for again, it is no more the oldest.
    ask(product(16));
    expect([asked.length, dropped]).toEqual([1024, []]);
    ask(product(1040));
    expect(dropped).toEqual([2]);
    expect(ask(first)).toMatchObject({ dispatches: [{ product: 1 }] });
    ask(product(17));
    expect([asked.length, dropped]).toEqual([1026, [2, 3]]);
  });

  it('are aligned as their addresses and places are, to 16 bytes at most', () => {
    vi.stubEnv('EAGRE_CUBLASLT', 'libcublasLt.so.12');
    const { made, asked } = noted();
    const ask = (library: LibraryProduct, ...addresses: readonly number[]): unknown =>
      made.instead(library, at(...addresses));
    const one = product(16);
    ask(one, 2 ** 48, 64, 256);
    ask(one, 2 ** 48 + 64, 16, 32);
    ask(one, 2 ** 48 + 8, 64, 256);
    ask(
      product(16, [
        [0, 0, 0],
        [0, 3, 0],
      ]),
      64,
      64,
      64,
    );
    expect(asked.map((description) => description.at(-1))).toEqual([16, 8, 2]);
  });

  it('have a library that is named, or is looked for', () => {
    expect(productLibraries({ EAGRE_CUBLASLT: '0' })).toEqual({ paths: [], isNamed: true });
    expect(productLibraries({ EAGRE_CUBLASLT: '/a/b.so' })).toEqual({ paths: ['/a/b.so'], isNamed: true });
    const { paths, isNamed } = productLibraries({ CUDA_HOME: '/opt/cuda' });
    expect(isNamed).toBe(false);
    expect(paths.slice(0, 4)).toEqual([
      'libcublasLt.so.13',
      'libcublasLt.so.12',
      'libcublasLt.so',
      '/opt/cuda/lib64/libcublasLt.so.13',
    ]);
    expect(paths.at(-1)).toBe('/usr/local/cuda/lib64/libcublasLt.so');
  });
});
