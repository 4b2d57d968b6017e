/** What Eagre's other packages build on. No promise is made to anyone else: names here change without notice. */
export { ClusterDef, JobDef, ServerDef } from './cluster/cluster-protos.ts';
export { ClusterSpec } from './cluster/cluster-spec.ts';
export * from './keras/index.ts';
export { bucketsOf } from './multi-worker/buckets.ts';
export { type CollectiveOptions, type Collectives, oneProcess } from './strategy/collectives.ts';
export { collectiveOptions } from './strategy/communication-options.ts';
export { MirroredVariable } from './strategy/mirrored-variable.ts';
