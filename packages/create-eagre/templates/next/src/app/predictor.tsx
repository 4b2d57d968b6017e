'use client';

import { type FormEvent, useState } from 'react';

/** Asks the server which arm a point is on. */
export function Predictor() {
  const [answer, setAnswer] = useState('');

  async function ask(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const point = [Number(form.get('x')), Number(form.get('y'))];
    setAnswer('…');
    const response = await fetch('/predict', { method: 'POST', body: JSON.stringify({ point }) });
    const { arm, backend, error } = (await response.json()) as {
      arm?: number;
      backend?: string;
      error?: string;
    };
    setAnswer(error ?? `arm ${arm}, computed on ${backend}`);
  }

  return (
    <section>
      <h2>On the server</h2>
      <form onSubmit={ask}>
        <label>
          x <input name="x" type="number" step="0.1" defaultValue="0.3" />
        </label>{' '}
        <label>
          y <input name="y" type="number" step="0.1" defaultValue="0.4" />
        </label>{' '}
        <button type="submit">Ask</button>
      </form>
      <p id="answer" role="status">
        {answer}
      </p>
    </section>
  );
}
