import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, constants, glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const neededMajor = 1;
const neededMinor = 26;
const outputTailLines = 20;
const fingerprintCharacters = 12;

export const goBuildEnvironment = { CGO_ENABLED: '0' };

const needed = `Expected Go ${neededMajor}.${neededMinor} or newer in PATH to build the control plane with`;
const advice = 'install it from https://go.dev/dl, or point KUBEBUILDER_ASSETS at a directory with ready binaries';

/** Throws unless `go` is installed and new enough. `directory` has the go.mod of the build. */
export async function requireGo(directory: string, environment: NodeJS.ProcessEnv): Promise<void> {
  let version: string;
  try {
    const { stdout } = await run('go', ['env', 'GOVERSION'], { cwd: directory, env: environment });
    version = stdout.trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new Error(`${needed}, found no program \`go\`: ${advice}`, { cause: error });
    }
    const output = (error as { stderr?: string }).stderr ?? String(error);
    throw new Error(`${needed}, but \`go env\` failed: ${output.trim()}`, { cause: error });
  }
  const [, major = '0', minor = '0'] = /^go(\d+)\.(\d+)/.exec(version) ?? [];
  if (Number(major) < neededMajor || (Number(major) === neededMajor && Number(minor) < neededMinor)) {
    throw new Error(`${needed}, got ${version || 'an unknown version'}: ${advice}`);
  }
}

export interface GoBuild {
  /** Where the go.mod is. */
  readonly directory: string;
  readonly importPath: string;
  readonly flags: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly output: string;
  /** Called whenever another module has been fetched. */
  readonly onDownload: () => void;
  /** Ends the build, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** `go build`. Throws the end of the compiler's output when it fails. */
export function goBuild(build: GoBuild): Promise<void> {
  const { directory, importPath, flags, environment, output, onDownload, signal } = build;
  return new Promise((resolve, reject) => {
    const go = spawn('go', ['build', ...flags, '-o', output, importPath], {
      cwd: directory,
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    // To go itself that means to start nothing more and to remove what is half done.
    const interrupt = (): void => void go.kill('SIGINT');
    if (signal?.aborted) interrupt();
    signal?.addEventListener('abort', interrupt, { once: true });
    const lines: string[] = [];
    let rest = '';
    go.stderr.setEncoding('utf8');
    go.stderr.on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) {
        if (line.startsWith('go: downloading ')) {
          onDownload();
        } else {
          lines.push(line);
        }
      }
    });
    go.once('error', reject);
    go.once('close', (code, killedBy) => {
      signal?.removeEventListener('abort', interrupt);
      if (code === 0) {
        resolve();
        return;
      }
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const tail = [...lines, rest].slice(-outputTailLines).join('\n').trim();
      reject(new Error(`go build ${importPath} failed (${killedBy ?? `exit code ${code}`}): ${tail}`));
    });
  });
}

/**
 * The name of a build: go.mod, go.sum, programs beside them, the flags and the platform determine its output. `directory`
 * has the go.mod.
 */
export async function goFingerprint(directory: string, flags: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  const programs: string[] = [];
  for await (const file of glob('**/*.go', { cwd: directory })) programs.push(file);
  for (const file of ['go.mod', 'go.sum', ...programs.toSorted()]) hash.update(await readFile(join(directory, file)));
  hash.update(JSON.stringify([flags, goBuildEnvironment, process.platform, process.arch]));
  return hash.digest('hex').slice(0, fingerprintCharacters);
}

export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
