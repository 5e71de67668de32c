import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import type { Context } from 'mocha';
import { leaveOut } from '../left-out.ts';
import { programInPath } from '../program-in-path.ts';

/** Prometheus' own checker, of Debian's package `prometheus`; `make debian-packages` fetches it. */
const found = programInPath('promtool', resolve('.cache/debian'));

export interface Checked {
  readonly status: number | null;
  /** Everything that it said. */
  readonly said: string;
}

/** Leaves the test out on a machine without promtool; where CI is `true` that counts as a failure. */
export function promtool(test: Context, args: readonly string[], input = ''): Checked {
  if (found === undefined) {
    leaveOut(test, 'what checks metrics and alerts, since promtool is not in PATH: run `make debian-packages`');
  }
  const { status, stdout, stderr, error } = spawnSync(found, args, { input, encoding: 'utf8' });
  if (error) throw error;
  return { status, said: `${stdout}${stderr}` };
}
