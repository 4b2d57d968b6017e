import type { BuildOptions, Plugin } from 'esbuild';
/** The folder of all packages. */
export declare const packages: string;
/** Has esbuild bundle the sources of this workspace, which need no build. */
export declare const sources: Plugin;
/** How sources are bundled for Node, so that they run as they do file by file. */
export declare const sourceOptions: BuildOptions;
