/** `node --import eagre/register train.js`: marked functions are converted as Node loads their modules. */
import '@eagre/autograph/register';
