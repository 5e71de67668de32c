import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

// Reads `watch PID`, `forget PID`, `remove DIRECTORY` lines until the other end of the pipe is closed for whatever
// reason, kill -9 included; then it kills the remaining processes and removes the directories.
const script = `
trap '' INT TERM HUP QUIT
pids=' '
while read -r word value; do
  case $word in
    watch) pids="$pids$value " ;;
    forget) pids=$(printf '%s' "$pids" | sed "s/ $value / /") ;;
    remove) set -- "$@" "$value" ;;
  esac
done
for pid in $pids; do kill -9 "$pid" 2>/dev/null; done
for directory; do
  # A process that was killed a moment ago may still be writing.
  for try in 1 2 3 4 5; do rm -rf "$directory" 2>/dev/null && break; sleep 0.2; done
done
`;

/**
 * A tiny process that briefly outlives this one and cleans up after it, however it ended. Children are started
 * detached, so that Ctrl-C in the terminal reaches only this program, which then stops them in order; the guard makes
 * that safe.
 */
export class Guard {
  readonly #process: ChildProcess;
  readonly #input: Writable;

  constructor() {
    this.#process = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    const { stdin } = this.#process;
    if (stdin === null) {
      throw new Error('Expected the guard process to have a standard input, got none');
    }
    this.#input = stdin;
    // A guard that died can't be written to; what it guarded is then stopped by stop() alone.
    this.#input.on('error', () => undefined);
    this.#process.unref();
    (this.#input as Writable & { unref?: () => void }).unref?.();
  }

  watch(pid: number): void {
    this.#input.write(`watch ${pid}\n`);
  }

  forget(pid: number): void {
    this.#input.write(`forget ${pid}\n`);
  }

  /** Removes `directory` when this process ends. */
  remove(directory: string): void {
    this.#input.write(`remove ${directory}\n`);
  }

  /** Lets the guard do its work at once and waits for its end. */
  async close(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) {
      return;
    }
    const exited = new Promise<void>((resolve) => this.#process.once('exit', () => resolve()));
    this.#process.ref();
    this.#input.end();
    await exited;
  }
}
