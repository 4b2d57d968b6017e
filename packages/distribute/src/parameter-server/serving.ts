/** What a `Server` needs once it listens: a program that makes none does not load it. */
export { Connection } from './connection.ts';
export { FunctionRunner } from './function-runner.ts';
export { startHeartbeat } from './heartbeat.ts';
export { receiveCaller } from './introduction.ts';
export { ParameterStore } from './parameter-store.ts';
