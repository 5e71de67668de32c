import { milliseconds } from '../../base/json.ts';
import { type DueRecord, isSameRecord, recordAfter } from '../../core/data.ts';
import type { ClaimEvidence, DataRecord } from '../../core/snapshot.ts';
import { ApiError } from '../../kube/api-error.ts';
import { persistentVolumeClaims } from '../../kube/resource.ts';
import { dataClaimOf } from '../../moco/data-record.ts';
import { projectClaim } from '../../moco/projections.ts';
import type { ClaimRecord, PodRecord } from '../../moco/records.ts';
import type { ClusterApi } from '../../objects/cluster-client.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import type { Asking, Row } from './asking.ts';

// The question `data`: each member's claim records which mysqld has used the data. The record is read, and written if
// needed.

/** The record on a claim, and the time on the monotonic clock at which it was read. */
export interface KnownRecord {
  readonly record: DataRecord | null;
  readonly claim: KnownClaim;
  readonly atMilliseconds: number;
  /** When the API server last refused to store the record, or `null`. */
  readonly refusedAtMilliseconds: number | null;
}

/** `missing` if the API server said that the claim does not exist, `null` if it is unknown whether it exists. */
type KnownClaim = Pick<ClaimRecord, 'createdAt' | 'unbound'> | 'missing' | null;

/** The records by ordinal. */
type KnownRecords = ReadonlyMap<number, KnownRecord>;

/** A refused write is retried after this time. */
const refusedMilliseconds = 30_000;

/** Reads the records on claims, and adds what is missing in them. */
export const data: Row<'data', KnownRecords, { readonly dataRecords: ClusterDataRecords }> = {
  asks: 'the API server: the claims of members whose mysqld this process has not seen working, and whether these claims exist and have a volume. It also records on claims which mysqld has used their data',
  lasts: '60 s, 5 s if the claim does not exist or has no volume',
  silence: 'no step in this pass. Without the right to read claims, nothing is known about the data',
  initial: new Map(),
  ask: async ({ members, notes }, asking, before) => {
    const { api, world } = asking;
    const now = world.monotonic();
    const isRefused = (ordinal: number): boolean =>
      now - (before.get(ordinal)?.refusedAtMilliseconds ?? Number.NEGATIVE_INFINITY) < refusedMilliseconds;
    const due = notes.filter(({ ordinal }) => !isRefused(ordinal));
    const [read, noted] = await Promise.all([
      readRecords(
        members.filter((ordinal) => !due.some((note) => note.ordinal === ordinal)),
        asking,
        api,
        before,
      ),
      Promise.all(due.map((note) => noteRecord(note, asking))),
    ]);
    return read.size === 0 && noted.length === 0 ? null : new Map([...before, ...read, ...noted]);
  },
  facts: (known, { nowMilliseconds, objects }) => ({
    dataRecords: [...known].map(([ordinal, { record, claim, atMilliseconds }]) => {
      const evidence = evidenceOf(
        claim,
        objects.pods.find((pod) => pod.ordinal === ordinal),
      );
      return {
        ordinal,
        record,
        ...(evidence && { claim: evidence }),
        ageSeconds: (nowMilliseconds - atMilliseconds) / 1000,
      };
    }),
  }),
  confirm: {
    order: 'withObjects',
    plan: ({ members }, asking, before) => ({
      requests: members.length,
      ask: async (api) => new Map([...before, ...(await readRecords(members, asking, api, before))]),
    }),
  },
  status: {
    whileOutstanding: 'its hold',
    shows: '`data` of each member, once it is recorded',
    memberFields: (known, { rollout }, ordinal) => {
      const before = rollout?.status?.members?.find((one) => one.ordinal === ordinal)?.data;
      const read = known.get(ordinal);
      if (read === undefined) return { data: before };
      const { revision, version, killed } = read.record ?? {};
      return {
        data: revision === undefined ? undefined : { revision, ...(version && { version }), ...(killed && { killed }) },
      };
    },
  },
};

type ClusterDataRecords = Asking['observed']['snapshot']['dataRecords'];

const placeOf = ({ observed }: Pick<Asking, 'observed'>, ordinal: number) => {
  const { namespace, name } = observed.objects.cluster;
  return { namespace, name: dataClaimOf(name, ordinal) };
};

/**
 * The StatefulSet controller creates the claims of a member right before its pod, and timestamps are in whole seconds.
 * Within that time, no other pod can have started a mysqld and disappeared again.
 */
const togetherMilliseconds = 1000;

function evidenceOf(claim: KnownClaim, pod: Pick<PodRecord, 'createdAt'> | undefined): ClaimEvidence | null {
  if (claim === 'missing') return claim;
  if (claim?.unbound) return 'unbound';
  if (claim === null || pod === undefined) return null;
  const [claimAt, podAt] = [milliseconds(claim.createdAt), milliseconds(pod.createdAt)];
  if (claimAt === null || podAt === null) return null;
  return podAt >= claimAt && podAt - claimAt <= togetherMilliseconds ? 'madeForPod' : null;
}

/** Rejects with `ApiError`. */
async function readRecords(
  ordinals: readonly number[],
  asking: Omit<Asking, 'api'>,
  api: ClusterReader,
  before: KnownRecords,
): Promise<KnownRecords> {
  const atMilliseconds = asking.world.monotonic();
  const records = await Promise.all(
    ordinals.map(async (ordinal): Promise<readonly [number, KnownRecord]> => {
      const known = before.get(ordinal);
      const refusedAtMilliseconds = known?.refusedAtMilliseconds ?? null;
      // A claim may be missing for as long as a quota refuses the pod. Reading it again must not delay others' steps.
      const raw = await api.readClaim(placeOf(asking, ordinal), known?.claim === 'missing' ? 'read' : 'disrupt');
      const claim = raw === null || raw === 'missing' ? raw : projectClaim(raw);
      const record = claim === null || claim === 'missing' ? null : claim.data;
      return [ordinal, { record, claim, atMilliseconds, refusedAtMilliseconds }];
    }),
  );
  return new Map(records);
}

/**
 * Records the mysqld on the claim, unless the claim already has the same record. Never rejects, because this process
 * does not need the record while it watches the member. For a successor that has not seen the member, the data is
 * unknown without the record.
 */
async function noteRecord(due: DueRecord, asking: Asking<ClusterApi>): Promise<readonly [number, KnownRecord]> {
  const { key, api, world, log } = asking;
  const { ordinal } = due;
  const atMilliseconds = world.monotonic();
  const place = placeOf(asking, ordinal);
  let known: DataRecord | null = null;
  let claim: ClaimRecord | null = null;
  try {
    const raw = await api.read(persistentVolumeClaims, place);
    claim = raw === null ? null : projectClaim(raw);
    known = claim?.data ?? null;
    const record = recordAfter(known, due);
    if (claim !== null && !isSameRecord(known, record)) {
      await api.noteData(claim, record);
      known = record;
    }
    const isMissing = claim === null;
    const refusedAtMilliseconds = isMissing ? atMilliseconds : null;
    return [ordinal, { record: known, claim, atMilliseconds, refusedAtMilliseconds }];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    log.warn(
      { cluster: key, claim: place.name, error: error.message },
      "Failed to record the version of a member's mysqld on its claim",
    );
    return [ordinal, { record: known, claim, atMilliseconds, refusedAtMilliseconds: atMilliseconds }];
  }
}
