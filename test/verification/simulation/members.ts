import { clusterNameLabel } from '../../../src/moco/names.ts';
import type { StoredObject } from '../../support/api-server/stored-object.ts';

/** A pod of the cluster, and none that fetches images for it. */
export const isMember = ({ metadata }: StoredObject): boolean => metadata.labels?.[clusterNameLabel] !== undefined;
