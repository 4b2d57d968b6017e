import { nodeBuiltin } from './node.ts';

/**
 * Whether a server answers requests to this name: an address, the machine's own name, `localhost`, or one of `names`. A page elsewhere could have
 * bent any other name to this machine, and would then read the answers (DNS rebinding).
 * @param host the Host header; none is sent by what is no browser.
 */
export function isOwnName(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined) return true;
  const name = host
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  const own = [...names, 'localhost', nodeBuiltin('node:os').hostname()];
  return own.some((is) => is.toLowerCase() === name) || nodeBuiltin('node:net').isIP(name) !== 0;
}
