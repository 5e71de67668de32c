import { fileURLToPath } from 'node:url';
import { imageConfig } from '../../../test/support/dockerfile.ts';

/** A way to run the program. */
export interface Variant {
  readonly name: string;
  /** Node's own flags, then the program. */
  readonly command: readonly string[];
  /** Variables that are added to the environment of this process. */
  readonly environment: Readonly<Record<string, string>>;
}

const file = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const { Env, Entrypoint } = await imageConfig();
/** How the image runs the program: its environment and Node's own flags. */
export const theImage = {
  environment: Object.fromEntries(Env.map((pair) => pair.split(/=(.*)/s, 2) as [string, string])),
  nodeFlags: Entrypoint.filter((word) => word.startsWith('--')),
};
const { environment, nodeFlags } = theImage;
const main = file('dist/main.js');
/** What the image runs. */
export const bundle: Variant = { name: 'bundle', command: [...nodeFlags, main], environment };
/** The variants, measured in turn on the same fleet. */
export const variants: readonly Variant[] = [
  bundle,
  { ...bundle, name: "without the image's environment", environment: {} },
  { ...bundle, name: 'with --optimize-for-size', command: ['--optimize-for-size', ...bundle.command] },
  { name: 'as Node is', command: [main], environment: {} },
  { name: 'source, as Node is', command: [file('src/main.ts')], environment: {} },
];
