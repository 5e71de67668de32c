import type { backups } from '../../../src/core/rules/backups.ts';
import { stale } from '../cluster-builder.ts';
import { member } from '../member-builder.ts';
import { deletes, evicts, when } from '../table.ts';
import { type Examples, held } from './example.ts';

export const examples: Examples<keyof typeof backups> = {
  BackupRunning: {
    applies: held(stale().members(member(2).lagging()).budgets({ closed: true }), { budget: 'moco-test' }),
    says: 'PodDisruptionBudget moco-test allows no disruptions; MOCO sets it this way during a backup',
    justDoesNot: when(stale().members(member(2).lagging()), deletes('MemberNotParticipating', 2)),
    alsoSays: [
      { job: 'emergency-backup', startedAt: '2026-07-01T12:00:00Z' },
      'backup Job emergency-backup, which started at 2026-07-01T12:00:00Z, has not ended',
      { job: 'emergency-backup', startedAt: '2026-07-01T12:00:00Z', overdueHours: 6 },
      'backup Job emergency-backup, which started at 2026-07-01T12:00:00Z, has not ended within 6 hours: check whether its pod still makes progress, or whether another container, such as the proxy of a service mesh, keeps it running',
      { job: 'moco-restore-test', startedAt: '2026-07-01T12:00:00Z', restores: true },
      'restore Job moco-restore-test, which started at 2026-07-01T12:00:00Z, has not ended',
    ],
  },
  BackupsUnreadable: {
    applies: held(stale().but({ backupsUnreadable: 'jobs is forbidden.' }), { message: 'jobs is forbidden.' }),
    says: 'the controller cannot read Jobs (jobs is forbidden), so a backup may be running',
    justDoesNot: when(stale(), evicts('ReplicaHealthy', 2)),
  },
};
