'use client';

import { useState } from 'react';

/** Trains in the page. */
export function Trainer() {
  const [status, setStatus] = useState('');
  const [busy, setBusy] = useState(false);

  async function train(): Promise<void> {
    setBusy(true);
    setStatus('Loading…');
    try {
      // Loaded when it is wanted, so that the page comes fast.
      const [tf, { createModel }, { spirals }] = await Promise.all([
        import('eagre'),
        import('../model.ts'),
        import('../spirals.ts'),
      ]);
      // Fetches the kernels, which are a module of WebAssembly.
      await tf.ready();
      const { points, labels } = spirals(900);
      await createModel().fit(points, labels, {
        epochs: 20,
        batchSize: 64,
        verbose: 0,
        callbacks: [
          new tf.keras.callbacks.LambdaCallback({
            onEpochEnd: (epoch, { loss, accuracy } = {}) =>
              setStatus(
                `epoch ${epoch + 1} on ${points.backend.name}: loss ${Number(loss).toFixed(3)}, accuracy ${Number(accuracy).toFixed(3)}`,
              ),
          }),
        ],
      });
    } catch (error) {
      setStatus(String(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <section>
      <h2>In the page</h2>
      <button id="train" type="button" disabled={busy} onClick={train}>
        Train
      </button>
      <p id="status" role="status">
        {status}
      </p>
    </section>
  );
}
