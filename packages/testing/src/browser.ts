import { existsSync } from 'node:fs';

/**
 * Where Chromium is, for tests of pages: `EAGRE_CHROMIUM`, or a usual place. Without one those tests are skipped, and say so.
 */
export const browserPath: string | undefined = [
  process.env['EAGRE_CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
].find((path) => path !== undefined && path !== '' && existsSync(path));
if (browserPath === undefined) console.log('Pages are not tested: no Chromium; EAGRE_CHROMIUM names one.');
