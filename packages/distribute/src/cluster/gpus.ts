// Which GPU each process of a cluster uses.
import { FailedPreconditionError } from '@eagre/backend';
import { type Member, memberName } from './cluster-spec.ts';
import type { Hello } from './handshake.ts';

/**
 * Which of its GPUs each process uses: of the processes of a machine that see the same GPUs, the first one uses the first, and so on. A process that
 * sees one GPU uses that.
 * @throws FailedPreconditionError where there are too few, or two processes would share one, which NCCL refuses
 */
export function gpusOf(
  members: readonly Member[],
  hellos: readonly Pick<Hello, 'system' | 'gpus'>[],
): readonly number[] {
  const places = new Map<string, number>();
  const users = new Map<string, number>();
  const name = (rank: number): string => memberName(members[rank] as Member);
  return hellos.map(({ system, gpus }, rank) => {
    const seen = `${system} ${gpus.join()}`;
    const place = places.get(seen) ?? 0;
    places.set(seen, place + 1);
    const advice = 'NCCL takes one process for each GPU; CUDA_VISIBLE_DEVICES says which a process sees';
    const gpu = gpus[place];
    if (gpu === undefined)
      throw new FailedPreconditionError(
        `${name(rank)} is the process ${place + 1} of its machine, which has ${gpus.length} GPUs for them (${gpus.join(', ')}): ${advice}`,
      );
    const key = `${system} ${gpu}`;
    const other = users.get(key);
    if (other !== undefined)
      throw new FailedPreconditionError(
        `${name(other)} and ${name(rank)} would both use the GPU ${gpu}: ${advice}`,
      );
    users.set(key, rank);
    return place;
  });
}
