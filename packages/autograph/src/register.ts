// `node --import @eagre/autograph/register`, `bun --preload @eagre/autograph/register`: modules are converted as they are loaded.
import nodeModule from 'node:module';
import { parser } from './analysis/parser.ts';
import { loadForBun, loadSync, ofUser } from './node-hooks.ts';

interface BunBuild {
  onLoad(what: { readonly filter: RegExp }, load: typeof loadForBun): void;
}
interface Platforms {
  readonly Bun?: {
    plugin(plugin: { readonly name: string; readonly setup: (build: BunBuild) => void }): void;
  };
  readonly Deno?: object;
}

interface Hooking {
  readonly register: typeof nodeModule.register;
  /** Node 22.15 and newer. */
  readonly registerHooks?: (hooks: { readonly load: typeof loadSync }) => void;
}

const { register, registerHooks }: Hooking = nodeModule;

/** Whether hooks on this thread work for all kinds of modules; tsx asks the same, and both have to be in one chain. */
function hooksOnThisThread(): boolean {
  const [major = 0, minor = 0, patch = 0] = process.versions.node.split('.').map(Number);
  if (major === 22) return minor > 22 || (minor === 22 && patch >= 3);
  if (major === 24) return minor > 11 || (minor === 11 && patch >= 1);
  return major > 24;
}

const { Bun: bun, Deno: deno } = globalThis as Platforms;
// These cannot load packages while a hook runs.
if (bun !== undefined || deno !== undefined) parser();
// Bun has Node's functions, but they do nothing.
if (bun !== undefined) {
  const setup = (build: BunBuild): void => build.onLoad({ filter: ofUser }, loadForBun);
  bun.plugin({ name: 'eagre-autograph', setup });
} else if (registerHooks !== undefined && hooksOnThisThread()) registerHooks({ load: loadSync });
else register('./node-hooks.js', import.meta.url);
// Stacks and debuggers show the user's lines.
process.setSourceMapsEnabled(true);
