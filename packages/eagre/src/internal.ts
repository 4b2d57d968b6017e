/** What code converted by `tf.autograph` imports. No promise is made to anyone else: names here change without notice. */
export * from '@eagre/autograph/internal';
