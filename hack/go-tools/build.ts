import { createHash } from 'node:crypto';
import { access, constants, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from '../control-plane/build-lock.ts';
import { BuildProgress } from '../control-plane/build-progress.ts';
import { goBuild, requireGo } from '../control-plane/go.ts';

/** Programs that tests use and that go.mod beside this pins. */
const importPaths = {
  helm: 'helm.sh/helm/v4/cmd/helm',
  // The Lua that Argo CD runs health checks with.
  glua: 'github.com/yuin/gopher-lua/cmd/glua',
} as const;

type GoTool = keyof typeof importPaths;

const moduleDirectory = fileURLToPath(new URL('.', import.meta.url));
const cacheDirectory = fileURLToPath(new URL('../../.cache/go-tools/', import.meta.url));
const flags = ['-mod=readonly', '-trimpath', '-ldflags', '-s -w'];
const buildEnvironment = { CGO_ENABLED: '0' };
const fingerprintCharacters = 12;

/**
 * The path of a program, built from source unless it has been before; whoever comes second waits for the first. Throws a
 * sentence when Go is missing, too old, or fails.
 */
export async function goTool(name: GoTool): Promise<string> {
  const directory = join(cacheDirectory, await fingerprint());
  const path = join(directory, name);
  if (await isExecutable(path)) return path;
  const environment = { ...process.env, ...buildEnvironment };
  await requireGo(moduleDirectory, environment);
  await mkdir(directory, { recursive: true });
  const progress = new BuildProgress(process.stderr);
  const onWait = (pid: number): void => progress.begin(`Waiting for process ${pid}, which builds ${name}`);
  const work = async (): Promise<void> => {
    progress.end();
    if (!(await isExecutable(path))) await build(name, path, environment, progress);
  };
  await withLock(`${path}.lock`, onWait, work).finally(() => progress.end());
  return path;
}

async function build(
  name: GoTool,
  path: string,
  environment: NodeJS.ProcessEnv,
  progress: BuildProgress,
): Promise<void> {
  const unfinished = `${path}.unfinished`;
  let downloads = 0;
  progress.begin(`Building ${name} from source`);
  try {
    await goBuild({
      directory: moduleDirectory,
      importPath: importPaths[name],
      flags,
      environment,
      output: unfinished,
      onDownload: () => progress.note(`${++downloads} modules fetched`),
    });
    await rename(unfinished, path);
  } finally {
    progress.end();
    await rm(unfinished, { force: true });
  }
}

/** What is built is fixed by go.mod, go.sum, the flags and the platform. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(join(moduleDirectory, file)));
  hash.update(JSON.stringify([flags, buildEnvironment, process.platform, process.arch]));
  return hash.digest('hex').slice(0, fingerprintCharacters);
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
