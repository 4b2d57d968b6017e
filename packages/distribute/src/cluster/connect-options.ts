import { InvalidArgumentError } from '@eagre/backend';
import { shown } from '@eagre/core/internal';

/** What a process knows of the cluster that it calls or is called in. */
export interface Credentials {
  readonly token: string;
  /** A text that is equal on all processes. */
  readonly clusterKey: string;
}

/** What `connect` of the strategies over several processes takes. */
interface ClusterConnectOptions {
  readonly timeoutSeconds?: number;
  readonly heartbeatSeconds?: number;
  readonly token?: string;
}

/** With the defaults. @throws InvalidArgumentError for what is no number of seconds, or no text */
export function checkConnect(given: ClusterConnectOptions): Required<ClusterConnectOptions> {
  const op = 'strategy.connect';
  const {
    timeoutSeconds = 300,
    heartbeatSeconds = 10,
    token = globalThis.process?.env['EAGRE_CLUSTER_TOKEN'] ?? '',
  } = given;
  for (const [key, value] of Object.entries({ timeoutSeconds, heartbeatSeconds }))
    checkSeconds(value, key, op);
  if (typeof token !== 'string')
    throw new InvalidArgumentError(`token must be a text, got ${shown(token)}`, op);
  return { timeoutSeconds, heartbeatSeconds, token };
}

/** @throws InvalidArgumentError for what is no number of seconds, or is more than a timer can count */
export function checkSeconds(value: unknown, name: string, op: string): void {
  if (typeof value !== 'number' || !(value > 0) || value > 1e6)
    throw new InvalidArgumentError(`${name} must be a number of seconds above 0, got ${shown(value)}`, op);
}
