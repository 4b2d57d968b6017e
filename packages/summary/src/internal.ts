/** What Eagre's other programs build on. No promise is made to anyone else: names here change without notice. */
export { byName as hparamsByName } from './hparams.ts';
export * from './index.ts';
export { Profile, ProfilerOptions, start, stop, Trace } from './profiler.ts';
export { decodeEvent, type KnownMetadata } from './read-events.ts';
export { enterWriter, hasDefaultWriter } from './state.ts';
