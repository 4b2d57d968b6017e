// JPEG and PNG files of every kind, by the addon.
import '@eagre/backend-js';
import { loadCodecs } from '@eagre/backend-native/here';
import { describe } from 'vitest';
import { testCodecs } from '../testing/picture-cases.ts';

describe.runIf(loadCodecs() !== undefined)('the native codecs', testCodecs);
