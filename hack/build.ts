import { chmod, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';

// Bundles the program into dist/ or another directory. The controller is main.js, with the code that it shares with the
// commands; code that only one command needs is loaded only by that command. The kubectl plugin is a single file,
// cli.cjs, which can be copied into any directory in PATH. The bundle leaves out the unused parts of libraries, for
// example most of client-node.

const [outdir = 'dist'] = process.argv.slice(2);
const executable = 0o755;
const clientNode = '@kubernetes/client-node';
/**
 * The oldest Node for which the plugin can print a readable error: that Node can parse the whole plugin, and the plugin
 * then says which version it needs.
 */
const oldestThatIsTold = 'node16';
const toldToOldNodes = `if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error('kubectl moco-rollout: expected Node 24 or newer in PATH, found Node ' + process.versions.node + ': install it, or the plugin that includes its own Node');
  process.exit(1);
}`;

/**
 * The modules of client-node have no side effects when they are loaded (its polyfill is for Node before 20), but its
 * package.json does not say so. Without this plugin, all kinds and streams of client-node, and everything that they
 * import, would stay in the bundle and in memory.
 */
const clientNodeByNeed: Plugin = {
  name: 'client-node by need',
  setup(builder) {
    // The paths are computed here, because esbuild takes ten times as long to resolve each of them.
    builder.onResolve({ filter: /^(\.|@kubernetes\/client-node$)/ }, ({ path, importer, resolveDir }) => {
      if (path === clientNode) return { path: fileURLToPath(import.meta.resolve(clientNode)), sideEffects: false };
      if (importer.includes(`node_modules/${clientNode}/`)) return { path: join(resolveDir, path), sideEffects: false };
      return undefined;
    });
  },
};

await rm(outdir, { recursive: true, force: true });
const started = performance.now();
const common: BuildOptions = {
  outdir,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  minify: true,
  sourcemap: 'linked',
  legalComments: 'linked',
  plugins: [clientNodeByNeed],
  // CommonJS libraries in the bundle load Node's modules with `require`.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
};
await Promise.all([
  // Without splitting, everything that a command shares would be included as a whole, whether it is used or not.
  build({ ...common, entryPoints: ['src/main.ts'], splitting: true, chunkNames: '[name]-[hash]' }),
  build({
    ...common,
    entryPoints: { cli: 'src/cli/main.ts' },
    format: 'cjs',
    target: oldestThatIsTold,
    outExtension: { '.js': '.cjs' },
    sourcemap: false,
    banner: { js: toldToOldNodes },
  }),
]);
await chmod(join(outdir, 'cli.cjs'), executable);
const files = (await readdir(outdir)).filter((name) => /\.c?js$/.test(name));
const sizes = await Promise.all(files.map(async (name) => (await stat(join(outdir, name))).size));
const mebibytes = sizes.reduce((sum, size) => sum + size, 0) / 1024 / 1024;
console.log(
  `${outdir}/main.js, ${outdir}/cli.cjs and ${files.length - 2} more: ${mebibytes.toFixed(1)} MiB in ${((performance.now() - started) / 1000).toFixed(1)} s`,
);
