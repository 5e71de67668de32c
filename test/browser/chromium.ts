import type { Context } from 'mocha';
import { type Browser, chromium } from 'playwright-core';
import { programInPath } from '../program-in-path.ts';

const found = programInPath('chromium');

/** Leaves the tests out on a machine without chromium; where CI is `true` that counts as a failure. */
export async function startChromium(test: Context): Promise<Browser> {
  if (found === undefined) {
    console.log('      chromium is not in PATH, and what looks at pages is left out: run `make chromium`');
    test.skip();
  }
  // Its sandbox is refused to root and where user namespaces are restricted; the pages are our own.
  return chromium.launch({ executablePath: found, chromiumSandbox: false });
}
