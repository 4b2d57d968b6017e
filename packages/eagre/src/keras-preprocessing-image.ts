/** `tf.keras.preprocessing.image`. */
export { arrayToImg, imgToArray, loadImg, saveImg } from '@eagre/data';
