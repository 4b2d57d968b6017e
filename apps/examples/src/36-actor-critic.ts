// An actor and a critic learn to balance a pole on a cart, whose physics are written here.
import * as tf from 'eagre';

const { layers } = tf.keras;
const EPISODES = Number(process.env.EPISODES ?? 400);
const MAX_STEPS = 200;
const GAMMA = 0.99;

tf.keras.utils.setRandomSeed(42);

// ---- the world: where the cart is, how fast, and the same of the pole's angle

class CartPole {
  state: number[] = [0, 0, 0, 0];

  reset(): number[] {
    this.state = Array.from(tf.random.uniform([4], { minval: -0.05, maxval: 0.05 }).data() as Float32Array);
    return this.state;
  }

  step(action: number): { state: number[]; done: boolean } {
    let [x, xDot, theta, thetaDot] = this.state as [number, number, number, number];
    const force = action === 1 ? 10 : -10;
    const [cos, sin] = [Math.cos(theta), Math.sin(theta)];
    // Masses of 1 and 0.1, half of the pole's length 0.5.
    const temp = (force + 0.05 * thetaDot ** 2 * sin) / 1.1;
    const thetaAcc = (9.8 * sin - cos * temp) / (0.5 * (4 / 3 - (0.1 * cos ** 2) / 1.1));
    const xAcc = temp - (0.05 * thetaAcc * cos) / 1.1;
    [x, xDot] = [x + 0.02 * xDot, xDot + 0.02 * xAcc];
    [theta, thetaDot] = [theta + 0.02 * thetaDot, thetaDot + 0.02 * thetaAcc];
    this.state = [x, xDot, theta, thetaDot];
    return { state: this.state, done: Math.abs(x) > 2.4 || Math.abs(theta) > (12 * Math.PI) / 180 };
  }
}

// ---- one network with two heads: what to do, and what is to come

const inputs = layers.Input({ shape: [4] });
const common = new layers.Dense(64, { activation: 'relu' })(inputs);
const action = new layers.Dense(2, { activation: 'softmax' })(common);
const critic = new layers.Dense(1)(common);
export const model = new tf.keras.Model(inputs, [action, critic]);
const optimizer = new tf.keras.optimizers.Adam({ learningRate: 0.01 });
const huberLoss = new tf.keras.losses.Huber();

// ---- episodes

const env = new CartPole();
const eps = 1e-7;
let runningReward = 0;
export const rewards: number[] = [];

for (let episode = 1; episode <= EPISODES; episode++) {
  let state = env.reset();
  const actionProbs: tf.Tensor[] = [];
  const criticValues: tf.Tensor[] = [];
  let steps = 0;
  const tape = new tf.GradientTape();
  const loss = tape.record(() => {
    for (let done = false; !done && steps < MAX_STEPS; steps++) {
      const [probs, value] = model<[tf.Tensor, tf.Tensor]>(tf.constant([state]));
      const chosen = tf.random.categorical(tf.math.log(probs), 1).item();
      criticValues.push(value.at(0, 0));
      actionProbs.push(tf.math.log(probs.at(0, chosen)));
      ({ state, done } = env.step(chosen));
    }
    // Each step is worth 1 and what follows it, less from step to step; then on a common scale.
    let sum = 0;
    const discounted = Array.from({ length: steps }, () => (sum = 1 + GAMMA * sum)).reverse();
    const all = tf.constant(discounted);
    const returns = all.sub(all.mean()).div(tf.math.reduceStd(all).add(eps));
    const values = tf.stack(criticValues);
    const actorLoss = tf.stack(actionProbs).neg().mul(returns.sub(values)).sum();
    const criticLoss = huberLoss(returns.expandDims(1), values.expandDims(1)).mul(steps);
    return actorLoss.add(criticLoss);
  });
  const grads = tape.gradient(loss, model.trainableVariables);
  optimizer.applyGradients(grads, model.trainableVariables);

  rewards.push(steps);
  runningReward = 0.05 * steps + 0.95 * runningReward;
  if (episode % 10 === 0) console.log(`running reward: ${runningReward.toFixed(2)} at episode ${episode}`);
  if (runningReward > 150) {
    console.log(`Solved at episode ${episode}!`);
    break;
  }
}
