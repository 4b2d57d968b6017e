/** What Eagre's other packages build on. No promise is made to anyone else: names here change without notice. */
export * from './constants.ts';
export { containsSavedModel, load, loadGraphDef, save } from './functions.ts';
export { LoadOptions, SaveOptions } from './options.ts';
export type { PortableFunction } from './portable.ts';
export type Portable = typeof import('./portable.ts');
/** What writes traces for other processes, and what runs them. */
export const loadPortable = (): Promise<Portable> => import('./portable.ts');
