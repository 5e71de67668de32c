import type { Context } from 'mocha';
import { type Browser, chromium } from 'playwright-core';
import { leaveOut } from '../left-out.ts';
import { programInPath } from '../program-in-path.ts';

const found = programInPath('chromium');

/** Leaves the tests out on a machine without chromium; where CI is `true` that counts as a failure. */
export async function startChromium(test: Context): Promise<Browser> {
  if (found === undefined) {
    leaveOut(test, 'what looks at pages, since chromium is not in PATH: run `make chromium`');
  }
  // Its sandbox is refused to root and where user namespaces are restricted; the pages are our own.
  return chromium.launch({ executablePath: found, chromiumSandbox: false });
}
