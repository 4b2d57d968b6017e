import { type Converted, type ConvertOptions, convert } from './convert.ts';

/** A plugin in the form that Vite, Vitest, Rollup and Rolldown share. */
export interface AutographPlugin {
  readonly name: string;
  /** Before types are removed: places in messages are those of the source. */
  readonly enforce: 'pre';
  transform(source: string, id: string): Converted | null;
}

const ENDINGS: readonly string[] = ['.ts', '.mts', '.tsx', '.js', '.mjs', '.jsx'];

/**
 * Converts the marked functions of all modules outside of `node_modules`:
 *
 *     // vite.config.ts
 *     export default { plugins: [autograph.plugin()] };
 *
 * @throws AutographError (while building) for what `convert` refuses.
 */
export function plugin(options: Pick<ConvertOptions, 'runtime'> = {}): AutographPlugin {
  return {
    name: 'eagre-autograph',
    enforce: 'pre',
    transform(source, id) {
      const [file = id] = id.split('?');
      const ours = !file.split('/').includes('node_modules') && ENDINGS.some((e) => file.endsWith(e));
      if (!ours || !(source.includes('eagre') || source.includes('use autograph'))) return null;
      const done = convert(source, { ...options, filename: file });
      return done.map === null ? null : done;
    },
  };
}
