import { pods } from '../../../src/kube/resource.ts';
import { record, type StoredObject } from '../../support/api-server/stored-object.ts';
import type { Lasting } from './act.ts';
import { deletePod, evict } from './acts-of-people.ts';
import { isMember } from './members.ts';
import type { Platform } from './platform.ts';

/** `kubectl drain` tries again so long after an eviction that a PodDisruptionBudget does not allow (1.36). */
const retryMilliseconds = 5_000;

export interface NodeUpgrades extends Lasting {
  /** From the cordon to the drain. */
  readonly noticeMilliseconds: number;
  /** From the end of the drain until the node is back and takes pods again. */
  readonly bootMilliseconds: number;
}

/** After so long the pods that are left are deleted, as node upgrades of GKE do. */
const timeoutMilliseconds = 3600_000;

/** How a node was emptied. */
export interface Drain {
  readonly node: string;
  readonly beganMilliseconds: number;
  /** `null` if a pod of a member was still there at the end of the act. */
  endedMilliseconds: number | null;
  /** Pods were left when the time was over. */
  isOverTimeout: boolean;
  /** Of the members whose pods the drain evicted. */
  readonly evicted: { readonly namespace: string; readonly ordinal: number; readonly wasPrimary: boolean }[];
}

/** Cordons, drains, reboots and uncordons each node, one after another, until the time is over. */
export function upgradeNodes(platform: Platform, upgrades: NodeUpgrades, strikes: (struck: boolean) => void): void {
  const { clock, nodeImages } = platform;
  const { names } = nodeImages;
  const end = clock.nowMilliseconds + upgrades.forMilliseconds;
  const isOver = (): boolean => clock.nowMilliseconds >= end;
  let booting: string | null = null;
  const upgrade = ([node, ...others]: readonly string[]): void => {
    if (node === undefined || isOver()) return;
    nodeImages.cordon(node, true);
    strikes(true);
    const uncordon = (): void => {
      if (isOver()) return;
      booting = null;
      nodeImages.setReady(node, true);
      nodeImages.cordon(node, false);
      clock.after(retryMilliseconds, () => upgrade(others));
    };
    clock.after(upgrades.noticeMilliseconds, () => {
      const beganMilliseconds = clock.nowMilliseconds;
      const drain: Drain = { node, beganMilliseconds, endedMilliseconds: null, isOverTimeout: false, evicted: [] };
      platform.drains.push(drain);
      const tryAgain = (): void => {
        if (isOver()) return;
        drain.isOverTimeout = clock.nowMilliseconds - beganMilliseconds >= timeoutMilliseconds;
        if (isEmptied(platform, drain)) {
          booting = node;
          nodeImages.setReady(node, false);
          clock.after(upgrades.bootMilliseconds, uncordon);
        } else clock.after(retryMilliseconds, tryAgain);
      };
      tryAgain();
    });
  };
  upgrade(names);
  clock.after(upgrades.forMilliseconds, () => {
    if (booting !== null) nodeImages.setReady(booting, true);
    for (const name of names) nodeImages.cordon(name, false);
  });
}

/** Requests the eviction of each member that is still on the node, or its deletion. Returns whether none is. */
function isEmptied(platform: Platform, drain: Drain): boolean {
  const { server, clock } = platform;
  const isThere = (pod: StoredObject): boolean => isMember(pod) && record(pod['spec'])['nodeName'] === drain.node;
  const there = server.store.all(pods).filter(isThere);
  for (const { metadata } of there.filter(isStaying)) {
    const cluster = platform.clusterIn(metadata.namespace ?? '');
    if (cluster === null) continue;
    const ordinal = Number(metadata.name.slice(metadata.name.lastIndexOf('-') + 1));
    const primary = Number(record(cluster.cluster?.['status'])['currentPrimaryIndex'] ?? 0);
    const { namespace } = cluster;
    if (drain.isOverTimeout ? deletePod(cluster, ordinal) : evict(cluster, ordinal))
      drain.evicted.push({ namespace, ordinal, wasPrimary: ordinal === primary });
  }
  if (there.length === 0) drain.endedMilliseconds = clock.nowMilliseconds;
  return there.length === 0;
}

const isStaying = ({ metadata }: StoredObject): boolean => metadata.deletionTimestamp === undefined;
