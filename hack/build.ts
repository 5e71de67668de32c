import { rm, stat } from 'node:fs/promises';
import { build } from 'esbuild';

// One file of what runs, in dist/. Parts of libraries that nothing uses are left out, which is most of client-node.

const outfile = 'dist/main.js';

await rm('dist', { recursive: true, force: true });
const started = performance.now();
await build({
  entryPoints: ['src/main.ts'],
  outfile,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  minify: true,
  sourcemap: 'linked',
  legalComments: 'linked',
  // Libraries in CommonJS inside of it ask for Node's modules by `require`.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
});
const { size } = await stat(outfile);
console.log(
  `${outfile}: ${(size / 1024 / 1024).toFixed(1)} MiB in ${((performance.now() - started) / 1000).toFixed(1)} s`,
);
