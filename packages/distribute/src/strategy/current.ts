// Which strategy is current.
import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { distribution, scoped, shown } from '@eagre/core/internal';
import type { ReplicaContext } from './replica-context.ts';
import { Strategy } from './strategy.ts';
import { ofReplica } from './values.ts';

/** What programs without a strategy run under: one replica, on the current device. */
class DefaultStrategy extends Strategy {
  constructor() {
    super({ devices: ['/cpu:0'] });
  }

  override runReplicas(fn: (...args: never[]) => unknown, args: readonly unknown[]): readonly unknown[] {
    return [fn(...(args.map((arg) => ofReplica(arg, 0, 'strategy.run')) as never[]))];
  }

  override scope<T>(fn: () => T): T;
  override scope(): Disposable;
  override scope<T>(fn?: () => T): T | Disposable {
    return scoped(() => () => {}, 'strategy.scope', fn);
  }
}

let ofNone: DefaultStrategy | undefined;

/** The strategy in whose scope or replica the code runs; one of a single replica outside of any. */
export function getStrategy(): Strategy {
  const { strategy } = distribution;
  if (strategy instanceof Strategy) return strategy;
  ofNone ??= new DefaultStrategy();
  return ofNone;
}

/** Whether a strategy's scope or replica is around the code. */
export function hasStrategy(): boolean {
  return distribution.strategy !== null;
}

/** Whether the code runs in a strategy's scope, and not in a replica. */
export function inCrossReplicaContext(): boolean {
  return distribution.strategy !== null && distribution.replica === null;
}

/** The replica that the code runs in; null in a strategy's scope, outside of `run`. Without a strategy it is the only one. */
export function getReplicaContext(): ReplicaContext | null {
  const { replica } = distribution;
  if (replica !== null) return replica as ReplicaContext;
  return distribution.strategy === null ? getStrategy().replicas[0] : null;
}

let lasting: Strategy | null = null;

/** Makes a strategy current for all code that follows, as if all of it were in its scope; with null, none. */
export function experimentalSetStrategy(
  strategy: Strategy | null | { readonly strategy: Strategy | null },
): void;
export function experimentalSetStrategy(given: unknown): void {
  const op = 'tf.distribute.experimentalSetStrategy';
  const strategy =
    given instanceof Strategy || given === null
      ? given
      : (given as { readonly strategy?: Strategy | null } | undefined)?.strategy;
  if (strategy !== null && !(strategy instanceof Strategy))
    throw new InvalidArgumentError(`expected a strategy or null, got ${shown(given)}`, op);
  if (distribution.strategy !== lasting || distribution.replica !== null)
    throw new FailedPreconditionError('it cannot be set in the scope of a strategy', op);
  lasting = strategy;
  distribution.strategy = strategy;
}
