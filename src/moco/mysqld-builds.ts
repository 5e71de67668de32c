import type { PodRecord } from './records.ts';

/** Members of one revision whose nodes have resolved the same image of mysqld to different builds. */
export interface DifferentBuilds {
  readonly image: string;
  /** The pods that run each build, by the build's digest. The build of the lowest ordinal comes first. */
  readonly builds: readonly { readonly digest: string; readonly members: readonly string[] }[];
}

/** The digest in an image id, such as the `sha256:…` of `docker.io/library/mysql@sha256:…`. */
const digestOf = (imageId: string): string => /sha256:[0-9a-f]{64}/.exec(imageId)?.[0] ?? imageId;

/**
 * A tag can move, and a node keeps the image that it has pulled. So a member that moves to another node may get an
 * older mysqld than the one that last opened its data, although its revision does not change.
 */
export function differentBuilds(pods: readonly PodRecord[]): readonly DifferentBuilds[] {
  const known = pods
    .filter(({ imageId, mysqld }) => imageId !== null && mysqld.image !== null)
    .toSorted((one, other) => one.ordinal - other.ordinal);
  const byRevision = Map.groupBy(known, ({ revision, mysqld }) => JSON.stringify([revision, mysqld.image]));
  return [...byRevision.values()].flatMap((members) => {
    const byDigest = Map.groupBy(members, ({ imageId }) => digestOf(imageId ?? ''));
    const builds = [...byDigest].map(([digest, of]) => ({ digest, members: of.map(({ name }) => name) }));
    return builds.length < 2 ? [] : [{ image: members[0]?.mysqld.image ?? '', builds }];
  });
}

/** An explanation, as a sentence without a full stop. */
export const explainBuilds = ({ image, builds }: DifferentBuilds): string =>
  `image ${image} is not the same build everywhere: ${builds.map(({ digest, members }) => `${members.join(', ')} ${members.length === 1 ? 'runs' : 'run'} ${digest}`).join('; ')}; ` +
  'pin the image by its digest, since a pod that moves may get an older mysqld';
