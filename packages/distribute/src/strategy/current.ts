// Which strategy is current.
import { distribution } from '@eagre/core/internal';
import type { ReplicaContext } from './replica-context.ts';
import { Strategy } from './strategy.ts';

/** What programs without a strategy run under: one replica, on the current device. */
class DefaultStrategy extends Strategy {
  constructor() {
    super({ devices: [''] });
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
