/** Conversion while building: one plugin for Vite, Vitest, Rollup, Rolldown, esbuild and webpack. */
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { createUnplugin, type UnpluginContext, type UnpluginInstance } from 'unplugin';
import { codeFrame, placeOf } from './analysis/place.ts';
import { isOwn, MODULES, PACKAGES, SAYS } from './analysis/which.ts';
import { type ConvertOptions, convert, RUNTIME } from './convert.ts';
import { AutographError } from './errors.ts';

type Pattern = string | RegExp;

/** Options of the build plugin. */
export interface AutographPluginOptions extends Pick<ConvertOptions, 'runtime'> {
  /** Paths of modules that may be converted, as regular expressions or globs; all JavaScript and TypeScript modules unless given. */
  readonly include?: Pattern | readonly Pattern[];
  /** Paths of modules that stay as they are; what is in `node_modules` unless given. */
  readonly exclude?: Pattern | readonly Pattern[];
}

/** Whether a project finds a module among packages that are installed; those of a workspace are sources, which Vite leaves as they are. */
function isInstalled(module: string, root: string): boolean {
  try {
    return /[\\/]node_modules[\\/]/.test(createRequire(join(resolve(root), 'package.json')).resolve(module));
  } catch {
    return false;
  }
}

const list = (patterns: Pattern | readonly Pattern[]): Pattern[] =>
  typeof patterns === 'string' || patterns instanceof RegExp ? [patterns] : [...patterns];

/**
 * Converts the marked functions of modules while they are built:
 *
 *     // vite.config.ts
 *     import { autograph } from 'eagre/plugin';
 *     export default { plugins: [autograph.vite()] };
 *
 * `autograph.rollup()`, `.rolldown()`, `.esbuild()` and `.webpack()` are for the others. Where a tool runs plugins in the
 * order of its list, it stands ahead of what removes types. What `convert` refuses fails the build, with file, line and column.
 */
export const autograph: UnpluginInstance<AutographPluginOptions | undefined, false> = createUnplugin(
  (options: AutographPluginOptions | undefined, { framework }) => {
    const { include = MODULES, exclude = PACKAGES, runtime } = options ?? {};
    // These show no code beside an error.
    const inMessage = framework === 'webpack' || framework === 'rspack' || framework === 'esbuild';
    const transform = {
      // For Rollup and Rolldown, which know no `enforce`: before types are removed.
      order: 'pre' as const,
      filter: { id: { include: list(include), exclude: list(exclude) }, code: SAYS },
      handler(this: UnpluginContext, source: string, id: string) {
        const [file = id] = id.split('?');
        if (isOwn(file)) return null;
        try {
          const { code, map } = convert(source, {
            filename: file,
            ...(runtime === undefined ? {} : { runtime }),
          });
          return map === null ? null : { code, map };
        } catch (error) {
          const place = error instanceof AutographError ? placeOf(error) : undefined;
          if (place === undefined) throw error;
          const { message } = error as AutographError;
          const frame = codeFrame(source, place);
          const shown = { message: inMessage ? `${message}\n${frame}` : message, loc: place, id, frame };
          this.error(shown);
          return null;
        }
      },
    };
    // Vite's development server would else find what converted code imports when a page is there already, and load it again.
    const vite = {
      config: ({ root = process.cwd() }: { root?: string }, { command }: { command: string }) =>
        command === 'serve' && process.env['VITEST'] === undefined && isInstalled(runtime ?? RUNTIME, root)
          ? { optimizeDeps: { include: [runtime ?? RUNTIME] } }
          : undefined,
    };
    return { name: 'eagre-autograph', enforce: 'pre', transform, vite };
  },
);
