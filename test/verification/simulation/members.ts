import { clusterNameLabel, revisionHashLabel } from '../../../src/moco/names.ts';
import type { StoredObject } from '../../support/api-server/stored-object.ts';

/** A pod that a StatefulSet has made for the cluster, and none that fetches images for it or has its labels alone. */
export const isMember = ({ metadata }: StoredObject): boolean =>
  metadata.labels?.[clusterNameLabel] !== undefined && metadata.labels[revisionHashLabel] !== undefined;
