import { Predictor } from './predictor.tsx';
import { Trainer } from './trainer.tsx';

export default function Page() {
  return (
    <main>
      <h1>Three arms of a spiral</h1>
      <Trainer />
      <Predictor />
    </main>
  );
}
