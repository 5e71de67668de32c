import { fileURLToPath } from 'node:url';

/** A way to run the program. */
export interface Variant {
  readonly name: string;
  /** Node's own flags, then the program. */
  readonly command: readonly string[];
}

const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const smallYoungGeneration = '--max-semi-space-size=4';
/** What Node takes for itself in a container of 512 MiB, as `config/manager` has it; on a large machine it takes more. */
const oldGeneration = '--max-old-space-size=256';

/** What the image runs. */
export const bundle: Variant = {
  name: 'bundle',
  command: [smallYoungGeneration, oldGeneration, file('dist/main.js')],
};
/** One after the other on the same fleet: the first one finds what nobody has taken over yet. */
export const variants: readonly Variant[] = [
  { ...bundle, name: 'bundle, first start' },
  bundle,
  { name: 'bundle, young generation as Node is', command: [oldGeneration, file('dist/main.js')] },
  { name: 'bundle, as Node is', command: [file('dist/main.js')] },
  { name: 'source', command: [file('src/main.ts')] },
];
/** Connection, reflectors, stores and work queue alone. */
export const runtimeAlone: Variant = { name: 'runtime', command: [file('hack/bench-runtime/runtime/main.ts')] };
