/** `tf.experimental.extensionType`: what goes with `tf.experimental.ExtensionType`. */
export { asDict, field } from '@eagre/graph';
