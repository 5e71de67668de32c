import type { Log } from '../../src/base/world.ts';

/** Keeps what is logged. */
export class FakeLog implements Log {
  readonly lines: { readonly level: string; readonly fields: object; readonly message: string }[] = [];

  debug(fields: object, message: string): void {
    this.lines.push({ level: 'debug', fields, message });
  }

  info(fields: object, message: string): void {
    this.lines.push({ level: 'info', fields, message });
  }

  warn(fields: object, message: string): void {
    this.lines.push({ level: 'warn', fields, message });
  }

  error(fields: object, message: string): void {
    this.lines.push({ level: 'error', fields, message });
  }

  /** The messages of one level. */
  of(level: 'debug' | 'info' | 'warn' | 'error'): readonly string[] {
    return this.lines.filter((line) => line.level === level).map(({ message }) => message);
  }
}
