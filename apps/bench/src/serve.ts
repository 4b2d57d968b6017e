import { createInterface } from 'node:readline';
import type { Failed, Hello, Measured, Prepared, Request } from './protocol.ts';
import { failed } from './requests.ts';

type Answer = Prepared | Measured | Failed;

/** Hands the driver's requests on, until it closes stdin. */
export async function serve(
  hello: Hello,
  answer: (request: Request) => Answer | Promise<Answer>,
): Promise<void> {
  const say = (message: object): void => void process.stdout.write(`${JSON.stringify(message)}\n`);
  say(hello);
  for await (const line of createInterface({ input: process.stdin }))
    say(await Promise.resolve(answer(JSON.parse(line) as Request)).catch(failed));
}
