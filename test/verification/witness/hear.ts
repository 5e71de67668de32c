import type { AuditEvent } from '../../support/control-plane/audit-log.ts';
import { heardDisruptions } from './heard-disruptions.ts';
import type { Change } from './moment.ts';
import { Witness } from './witness.ts';

/**
 * The witness of a real API server: it sees the watches, and the requests of this user in the audit log. The user may
 * have several processes at a time, each with a token of its own.
 */
export function hear(
  changes: readonly Change[],
  audit: readonly AuditEvent[],
  user: string,
  options: ConstructorParameters<typeof Witness>[1] = {},
): Witness {
  const witness = new Witness(null, options);
  const disruptions = heardDisruptions(changes, audit, user, (...found) => witness.object(...found));
  let next = 0;
  for (const change of changes) {
    for (; next < disruptions.length; next += 1) {
      const disruption = disruptions[next];
      if (disruption === undefined || disruption.before >= change.revision) break;
      witness.disrupted(disruption);
    }
    witness.observe(change);
  }
  for (const disruption of disruptions.slice(next)) witness.disrupted(disruption);
  return witness;
}
