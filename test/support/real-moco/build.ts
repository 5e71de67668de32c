import { execFile } from 'node:child_process';
import { chmod, cp, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { goProgram } from '../go-tools/go-program.ts';

const run = promisify(execFile);
const module = fileURLToPath(new URL('.', import.meta.url));
const mocoModule = 'github.com/cybozu-go/moco';
const writableDirectory = 0o755;

/** Absolute paths. */
export interface RealMocoFiles {
  /** The program moco-controller. */
  readonly controller: string;
  /** MOCO's own `config` directory: what an installation applies. */
  readonly configuration: string;
}

/** The moco-controller that go.mod beside this pins and its manifests, built from source unless they have been before. */
export async function realMocoFiles(): Promise<RealMocoFiles> {
  const controller = await goProgram(
    { name: 'moco-controller', importPath: `${mocoModule}/cmd/moco-controller`, module, cache: 'real-moco' },
    copyConfiguration,
  );
  return { controller, configuration: join(dirname(controller), 'config') };
}

/** The directory of MOCO's own Helm chart, read-only. */
export async function mocoChart(): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', mocoModule], { cwd: module });
  const { Dir: directory } = JSON.parse(stdout) as { readonly Dir: string };
  return join(directory, 'charts', 'moco');
}

async function copyConfiguration(directory: string): Promise<void> {
  const { stdout } = await run('go', ['list', '-m', '-f', '{{.Dir}}', mocoModule], { cwd: module });
  const target = join(directory, 'config');
  await rm(target, { recursive: true, force: true });
  await cp(join(stdout.trim(), 'config'), target, { recursive: true });
  // Go's module cache is read-only, and `make clean` has to be able to remove the copy.
  await chmod(target, writableDirectory);
  for (const entry of await readdir(target, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), writableDirectory);
  }
}
