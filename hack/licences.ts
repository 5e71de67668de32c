import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

// Writes the licences of everything that the bundle may contain into dist/licences.txt: of every package in
// package-lock.json that is not only for development. Fails if a package has a licence that is not in the list of
// reviewed ones.

/** Licences that only require the licence to be passed on with the software. */
const accepted = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'PSF-2.0', 'Unlicense'];
/** Node itself, which the image copies from another image together with its licence. */
const isNode = /^node_modules\/node-(linux|bin)-/;
const outfile = 'dist/licences.txt';

interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
}

const lock = JSON.parse(await readFile('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
const shipped = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev && !isNode.test(path));
const unknown = shipped.filter(([, { license = '' }]) => !accepted.includes(license));
if (unknown.length > 0) {
  const named = unknown.map(([path, { license = 'none' }]) => `${nameOf(path)} (${license})`).join(', ');
  console.error(
    `expected one of the licences ${accepted.join(', ')}, got ${named}: review it, then add it to hack/licences.ts`,
  );
  process.exit(1);
}
const parts = await Promise.all(
  shipped.map(
    async ([path, { version, license }]) => `${nameOf(path)} ${version}: ${license}\n\n${await textIn(path)}`,
  ),
);
await mkdir('dist', { recursive: true });
await writeFile(outfile, parts.join(`\n${'-'.repeat(80)}\n\n`));
console.log(`${outfile}: ${shipped.length} packages`);

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** Some packages name a licence but do not contain its text. */
async function textIn(path: string): Promise<string> {
  const files = await readdir(path);
  const file = files.find((name) => /^(licen[cs]e|copying|unlicense)(\.|$)/i.test(name));
  return file === undefined ? '(the package has no text of its own)\n' : readFile(join(path, file), 'utf8');
}
