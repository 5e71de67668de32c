import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeOnce } from '../control-plane/build-lock.ts';
import type { BuildProgress, ProgressOutput } from '../control-plane/build-progress.ts';
import { goBuild, goBuildEnvironment, goFingerprint, isExecutable, requireGo } from '../control-plane/go.ts';

/** A program of a go.mod, and where it is kept. */
export interface GoBuilding {
  readonly name: string;
  readonly importPath: string;
  /** Where the go.mod is. */
  readonly module: string;
  readonly flags: readonly string[];
  /** Where the program is kept. */
  readonly directory: string;
  /** What progress shows. */
  readonly title?: string;
  /** What `go` is found and run in. */
  readonly environment: NodeJS.ProcessEnv;
  readonly output?: ProgressOutput;
  /** Ends a build that is under way, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A program that a go.mod of this repository pins. */
export interface GoProgram extends Pick<GoBuilding, 'name' | 'importPath' | 'module'> {
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
  { cache, tags = [], cgo = false, ...program }: GoProgram,
  alongside?: (directory: string) => Promise<void>,
): Promise<string> {
  const flags = tags.length === 0 ? commonFlags : [...commonFlags, '-tags', tags.join(',')];
  const directory = join(cacheDirectory, cache, await goFingerprint(program.module, flags));
  const environment = { ...process.env, ...goBuildEnvironment, ...(cgo && { CGO_ENABLED: '1' }) };
  return builtProgram({ ...program, flags, directory, environment }, alongside);
}

/** The same in a directory, with flags and in an environment that the caller chooses. */
export async function builtProgram(
  building: GoBuilding,
  alongside: (directory: string) => Promise<void> = async () => undefined,
): Promise<string> {
  const { name, module, directory, environment, output, signal } = building;
  const path = join(directory, name);
  await makeOnce({
    path,
    doing: `builds ${name}`,
    isMade: () => isExecutable(path),
    make: async (progress) => {
      await requireGo(module, environment);
      const unfinished = `${path}.unfinished`;
      try {
        await build(building, unfinished, progress);
        await alongside(directory);
        await rename(unfinished, path);
      } finally {
        await rm(unfinished, { force: true });
      }
    },
    output,
    signal,
  });
  return path;
}

async function build(
  { name, importPath, module, flags, title = `Building ${name} from source`, environment, signal }: GoBuilding,
  output: string,
  progress: BuildProgress,
): Promise<void> {
  let downloads = 0;
  progress.begin(title);
  try {
    await goBuild({
      directory: module,
      importPath,
      flags,
      environment,
      output,
      onDownload: () => progress.note(`${++downloads} modules fetched`),
      signal,
    });
  } finally {
    progress.end();
  }
}
