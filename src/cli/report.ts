import { type MySQLRollout, rolloutKind } from '../controller/rollout-resource.ts';
import { isForbidden } from '../kube/api-error.ts';
import { events } from '../kube/resource.ts';
import type { Json } from '../moco/json.ts';
import { clusterKind } from '../moco/names.ts';
import type { ClusterRecord } from '../moco/records.ts';
import { clusterNamed, find, listAll } from './clusters.ts';
import type { ClusterCommand } from './command.ts';
import { CommandError } from './failure.ts';
import { page } from './report/page.ts';
import { timelinesOf } from './report/timeline.ts';
import type { Session } from './session.ts';

/** The last rollouts as a page to send around. */
export const reportCommand: ClusterCommand = {
  name: 'report',
  arguments: '<NAME>',
  completes: ['cluster'],
  summary: 'Write a page with a timeline of the last rollouts: report NAME > rollout.html',
  help: 'One HTML file without scripts or addresses. When members were taken is known as long as the API server keeps events, an hour unless it is told otherwise.',
  connects: true,
  run: async (session, [name = '']) => {
    const { host, world } = session;
    if (host.terminal() !== null)
      throw new CommandError('a page is not for a terminal; write it into a file: report NAME > rollout.html');
    const cluster = await clusterNamed(session, name);
    const [rollout, told] = await Promise.all([
      find(session, rolloutKind, cluster.namespace, name),
      eventsAbout(session, cluster),
    ]);
    const now = world.wall();
    const { status = {} } = (rollout as MySQLRollout | null) ?? {};
    const timelines = timelinesOf(cluster, status, told, now);
    host.out(page(`${cluster.namespace}/${name}`, timelines, now));
    return 0;
  },
};

async function eventsAbout(session: Session, { namespace, name, uid }: ClusterRecord): Promise<readonly Json[]> {
  const fieldSelector = `regarding.kind=${clusterKind.kind},regarding.name=${name},regarding.uid=${uid}`;
  try {
    return await listAll(session, events, namespace, { fieldSelector });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    session.host.err('warning: you may not read events: when members were taken is left out\n');
    return [];
  }
}
