import { InvalidArgumentError } from '@eagre/backend';
import { isPlain, shown } from '@eagre/core/internal';

/** Which versions of a model are served: the newest (by default), so many of the newest, all, or those that are listed. */
export type VersionPolicy =
  | 'latest'
  | 'all'
  | { readonly latest: number }
  | { readonly specific: readonly number[] };

/** @throws InvalidArgumentError for what is no policy */
export function checkPolicy(policy: unknown, op: string): asserts policy is VersionPolicy {
  if (policy === 'latest' || policy === 'all') return;
  if (isPlain(policy) && Object.keys(policy).length === 1) {
    const { latest, specific } = policy as { readonly latest?: unknown; readonly specific?: unknown };
    if (isVersion(latest) && latest > 0) return;
    if (Array.isArray(specific) && specific.length > 0 && specific.every(isVersion)) return;
  }
  throw new InvalidArgumentError(
    `versionPolicy must be 'latest', 'all', { latest: 2 } or { specific: [1, 2] }, got ${shown(policy)}`,
    op,
  );
}

/** Whether a value is the number of a version. */
export const isVersion = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

/** Those of the versions that are to be served, the newest first. */
export function wantedVersions(policy: VersionPolicy, versions: Iterable<number>): number[] {
  const newest = [...versions].sort((a, b) => b - a);
  if (policy === 'all') return newest;
  if (policy === 'latest') return newest.slice(0, 1);
  if ('latest' in policy) return newest.slice(0, policy.latest);
  return newest.filter((version) => policy.specific.includes(version));
}

/**
 * Those of the versions that run now that stay, when these are wanted: versions go only when others are there in their place, so a version
 * that cannot be loaded takes nothing away.
 */
export function keptVersions(
  policy: VersionPolicy,
  wanted: readonly number[],
  running: Iterable<number>,
): Set<number> {
  const newest = [...running].sort((a, b) => b - a);
  const kept = newest.filter((version) => wanted.includes(version));
  const rest = newest.filter((version) => !wanted.includes(version));
  const places = policy === 'all' || (typeof policy === 'object' && 'specific' in policy) ? 1 : wanted.length;
  return new Set([...kept, ...rest.slice(0, Math.max(0, places - kept.length))]);
}
