import { rm, stat } from 'node:fs/promises';
import { build, type Plugin } from 'esbuild';

// One file of what runs, in dist/. Parts of libraries that nothing uses are left out, which is most of client-node.

const outfile = 'dist/main.js';
const clientNode = '@kubernetes/client-node';

/**
 * No module of client-node does anything by being loaded (its polyfill is for Nodes before 20), though its package.json
 * doesn't say so: without that its kinds, its streams and what they import would stay in, and in memory.
 */
const clientNodeByNeed: Plugin = {
  name: 'client-node by need',
  setup(builder) {
    builder.onResolve({ filter: /^(\.|@kubernetes\/client-node)/ }, async ({ path, pluginData, ...from }) => {
      const isOurs = path.startsWith(clientNode) || from.importer.includes(`node_modules/${clientNode}/`);
      if (!isOurs || pluginData === clientNode) return undefined;
      const resolved = await builder.resolve(path, { ...from, pluginData: clientNode });
      return { ...resolved, sideEffects: false };
    });
  },
};

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
  plugins: [clientNodeByNeed],
  // Libraries in CommonJS inside of it ask for Node's modules by `require`.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
});
const { size } = await stat(outfile);
console.log(
  `${outfile}: ${(size / 1024 / 1024).toFixed(1)} MiB in ${((performance.now() - started) / 1000).toFixed(1)} s`,
);
