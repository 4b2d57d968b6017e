// The clients of serve.mjs: each sends one image after the other. Prints what they saw as a line of JSON.
import { Pool } from 'undici';

const [url, seconds, clients, side] = process.argv.slice(2);
const { origin, pathname } = new URL(url);
const pool = new Pool(origin, { connections: Number(clients), pipelining: 1 });

// Images of different values, and what the server says of each when it is asked alone.
const bodies = Array.from({ length: 16 }, (_, i) => {
  const pixel = (r, c) => [Math.round(1000 * Math.abs(Math.sin(i + r * 31 + c))) / 1000];
  const row = (r) => Array.from({ length: Number(side) }, (_, c) => pixel(r, c));
  return JSON.stringify({ instances: [Array.from({ length: Number(side) }, (_, r) => row(r))] });
});

async function ask(i) {
  const { statusCode, body } = await pool.request({
    path: pathname,
    method: 'POST',
    body: bodies[i % bodies.length],
  });
  const text = await body.text();
  return statusCode === 200 ? JSON.parse(text).predictions[0] : undefined;
}

const expected = [];
for (let i = 0; i < bodies.length; i++) expected.push(await ask(i));
const close = (a, b) => a.length === b.length && a.every((v, i) => Math.abs(v - b[i]) < 1e-4);

async function run(milliseconds) {
  const times = [];
  let failures = 0;
  let wrong = 0;
  const end = performance.now() + milliseconds;
  const client = async (first) => {
    for (let i = first; performance.now() < end; i++) {
      const start = performance.now();
      try {
        const answer = await ask(i);
        if (answer === undefined) failures++;
        else if (!close(answer, expected[i % bodies.length])) wrong++;
      } catch {
        failures++;
      }
      times.push(performance.now() - start);
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: Number(clients) }, (_, i) => client(i)));
  return { times: times.sort((a, b) => a - b), failures, wrong, took: (performance.now() - start) / 1000 };
}

// A second first, so that both servers have run what they compile.
await run(Math.min(1000, Number(seconds) * 500));
const { times, failures, wrong, took } = await run(Number(seconds) * 1000);
const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))];
const seen = {
  requests: times.length,
  failures,
  wrong,
  perSecond: times.length / took,
  p50: at(0.5),
  p99: at(0.99),
};
console.log(JSON.stringify(seen));
await pool.close();
