/** `GPUBufferUsage` and the like, which Node does not have as globals. */
export const usage = { mapRead: 1, copySource: 4, copyTarget: 8, uniform: 64, storage: 128 } as const;
export const MAP_READ = 1;
export const COMPUTE = 4;
