import { milliseconds, object, text } from '../../base/json.ts';
import { isForbidden } from '../../kube/api-error.ts';
import { jobs } from '../../kube/resource.ts';
import { clusterKind, jobSelectorOf } from '../../moco/names.ts';
import { projectJob } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { brief } from '../terminal/lines.ts';
import { find, listAll } from './clusters.ts';
import type { Session } from './session.ts';

/** A sentence that says which backup is running and when the last one was made. Rejects with `ApiError`. */
export async function backupSentence(session: Session, cluster: ClusterRecord): Promise<string> {
  const { namespace, name, hasBackupPolicy } = cluster;
  const [raw, running] = await Promise.all([
    find(session, clusterKind, namespace, name),
    runningJobs(session, cluster).catch((error: unknown) => {
      if (!isForbidden(error)) throw error;
      return ['you may not read Jobs, so it is unknown whether one runs'];
    }),
  ]);
  const { time, elapsed } = object(object(object(raw)['status'])['backup']);
  const at = milliseconds(text(time) ?? null);
  const last =
    at === null
      ? hasBackupPolicy
        ? 'no backup was made yet'
        : 'no backup policy'
      : `the last one was made at ${text(time)}, ${brief((session.world.wall() - at) / 1000)} ago, in ${text(elapsed) ?? 'an unknown time'}`;
  return [...running, last].join('; ');
}

async function runningJobs(session: Session, { namespace, name }: ClusterRecord): Promise<readonly string[]> {
  const found = await listAll(session, jobs, namespace, { labelSelector: jobSelectorOf(name) });
  return found.flatMap((raw) => {
    const job = projectJob(raw);
    if (job === null) return [];
    const seconds = (session.world.wall() - (milliseconds(job.startedAt) ?? 0)) / 1000;
    return [`Job ${job.name} has been ${job.restores ? 'restoring' : 'running'} for ${brief(seconds)}`];
  });
}
