// Trains a network on digits, by the backend that a visitor chooses, while the page stays alive.
import { openWasm } from '@eagre/backend-wasm/open';
import { webgpuBackend, webgpuUnavailable } from '@eagre/backend-webgpu';
import * as tf from 'eagre';
import { type Digits, learn, load, SIDE } from './digits.ts';
import { context, curve, image } from './draw.ts';
import { frame, say } from './page.ts';

/** A number of the page's address, such as `?steps=1000`. */
const asked = (name: string, otherwise: number): number =>
  Math.max(1, Math.floor(Number(new URLSearchParams(location.search).get(name)) || otherwise));
const BATCH = asked('batch', 64);
const STEPS = asked('steps', 280);
/** Steps between two looks at the loss. */
const LOOK = 10;
/** Steps behind which everything is compiled. */
const WARM = 10;
const [COLUMNS, ROWS] = [12, 10];

type Choice = 'processor' | 'webgpu';

/** What training has come to, for the page's test. */
export interface Trained {
  readonly backend: Choice;
  /** Of the variables. */
  readonly device: string;
  readonly losses: readonly number[];
  readonly accuracy: number;
  readonly imagesPerSecond: number;
  /** The longest that the page kept its visitor waiting behind the first steps, in milliseconds; 0 for less than 50. */
  readonly longest: number;
  /** Pictures that the page has drawn meanwhile. */
  readonly frames: number;
}
declare global {
  var trained: Trained | undefined;
}

/** Which training goes on: another choice ends the one before. */
let current = 0;

async function train(digits: Digits, backend: Choice): Promise<void> {
  const run = ++current;
  globalThis.trained = undefined;
  const on = <T>(fn: () => T): T => tf.device(backend === 'processor' ? '/cpu:0' : '/gpu:0', fn);
  const learning = on(() => learn(digits, BATCH));
  const losses: number[] = [];
  let [longest, frames, began, device] = [0, 0, 0, ''];
  const tasks = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      if (began > 0 && startTime > began) longest = Math.max(longest, duration);
  });
  tasks.observe({ entryTypes: ['longtask'] });
  const drawn = (): void => {
    frames++;
    if (run === current && globalThis.trained === undefined) requestAnimationFrame(drawn);
  };
  drawn();
  for (let step = 1; step <= STEPS; step++) {
    const loss = on(() => learning.step());
    device = loss.device;
    if (step % LOOK !== 0 && step !== STEPS) {
      // A step takes its time here: the page is not to wait for several of them.
      if (backend === 'processor') await frame();
      continue;
    }
    losses.push(Number((await loss.read())[0]));
    await frame();
    if (run !== current) break;
    curve(context('loss'), losses, Math.max(1, Math.ceil(STEPS / LOOK) - 1), `${STEPS} steps`);
    say('loss-value', (losses.at(-1) ?? Number.NaN).toFixed(3));
    if (step === WARM) began = performance.now();
    const seconds = (performance.now() - began) / 1000;
    if (began > 0 && step > WARM)
      say('speed', `${device}: ${Math.round(((step - WARM) * BATCH) / seconds)} images a second`);
    if (step % (4 * LOOK) !== 0 && step !== STEPS) continue;
    const accuracy = drawDigits(learning.tested, await on(() => learning.test()).read());
    const imagesPerSecond = ((step - WARM) * BATCH * 1000) / (performance.now() - began);
    if (step === STEPS)
      globalThis.trained = { backend, device, losses, accuracy, imagesPerSecond, longest, frames };
  }
  tasks.disconnect();
}

/** Draws some images, those that were taken for others in red. @returns the share of all that are right. */
function drawDigits({ images, labels }: Digits, taken: ArrayLike<number | bigint>): number {
  const isRight = (i: number): boolean => Number(taken[i]) === labels[i];
  const [wide, high] = [COLUMNS * SIDE, ROWS * SIDE];
  image(context('digits'), wide, high, (at) => {
    const [x, y] = [at % wide, Math.floor(at / wide)];
    const i = Math.floor(y / SIDE) * COLUMNS + Math.floor(x / SIDE);
    const grey = images[(i * SIDE + (y % SIDE)) * SIDE + (x % SIDE)] as number;
    return isRight(i) ? [grey, grey, grey] : [110 + grey / 2, grey / 2, grey / 2];
  });
  const right = Array.from(labels, (_, i) => isRight(i)).filter(Boolean).length;
  say('accuracy', `${((100 * right) / labels.length).toFixed(1)} % right`);
  return right / labels.length;
}

function tell(problem: unknown): void {
  const place = document.getElementById('problem') as HTMLElement;
  place.textContent = problem instanceof Error ? problem.message : String(problem);
  place.hidden = false;
}

try {
  say('webgpu-name', webgpuBackend?.description ?? (webgpuUnavailable as string));
  // With a GPU nothing else opens them.
  const { description } = await openWasm().catch((error: unknown) => {
    console.warn(error);
    return tf.device('/cpu:0', () => tf.zeros([1])).backend;
  });
  say('processor-name', description);
  const digits = await load();
  const chosen: Choice = webgpuBackend === undefined ? 'processor' : 'webgpu';
  for (const input of document.querySelectorAll<HTMLInputElement>('input[name=backend]')) {
    input.disabled = input.value === 'webgpu' && webgpuBackend === undefined;
    input.checked = input.value === chosen;
    input.addEventListener('change', () => train(digits, input.value as Choice).catch(tell));
  }
  await train(digits, chosen);
} catch (error) {
  tell(error);
}
