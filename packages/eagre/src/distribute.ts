/** `tf.distribute`: strategies that train on several devices. */
export * from '@eagre/distribute';
