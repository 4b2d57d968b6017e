import { UnavailableError } from '@eagre/backend';

/** A module of Node. This package is imported by programs that bundlers make for browsers too, which have none. */
export function nodeBuiltin<
  Name extends 'node:crypto' | 'node:fs' | 'node:os' | 'node:path' | 'node:url' | 'node:zlib',
>(name: Name): NonNullable<ReturnType<typeof process.getBuiltinModule<Name>>> {
  const module = globalThis.process?.getBuiltinModule?.(name);
  if (module === undefined) throw new UnavailableError(`CUDA is for Node; there is no ${name} here`);
  return module;
}

/** The SHA-256 of some bytes, or of a text. */
export function sha256(content: Uint8Array | string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(nodeBuiltin('node:crypto').createHash('sha256').update(content).digest());
}

/** The same as hexadecimal digits. */
export function sha256Digits(content: Uint8Array | string): string {
  return nodeBuiltin('node:crypto').createHash('sha256').update(content).digest('hex');
}
