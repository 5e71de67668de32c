import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

// The CycloneDX list of everything in an image: the packages of the bundle as npm lists them, Node, and the Debian
// packages of the libraries that Node is linked with. hack/image/tree.sh puts the descriptions of the Debian packages
// into the tree.
//
// usage: hack/sbom.ts TREE OUTFILE

interface Component {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly [field: string]: unknown;
}

const listBytes = 16 * 1024 * 1024;
const [tree, outfile] = process.argv.slice(2);
if (tree === undefined || outfile === undefined) {
  console.error('usage: hack/sbom.ts TREE OUTFILE: a directory that hack/image/tree.sh has made, and a new file');
  process.exit(2);
}
const npm = ['sbom', '--sbom-format=cyclonedx', '--omit=dev', '--package-lock-only', '--loglevel=error'];
const { stdout } = await promisify(execFile)('npm', npm, { maxBuffer: listBytes });
const list = JSON.parse(stdout) as { readonly components: readonly Component[] };
// npm's packages of Node are left out: they contain the Node that runs the tests.
const packages = list.components.filter(({ name }) => !/^node-(linux|bin)-/.test(name));
const all = [...packages, await nodeIn(tree), ...(await debianPackages(tree))];
await writeFile(outfile, `${JSON.stringify({ ...list, components: all }, null, 2)}\n`);
console.log(`${outfile}: ${all.length} components`);

async function nodeIn(root: string): Promise<Component> {
  const answer = await promisify(execFile)(join(root, 'usr/local/bin/node'), ['--version']);
  const version = answer.stdout.trim().replace(/^v/, '');
  return {
    type: 'application',
    'bom-ref': `node@${version}`,
    name: 'node',
    version,
    purl: `pkg:generic/node@${version}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
  };
}

/**
 * The Debian packages, each with the name of its source package, which Debian's advisories use: libc6 belongs to glibc.
 */
async function debianPackages(root: string): Promise<readonly Component[]> {
  const directory = join(root, 'var/lib/dpkg/status.d');
  const release = await readFile(join(root, 'etc/os-release'), 'utf8');
  const distribution = /^VERSION_ID="?([\w.]+)"?$/m.exec(release)?.[1] ?? '';
  const names = (await readdir(directory)).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const description = await readFile(join(directory, name), 'utf8');
      const field = (of: string): string => new RegExp(`^${of}: (\\S+)`, 'm').exec(description)?.[1] ?? '';
      const [version, architecture] = [field('Version'), field('Architecture')];
      const purl = `pkg:deb/debian/${name}@${version.replaceAll('+', '%2B')}?arch=${architecture}&distro=debian-${distribution}`;
      const source = field('Source') || name;
      const properties = [{ name: 'debian:source', value: source }];
      return { type: 'library', 'bom-ref': purl, name, version, purl, properties };
    }),
  );
}
