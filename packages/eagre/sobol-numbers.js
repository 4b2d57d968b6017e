// What `tf.math.sobolSample` needs for more than 1111 dimensions; Node, Bun and Deno find it themselves.
import '@eagre/core/sobol-numbers';
