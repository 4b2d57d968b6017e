import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Loaded, loadAddon } from './load.ts';

beforeEach(() => vi.stubEnv('EAGRE_ADDON', ''));
afterEach(() => vi.unstubAllEnvs());

/** Packages by their names: what each is in its package.json, and what comes of loading it. */
function requires(
  packages: Readonly<Record<string, { version: string; load?: () => unknown }>>,
): NodeJS.Require {
  const found = (name: string): { version: string; load?: () => unknown } => {
    const one = packages[name];
    if (one === undefined)
      throw Object.assign(new Error(`Cannot find module '${name}'\nRequire stack:`), {
        code: 'MODULE_NOT_FOUND',
      });
    return one;
  };
  const require = (name: string): unknown =>
    name.endsWith('/package.json') ? found(name.replace('/package.json', '')) : found(name).load?.();
  return Object.assign(require, { resolve: (name: string) => found(name) && `/${name}/eagre.node` }) as never;
}

const own = { '@eagre/backend-native': { version: '1.2.3' } };
const fails = (message: string) => (): never => {
  throw Object.assign(new Error(message), { code: 'ERR_DLOPEN_FAILED' });
};
const advice = (loaded: Loaded): string => {
  expect(loaded.addon).toBe(undefined);
  return 'advice' in loaded ? loaded.advice : '';
};

describe('the package of the platform', () => {
  test.each([
    'darwin-arm64',
    'darwin-x64',
    'linux-arm64',
    'linux-x64',
    'linuxmusl-arm64',
    'linuxmusl-x64',
    'win32-x64',
  ])('on %s', (platform) => {
    const addon = { isa: platform };
    const there = {
      [`@eagre/native-${platform}`]: { version: '1.2.3', load: () => ({ open: () => addon }) },
    };
    expect(loadAddon(requires({ ...own, ...there }), platform).addon).toMatchObject(addon);
    // Bundled with a program, the loader's own version is not known.
    expect(loadAddon(requires(there), platform).addon).toMatchObject(addon);
    expect(advice(loadAddon(requires(own), platform))).toMatch(
      new RegExp(
        `^Install the package @eagre/native-${platform}, .*--omit=optional.*\n.*Cannot find module [^\n]*$`,
      ),
    );
  });

  test('there is none', () => {
    expect(advice(loadAddon(requires(own), 'sunos-x64'))).toMatch(
      /^There are none for sunos-x64, only for darwin-arm64, /,
    );
  });

  test('there is only that of another system', () => {
    const other = { '@eagre/native-linux-x64': { version: '1.2.3', load: fails('never loaded') } };
    expect(advice(loadAddon(requires({ ...own, ...other }), 'linuxmusl-x64'))).toMatch(
      /^Install the package @eagre\/native-linuxmusl-x64, .*: @eagre\/native-linux-x64 is there, .* for another system/,
    );
  });

  test('it is of another version', () => {
    const other = { '@eagre/native-linux-x64': { version: '1.2.2', load: fails('never loaded') } };
    expect(advice(loadAddon(requires({ ...own, ...other }), 'linux-x64'))).toMatch(
      /^Install the package @eagre\/native-linux-x64, of the same version as eagre\.\n.*1\.2\.2, and .*1\.2\.3$/,
    );
  });

  test('the system is too old for it, or of another kind', () => {
    const load = (message: string) =>
      advice(
        loadAddon(
          requires({ ...own, '@eagre/native-linux-x64': { version: '1.2.3', load: fails(message) } }),
          'linux-x64',
        ),
      );
    expect(load("/lib/libc.so.6: version `GLIBC_2.28' not found (required by eagre.node)")).toMatch(
      /cannot load it: it needs glibc 2\.28 or newer, and this is .*\n.*GLIBC_2\.28' not found/,
    );
    expect(load('eagre.node: invalid ELF header')).toMatch(
      /cannot load it \(on Linux .*\n.*invalid ELF header$/,
    );
  });
});
