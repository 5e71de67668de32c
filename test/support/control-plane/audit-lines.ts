import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { AuditEvent } from './audit-log.ts';

/** How long the record is, to read on from there later. */
export async function endOfAudit(file: string): Promise<number> {
  return (await stat(file)).size;
}

/**
 * Reads a part of the API server's record line by line: all of it may be far larger than what memory is there for.
 *
 * @param from bytes from its beginning, where a line begins
 * @param to the byte before which it ends
 */
export async function readAudit(
  file: string,
  { from, to }: { readonly from: number; readonly to: number },
  onEvent: (event: AuditEvent) => void,
): Promise<void> {
  if (to <= from) return;
  const stream = createReadStream(file, { start: from, end: to - 1 });
  for await (const line of createInterface({ input: stream })) {
    // A panic's own record has no answer, and the last line may still be on its way.
    if (line.endsWith('}')) onEvent(JSON.parse(line) as AuditEvent);
  }
}
