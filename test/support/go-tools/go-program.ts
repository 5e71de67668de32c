import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from '../control-plane/build-lock.ts';
import { BuildProgress } from '../control-plane/build-progress.ts';
import { goBuild, goBuildEnvironment, goFingerprint, isExecutable, requireGo } from '../control-plane/go.ts';

/** A program that a go.mod of this repository pins. */
export interface GoProgram {
  readonly name: string;
  readonly importPath: string;
  /** Where the go.mod is. */
  readonly module: string;
  /** The folder of `.cache` that it is kept in. */
  readonly cache: string;
  /** Go's build tags. */
  readonly tags?: readonly string[];
  /** Parts of it are C. */
  readonly cgo?: boolean;
}

const cacheDirectory = fileURLToPath(new URL('../../../.cache/', import.meta.url));
const commonFlags = ['-mod=readonly', '-trimpath', '-ldflags', '-s -w'];

/**
 * The path of a program, built from source unless it has been before; whoever comes second waits for the first. Throws a
 * sentence when Go is missing, too old, or fails.
 *
 * @param alongside runs before the program counts as built: whatever else has to be in its directory
 */
export async function goProgram(
  program: GoProgram,
  alongside: (directory: string) => Promise<void> = async () => undefined,
): Promise<string> {
  const { name, module, tags = [] } = program;
  const flags = tags.length === 0 ? commonFlags : [...commonFlags, '-tags', tags.join(',')];
  const directory = join(cacheDirectory, program.cache, await goFingerprint(module, flags));
  const path = join(directory, name);
  if (await isExecutable(path)) return path;
  const environment = { ...process.env, ...goBuildEnvironment, ...(program.cgo ? { CGO_ENABLED: '1' } : {}) };
  await requireGo(module, environment);
  await mkdir(directory, { recursive: true });
  const progress = new BuildProgress(process.stderr);
  const onWait = (pid: number): void => progress.begin(`Waiting for process ${pid}, which builds ${name}`);
  const work = async (): Promise<void> => {
    progress.end();
    if (await isExecutable(path)) return;
    const unfinished = `${path}.unfinished`;
    try {
      await build(program, flags, unfinished, environment, progress);
      await alongside(directory);
      await rename(unfinished, path);
    } finally {
      await rm(unfinished, { force: true });
    }
  };
  await withLock(`${path}.lock`, onWait, work).finally(() => progress.end());
  return path;
}

async function build(
  { name, importPath, module }: GoProgram,
  flags: readonly string[],
  output: string,
  environment: NodeJS.ProcessEnv,
  progress: BuildProgress,
): Promise<void> {
  let downloads = 0;
  progress.begin(`Building ${name} from source`);
  try {
    await goBuild({
      directory: module,
      importPath,
      flags,
      environment,
      output,
      onDownload: () => progress.note(`${++downloads} modules fetched`),
    });
  } finally {
    progress.end();
  }
}
