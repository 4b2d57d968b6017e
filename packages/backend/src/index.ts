/** The contract between Eagre's core and the code that computes: dtypes, memory, kernels, scalar programs, errors. */
export * from './backend.ts';
export * from './dtype.ts';
export * from './errors.ts';
export * from './flat-plan.ts';
export { flattenPlan } from './flatten-plan.ts';
export * from './kernels.ts';
export { nextTurn } from './next-turn.ts';
export * from './plan.ts';
export { checkPlan } from './plan-check.ts';
export * from './plan-interpreter.ts';
export * from './plan-memory.ts';
export { PlanRun } from './plan-run.ts';
export * from './scalar.ts';
export * from './shape.ts';
export * from './storage.ts';
export { fileError, withFileErrors } from './system-error.ts';
