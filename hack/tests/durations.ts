import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** How many milliseconds each file took when it last ran. Stored in a file in this checkout. */
export class Durations {
  readonly #path: string;
  readonly #milliseconds: Map<string, number>;

  private constructor(path: string, milliseconds: Map<string, number>) {
    this.#path = path;
    this.#milliseconds = milliseconds;
  }

  static async read(path: string): Promise<Durations> {
    try {
      const parsed = JSON.parse(await readFile(path, 'utf8')) as Record<string, number>;
      return new Durations(path, new Map(Object.entries(parsed)));
    } catch {
      // No test has run in this checkout yet.
      return new Durations(path, new Map());
    }
  }

  /** Puts the longest files first, so that none of them starts last. A file without a known duration counts as long. */
  longestFirst(files: readonly string[]): string[] {
    const of = (file: string): number => this.#milliseconds.get(file) ?? Number.MAX_SAFE_INTEGER;
    return files.toSorted((a, b) => of(b) - of(a));
  }

  set(file: string, milliseconds: number): void {
    this.#milliseconds.set(file, Math.round(milliseconds));
  }

  async write(): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true });
    await writeFile(this.#path, `${JSON.stringify(Object.fromEntries(this.#milliseconds), null, 1)}\n`);
  }
}
