import type { Backend } from '@eagre/backend';

// Pages and hosts at the edge wait for the module: see `later.ts`.
export const openHere: (() => Backend) | undefined = undefined;
