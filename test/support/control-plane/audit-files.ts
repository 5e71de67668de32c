import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuditEvent, AuditLog } from './audit-log.ts';
import { markerPath } from './audit-policy.ts';
import { until } from './until.ts';

/** Of an API server that records requests. Paths. */
export interface AuditFiles {
  readonly policy: string;
  readonly log: string;
}

/** Writes the policy and an empty log into `directory`. */
export async function prepareAudit(directory: string, content: object): Promise<AuditFiles> {
  const policy = join(directory, 'audit-policy.json');
  const log = join(directory, 'audit.log');
  await writeFile(policy, JSON.stringify(content));
  await writeFile(log, '', { mode: 0o600 });
  return { policy, log };
}

/** Of the API server. */
export function auditFlags({ policy, log }: AuditFiles): readonly string[] {
  return [
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${log}`,
    '--audit-log-mode=blocking',
    // Megabytes. Rotation would lose the beginning of the log.
    '--audit-log-maxsize=100000',
  ];
}

/**
 * Every request so far, in the order in which the API server finished them. Everything that was answered before this call
 * is in it.
 *
 * @param request asks the API server for a path, whatever it answers
 */
export async function auditedSoFar(
  log: AuditLog,
  request: (path: string) => Promise<unknown>,
): Promise<readonly AuditEvent[]> {
  // A log entry is written when a request ends, which can be shortly after its answer arrived. Once a later request of
  // our own is in the log, so are the earlier ones.
  const marker = `${markerPath}/${randomBytes(8).toString('hex')}`;
  await request(marker);
  return until(`the API server's audit log shows ${marker}`, async () => {
    const events = await log.read();
    const end = events.findIndex(({ requestURI }) => requestURI === marker);
    return end === -1 ? undefined : events.slice(0, end).filter((event) => !event.requestURI.startsWith(markerPath));
  });
}
