// Finds the addon for collectives between processes, which is built where libgloo is there.
import { UnimplementedError } from '@eagre/backend';
import type { NativeEngineClass } from './native-engine.ts';

/** What there is to do on Debian and Ubuntu. */
const advice =
  'on Debian and Ubuntu: apt-get install libgloo-dev, then, in a checkout, pnpm build:native --force';
/** What the addon and its libraries ask of a system, as they are published: they come from Debian 12. */
const needs = 'glibc 2.34 and the C++ library of GCC 12, or newer (Debian 12, Ubuntu 22.04)';

/** The class of native engines. @throws UnimplementedError that says what to install */
export function loadEngine(
  platform: string = `${process.platform}-${process.arch}`,
  require: (name: string) => unknown = requireModule,
): NativeEngineClass {
  if (platform !== 'linux-x64' && platform !== 'linux-arm64')
    throw new UnimplementedError(
      `strategies over several processes run on Linux with glibc, on x64 and arm64; this is ${platform}`,
    );
  try {
    return (require(`@eagre/native-${platform}/distribute.cjs`) as { Engine: NativeEngineClass }).Engine;
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
    // What the loader of glibc says of a library that is older.
    const isOld = /\bversion `(?:GLIBC|GLIBCXX|CXXABI)_/.test(reason);
    const wanted = isOld || isMusl() ? needs : `the library Gloo (${advice})`;
    throw new UnimplementedError(`a strategy over several processes needs ${wanted}: ${reason}`, undefined, {
      cause: error,
    });
  }
}

/** Whether this is a Linux without glibc. It takes long to find out. */
function isMusl(): boolean {
  const report = process.report?.getReport() as
    | { readonly header?: { readonly glibcVersionRuntime?: string } }
    | undefined;
  return report?.header !== undefined && report.header.glibcVersionRuntime === undefined;
}

function requireModule(name: string): unknown {
  const { createRequire } = process.getBuiltinModule('node:module');
  return createRequire(import.meta.url)(name);
}
