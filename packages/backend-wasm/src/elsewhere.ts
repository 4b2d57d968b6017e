import type { Backend } from '@eagre/backend';

// Pages and hosts at the edge wait for the module: their programs import the package.
export const openHere: (() => Backend) | undefined = undefined;
