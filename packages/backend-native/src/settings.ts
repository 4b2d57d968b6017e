import { InvalidArgumentError } from '@eagre/backend';

/** That share a kernel. */
export const MAX_THREADS = 256;
const instructionSets = ['baseline', 'avx2', 'avx512', 'amx'];

/**
 * Refuses values of `EAGRE_NUM_THREADS` and `EAGRE_ISA` that mean nothing. Unset and empty ones are fine.
 * @throws InvalidArgumentError which names the permitted values.
 */
export function checkSettings(env: Readonly<Record<string, string | undefined>>): void {
  const threads = env.EAGRE_NUM_THREADS || undefined;
  if (
    threads !== undefined &&
    !(/^\d+$/.test(threads) && Number(threads) >= 1 && Number(threads) <= MAX_THREADS)
  )
    throw new InvalidArgumentError(
      `EAGRE_NUM_THREADS is '${threads}', expected an integer from 1 to ${MAX_THREADS}`,
    );
  const isa = env.EAGRE_ISA || undefined;
  if (isa !== undefined && !instructionSets.includes(isa))
    throw new InvalidArgumentError(`EAGRE_ISA is '${isa}', expected one of ${instructionSets.join(', ')}`);
}

/**
 * Refuses an instruction set that the processor lacks: the addon chose another one.
 * @throws InvalidArgumentError
 */
export function checkInstructionSet(env: Readonly<Record<string, string | undefined>>, chosen: string): void {
  const isa = env.EAGRE_ISA || undefined;
  if (isa !== undefined && isa !== chosen)
    throw new InvalidArgumentError(
      `EAGRE_ISA is '${isa}', which this processor does not support; the newest it supports is ${chosen}`,
    );
}
