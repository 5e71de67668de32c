import { UsageError } from '../../failure.ts';
import { statefulSetName } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { CommandError } from '../failure.ts';
import { clusterNamed } from './clusters.ts';
import type { Session } from './session.ts';

export interface NamedMember {
  readonly cluster: ClusterRecord;
  readonly ordinal: number;
  /** The name of its pod. */
  readonly name: string;
}

/** Finds a member by the name of its pod, such as `moco-test-2` or `pod/moco-test-2`. */
export async function memberNamed(session: Session, pod: string): Promise<NamedMember> {
  const plain = pod.replace(/^pods?\//, '');
  const [, name, ordinal] = new RegExp(`^${statefulSetName('(.+)')}-(\\d+)$`).exec(plain) ?? [];
  if (name === undefined || ordinal === undefined) {
    throw new UsageError(`expected the name of a member's pod such as ${statefulSetName('test')}-2, got \`${pod}\``);
  }
  const cluster = await clusterNamed(session, name);
  if (Number(ordinal) >= cluster.replicas) {
    const last = `${statefulSetName(name)}-${cluster.replicas - 1}`;
    throw new CommandError(
      `pods "${plain}" not found: ${name} has ${cluster.replicas} members, the last of them ${last}`,
    );
  }
  return { cluster, ordinal: Number(ordinal), name: plain };
}
