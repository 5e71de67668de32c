import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where `hack/run-tests.ts` has built the programs that its tests start. */
export const builtVariable = 'MOCO_ROLLOUT_BUILT';

const built = process.env[builtVariable];
const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));

/** The programs that tests start: the bundles of `make build`, as they are shipped; without a build their sources. */
export const programs = {
  image: built === undefined ? source('main.ts') : join(built, 'main.js'),
  plugin: built === undefined ? source('cli/main.ts') : join(built, 'cli.cjs'),
} as const;
