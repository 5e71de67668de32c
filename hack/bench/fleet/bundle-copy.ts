import { cp, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Guard } from '../../../test/support/control-plane/guard.ts';

const built = fileURLToPath(new URL('../../../dist', import.meta.url));

/**
 * Copies the bundle that `make build` has written to dist/, so that a later build does not change the measured bundle.
 * Resolves to the path of the copied program.
 */
export async function bundleCopy(guard: Guard): Promise<string> {
  const files = await readdir(built).catch((): string[] => []);
  if (!files.includes('main.js')) throw new Error('Expected the bundle in dist/, found none: run `make build` first.');
  const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-bundle-'));
  guard.remove(directory);
  for (const file of files.filter((name) => name.endsWith('.js'))) await cp(join(built, file), join(directory, file));
  return join(directory, 'main.js');
}
