/** Conversion by `tf.autograph` while building: `import { autograph } from 'eagre/plugin'`. */
export { type AutographPluginOptions, autograph } from '@eagre/autograph/plugin';
