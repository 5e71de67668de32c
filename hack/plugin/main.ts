import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { withArguments } from '../program/run-program.ts';
import { krewManifest, type Packed, pluginName } from './krew.ts';
import { packageFor } from './package.ts';
import { native, platforms } from './platforms.ts';
import { makeSources } from './sources.ts';

// Builds kubectl's plugin for every platform in dist/plugin/: one file each, its archive, checksums, and krew's
// manifest. The same sources result in the same bytes.

const names = platforms.map(({ name }) => name).join(', ');
const outdir = fileURLToPath(new URL('../../dist/plugin', import.meta.url));
/** This domain is reserved (RFC 2606). The publisher of a release sets the address of the archives. */
const nowhere = 'https://releases.invalid/moco-rollout';

const command = new Command('hack/plugin/main.ts')
  .option(
    '--platform <name>',
    `${names}, or native (this machine with its own Node); default: all except native, and krew's manifest`,
  )
  .option('--address <url>', "the address of the archives, for krew's manifest", nowhere)
  .option('--homepage <url>', "the project's page, for krew's manifest");
const values = withArguments(command).opts<{ platform?: string; address: string; homepage?: string }>();
const wanted =
  values.platform === 'native'
    ? [native]
    : platforms.filter(({ name }) => values.platform === undefined || values.platform === name);
if (wanted.length === 0) command.error(`error: --platform is one of ${names}, native, got ${values.platform}`);

const archives: Packed[] = [];
const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-plugin-'));
try {
  const sources = await makeSources(directory);
  await mkdir(outdir, { recursive: true });
  for (const platform of wanted) {
    const archive = await packageFor(platform, sources, outdir);
    archives.push(archive);
    console.log(`dist/plugin/${archive.file}`);
  }
} finally {
  await rm(directory, { recursive: true });
}
await write('checksums.txt', archives.map(({ file, sha256 }) => `${sha256}  ${file}\n`).join(''));
if (values.platform === undefined) {
  await write(`${pluginName}.yaml`, krewManifest(archives, values.address, values.homepage));
}

async function write(name: string, text: string): Promise<void> {
  await writeFile(join(outdir, name), text);
  console.log(`dist/plugin/${name}`);
}
