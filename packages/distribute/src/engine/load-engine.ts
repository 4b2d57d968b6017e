// Finds the addon for collectives between processes, which is built where libgloo is there.
import { UnimplementedError } from '@eagre/backend';
import type { NativeEngineClass } from './native-engine.ts';

/** What there is to do on Debian and Ubuntu. */
const advice =
  'on Debian and Ubuntu: apt-get install libgloo-dev, then, in a checkout, pnpm build:native --force';

/** The class of native engines. @throws UnimplementedError that says what to install */
export function loadEngine(
  platform: string = `${process.platform}-${process.arch}`,
  require: (name: string) => unknown = requireModule,
): NativeEngineClass {
  if (platform !== 'linux-x64' && platform !== 'linux-arm64')
    throw new UnimplementedError(
      `strategies over several processes run on Linux, on x64 and arm64; this is ${platform}`,
    );
  try {
    return (require(`@eagre/native-${platform}/distribute.cjs`) as { Engine: NativeEngineClass }).Engine;
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).split('\n')[0];
    throw new UnimplementedError(
      `a strategy over several processes needs the library Gloo (${advice}): ${reason}`,
      undefined,
      { cause: error },
    );
  }
}

function requireModule(name: string): unknown {
  const { createRequire } = process.getBuiltinModule('node:module');
  return createRequire(import.meta.url)(name);
}
