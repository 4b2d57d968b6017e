import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

/** The folder of all packages. */
export const packages: string = fileURLToPath(new URL('../../', import.meta.url));

/** Has esbuild bundle the sources of this workspace, which need no build. */
export const sources: Plugin = {
  name: 'sources',
  setup(build) {
    build.onResolve({ filter: /^(@eagre\/|eagre$)/ }, ({ path }) => {
      const [name, file = 'index'] = path.replace('@eagre/', '').split('/');
      return { path: `${packages}${name}/src/${file}.ts` };
    });
  },
};
